import { counted, grouped } from '../../text/text.ts';
import type { UnknownBoard } from './boards.ts';
import { type Answer, columnAnswer, type Question, quoted } from './csv/questions.ts';
import type { FoundColumns } from './csv/rows.ts';
import type { StateCount, Tally } from './intake.ts';

/** What the rows of a file leave open. */
export interface RowFindings {
  columns: Pick<FoundColumns, 'mapping' | 'otherTitles'>;
  tally: Tally;
  unknownBoards: readonly UnknownBoard[];
  choices: { includeClosed?: boolean | undefined; acceptRepeatedTitles?: boolean | undefined };
}

export function rowQuestions({ columns, tally, unknownBoards, choices }: RowFindings): Question[] {
  return [
    ...(choices.acceptRepeatedTitles ? [] : repeatedTitles(columns, tally)),
    ...unknownBoards.map(unknownBoardQuestion),
    ...strippedKeys(tally),
    ...closedRows(tally, choices.includeClosed === true),
  ];
}

export const REPEATED_TITLES = 'repeated-titles';

/** Fewer rows tell nothing. */
const FEW_ROWS = 5;

/** Titles of posts hardly repeat. Where more than a fifth of the rows repeat one, the column may be another thing. */
function repeatedTitles({ mapping, otherTitles }: RowFindings['columns'], { titles }: Tally): Question[] {
  const { rows, repeated, most } = titles;
  if (rows < FEW_ROWS || repeated * 5 <= rows || !most) return [];
  const header = mapping.find(({ field }) => field === 'title')?.header ?? '';
  const send = { acceptRepeatedTitles: true };
  return [
    {
      id: REPEATED_TITLES,
      problem: `${grouped(repeated)} of ${counted(rows, 'row')} have the title of another row; ${quoted(most.title)} comes ${grouped(most.rows)} times`,
      question: `Is ${quoted(header)} the column of the titles?`,
      note: null,
      answers: [
        ...otherTitles.map((other) => ({
          ...columnAnswer('title', other),
          text: `No, it is ${quoted(other)}`,
        })),
        { text: 'Yes, send them so', choice: send, flag: '--accept-repeated-titles' },
      ],
      takes: { column: 'title' },
      isBlocking: true,
    },
  ];
}

function unknownBoardQuestion({ board, rows, suggestions }: UnknownBoard): Question {
  const to = (slug: string | null, text: string): Answer => ({
    text,
    choice: { boardMap: { [board]: slug } },
    flag: `--board-map "${board}=${slug ?? ''}"`,
  });
  return {
    id: `board ${board}`,
    problem: `no board is known as ${quoted(board)} (${counted(rows, 'row')})`,
    question: `Where do the rows of ${quoted(board)} go?`,
    note: null,
    answers: [
      ...suggestions.map((slug) => to(slug, quoted(slug))),
      to(board, `Send to ${quoted(board)} as it is`),
      to(null, 'Leave its rows out'),
    ],
    takes: { board },
    isBlocking: true,
  };
}

function strippedKeys({ held }: Tally): Question[] {
  const [first] = held.examples;
  if (!first) return [];
  const they = held.rows === 1 ? 'It is' : 'They are';
  return [
    {
      id: 'stripped-keys',
      problem: `${counted(held.rows, 'row')} with the title, text, board and customer of an earlier import, under the same number with other zeros before it (${quoted(first.key)} in line ${first.line}, ${quoted(first.before)} before)`,
      question: held.rows === 1 ? 'Is it another post?' : 'Are they other posts?',
      note: `A spreadsheet takes such zeros away. ${they} held, and not sent without a yes.`,
      answers: [
        { text: 'Yes, send them', choice: { acceptStrippedKeys: true }, flag: '--accept-stripped-keys' },
      ],
      takes: null,
      isBlocking: false,
    },
  ];
}

function closedRows({ workStates }: Tally, isIncluded: boolean): Question[] {
  const closed = workStates.filter(({ isClosed }) => isClosed);
  const rows = closed.reduce((sum, state) => sum + state.rows, 0);
  if (rows === 0) return [];
  const said = closed.map(({ text, rows: n }: StateCount) => `${text} ${grouped(n)}`).join(', ');
  const answer = isIncluded
    ? { text: 'Leave them out', choice: { includeClosed: false }, flag: null }
    : { text: 'Yes, send them', choice: { includeClosed: true }, flag: '--include-closed' };
  const verb = rows === 1 ? 'is' : 'are';
  return [
    {
      id: 'closed',
      problem: `${counted(rows, 'row')} ${verb} finished by the state in the file (${said}) and ${verb} ${isIncluded ? 'sent too' : 'left out'}`,
      question: isIncluded ? 'Leave finished rows out?' : 'Send finished rows too?',
      note: 'A finished row comes in as a new post, with the first status of the service.',
      answers: [answer],
      takes: null,
      isBlocking: false,
    },
  ];
}

const LOST_NAMES = 6;

/** What the file has and the API does not take; null where there is nothing of the kind. */
export function lostText({ lostColumns }: Pick<FoundColumns, 'lostColumns'>): string | null {
  if (lostColumns.length === 0) return null;
  const parts = lostColumns.map(({ what, headers }) => {
    const more = headers.length > LOST_NAMES ? ` and ${headers.length - LOST_NAMES} more` : '';
    return `${what} (${headers.slice(0, LOST_NAMES).join(', ')}${more})`;
  });
  return `Cannot be carried over, because the API takes none of it: ${parts.join(', ')}.`;
}
