import { useRef } from 'preact/hooks';
import type { ImportState } from '../../http/dashboard/imports.ts';
import type { UploadChoices, UploadPreview } from '../../http/dashboard/uploads.ts';
import type { NewRow } from '../../outbox/decide/types.ts';
import type { UnknownBoard } from '../../outbox/import/boards.ts';
import type { Question } from '../../outbox/import/csv/questions.ts';
import type { Field, MappedColumn } from '../../outbox/import/csv/rows.ts';
import type { RefusedLine } from '../../outbox/import/intake.ts';
import type { KnownBoard } from '../../text/boards.ts';
import { fetchJson } from '../api.ts';
import { counted, estimateText, number, size } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { STATES } from '../parts/batch.ts';
import { BoardPicker } from '../parts/board-picker.ts';
import { button, choiceField, field, select, TextInput } from '../parts/controls.ts';
import { openForm } from '../parts/dialog.ts';
import { banner, card, figure } from '../parts/layout.ts';
import { useOutcome } from '../parts/load.ts';
import { prose } from '../parts/prose.ts';
import { table, tableCard } from '../parts/table.ts';
import { DuplicatesCard } from './import-duplicates.ts';

export interface PreviewOptions {
  path: string;
  state: ImportState;
  boards: KnownBoard[];
  /** Shows what the service answered to a choice. */
  draw(state: ImportState): void;
  /** Imports the file as it was shown, and draws what became of it. */
  commit(choices: UploadChoices): Promise<void>;
}

/** What outlives a dry run. */
interface Trying {
  /** What was said about boards before they had an answer. */
  boards: Map<string, UnknownBoard>;
  /** What was chosen since the last dry run that answered. */
  choices: Change | null;
  isBusy: boolean;
}

interface PreviewView extends PreviewOptions {
  trying: Trying;
}

type Readable = UploadPreview & { ok: true };
/** Only what a person chose: the service adds it to what others have chosen meanwhile. */
type Change = Partial<UploadChoices>;
type Choose = (change: Change) => void;

/** What the dry run of a file showed, what the person has to say, and the button that imports it. */
export function ImportPreview(options: PreviewOptions): Child {
  const { path, state, draw } = options;
  const { preview } = state;
  const { said, attempt } = useOutcome();
  const { current: trying } = useRef<Trying>({ boards: new Map(), choices: null, isBusy: false });
  if (!preview) return banner('bad', 'This file was never read. Choose it again.');
  const choose: Choose = (change) => {
    trying.choices = merged(trying.choices ?? {}, change);
    if (!trying.isBusy) void attempt(tryAgain);
  };
  // One request at a time: whoever chooses faster than the service answers loses no choice.
  const tryAgain = async (): Promise<void> => {
    trying.isBusy = true;
    try {
      let [body, found] = [trying.choices, state];
      do {
        body = trying.choices;
        found = await fetchJson<ImportState>(`${path}/preview`, { body });
      } while (body !== trying.choices);
      trying.choices = null;
      draw(found);
    } finally {
      trying.isBusy = false;
    }
  };
  const view = { ...options, trying };
  // Boards have a card of their own, with one line each.
  const questions = preview.questions.filter(({ takes }) => !isUnknownBoard(takes));
  return [
    said,
    preview.ok || questions.length > 0 ? null : banner('warn', sentence(preview.problem)),
    preview.ok ? null : h('div.actions', other()),
    questions.map((each) => questionCard(view, each, choose)),
    preview.ok ? summary(view, preview) : null,
    preview.ok ? boardsCard(view, preview, choose) : null,
    columnsCard(view, preview, choose),
    preview.ok ? foundCards(view, preview) : null,
  ];
}

const isUnknownBoard = (takes: Question['takes']): boolean =>
  takes !== null && 'board' in takes && takes.board !== null;

function merged(before: Change, change: Change): Change {
  const map = { ...before.map, ...change.map };
  return { ...before, ...change, map, boardMap: { ...before.boardMap, ...change.boardMap } };
}

function sentence(problem: string): string {
  return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}. Say below how the file is to be read.`;
}

const NAMES: Record<Field, string> = {
  title: 'Title',
  content: 'Text',
  board: 'Board',
  email: "Customer's e-mail",
  full_name: "Customer's name",
  key: 'Its own id',
};

/** What the program does not decide by itself, in the words of the command line. One click answers. */
function questionCard(view: PreviewView, asked: Question, choose: Choose): VNode {
  const { id, problem, question, note, answers, takes } = asked;
  const offered = answers.map(({ text, choice }) =>
    button(text, () => choose(choice), { class: asked.isBlocking ? 'main' : '' }),
  );
  const other = offered.length > 0 ? 'Or choose another column below.' : 'Choose it below.';
  return card(
    { title: question, note: problem },
    note === null ? null : h('p.note', note),
    offered.length > 0 ? h('div.actions', { id: `ask-${id}` }, offered) : null,
    takes && 'board' in takes ? boardForAll(view, choose) : null,
    takes && 'column' in takes ? h('p.note', other) : null,
  );
}

function boardForAll({ boards }: PreviewView, choose: Choose): Child {
  const onPick = (board: string): void => choose({ board });
  const picker = h(BoardPicker, { id: 'ask-board', label: 'The board of all rows', boards, onPick });
  return h('div.field', h('span', 'One board for all rows'), picker);
}

function summary(view: PreviewView, preview: Readable): VNode {
  const { rows, accepted, already, skipped, refused } = preview.tally;
  const figures: [string, number][] = [
    [rows === 1 ? 'row in the file' : 'rows in the file', rows],
    ['new, would be sent', accepted],
    ['imported before', already],
    ['left out', skipped],
    ['refused', refused],
  ];
  const shown = figures.filter(([name, n]) => n > 0 || name !== 'left out');
  return card(
    { title: 'What would happen', note: `${size(view.state.bytes)}; nothing was written so far` },
    h(
      'div.figures',
      shown.map(([name, n]) => figure(number(n), name)),
    ),
    accepted > 0 ? h('p', `${estimateText(preview.estimate)}. `, customersText(preview)) : null,
    preview.lost === null ? null : h('p.note', { id: 'lost' }, preview.lost),
    notes(preview),
    h('div.actions', importButton(view, preview), other(), results(view, already)),
  );
}

/** Whom the service may write to. */
function customersText({ found: { knownCustomers, newCustomers } }: Readable): string {
  const people = knownCustomers + newCustomers;
  return people === 0
    ? 'Nobody is told as a customer.'
    : `${counted(people, 'customer')} may be told by the service about posts in their name.`;
}

function notes({ tally }: Readable): Child {
  const before = Object.entries(tally.alreadyBy).map(
    ([state, n]) => `${number(n)} ${STATES[state as keyof typeof STATES].name}`,
  );
  const text = tally.notes.map(
    ({ text: what, rows, lines }) => `${what} (${counted(rows, 'row')}, first in line ${lines[0] ?? '?'})`,
  );
  if (before.length > 0) text.unshift(`Imported before: ${before.join(', ')}.`);
  return text.length === 0
    ? null
    : h(
        'ul.note',
        text.map((one) => h('li', one)),
      );
}

function importButton({ commit, trying }: PreviewView, preview: Readable): Child {
  const { tally, choices, questions, estimate } = preview;
  const rows = counted(tally.accepted, 'row');
  const open = questions.filter(({ isBlocking }) => isBlocking).length;
  const ask = (): void =>
    openForm({
      title: `Import ${rows}?`,
      content: [
        h('p', `${rows} will be put into the outbox and sent upstream, one after the other.`),
        h('p', `${estimateText(estimate)}. ${customersText(preview)}`),
        h(
          'p.note',
          'You can pause or cancel what is not sent yet. Posts that were sent cannot be taken back through this API.',
        ),
      ],
      action: `Import ${rows}`,
      run: async () => {
        // What is asked here was drawn before that choice.
        if (trying.choices)
          throw new Error('Your last choice is still being tried. Close this, and look again.');
        await commit(choices);
      },
    });
  const label = tally.accepted === 0 ? 'Nothing new to import' : `Import ${rows}`;
  const isOff = tally.accepted === 0 || open > 0;
  return [
    button(label, ask, {
      class: 'main',
      id: 'import',
      disabled: isOff,
      'aria-describedby': open > 0 ? 'import-waits' : null,
    }),
    open > 0
      ? h('span.note', { id: 'import-waits' }, `First answer ${counted(open, 'question')} on this page.`)
      : null,
  ];
}

function other(): VNode {
  return h('a.button', { id: 'other-file', href: '/outbox/import' }, 'Choose another file');
}

function results({ path }: PreviewView, already: number): Child {
  if (already === 0) return null;
  return h('a.button', { id: 'results', href: `${path}/results`, download: '' }, 'Results as CSV');
}

const DROP = '+drop';
const AS_IS = '+as-is';

type OpenBoard = Pick<UnknownBoard, 'board'> & Partial<UnknownBoard>;

/** Each board of the file that no known one matches, once: where its rows go, or that they stay out. */
function boardsCard({ boards, trying }: PreviewView, { found, choices }: Readable, choose: Choose): Child {
  const { boardMap } = choices;
  for (const unknown of found.unknownBoards) trying.boards.set(unknown.board, unknown);
  const names = [
    ...trying.boards.keys(),
    ...found.unknownBoards.map(({ board }) => board),
    ...Object.keys(boardMap),
  ];
  const isOpen = (name: string): boolean => found.unknownBoards.some(({ board }) => board === name);
  const all = [...new Set(names)]
    .filter((name) => isOpen(name) || name in boardMap)
    .map((board): OpenBoard => trying.boards.get(board) ?? { board });
  if (all.length === 0) return null;
  const open = found.unknownBoards.length;
  const more =
    found.moreUnknownBoards > 0 ? ` and ${number(found.moreUnknownBoards)} rows of further ones` : '';
  return card(
    {
      title: 'Boards that are not known by these names',
      note: open > 0 ? `Nothing is imported before each has an answer${more}` : 'Each has an answer',
    },
    table<OpenBoard>({
      columns: [
        { head: 'In the file', cell: (unknown) => [unknown.board, rowsOf(unknown)] },
        { head: 'Goes to', cell: (unknown) => mapPicker(unknown, boards, boardMap, choose) },
      ],
      rows: all,
      key: ({ board }) => board,
      label: 'Boards that are not known',
    }),
  );
}

function rowsOf({ rows, line, alsoWritten = [] }: OpenBoard): Child {
  if (rows === undefined) return null;
  const also = alsoWritten.length === 0 ? '' : `, also written ${alsoWritten.join(', ')}`;
  const first = line == null ? '' : `, first in line ${number(line)}`;
  return h('div.note', `${counted(rows, 'row')}${first}${also}`);
}

function mapPicker(
  { board, suggestions = [] }: OpenBoard,
  boards: KnownBoard[],
  boardMap: UploadChoices['boardMap'],
  choose: Choose,
): VNode {
  const meant = boardMap[board];
  const chosen = meant === undefined ? '' : meant === null ? DROP : meant === board ? AS_IS : meant;
  const others = [
    { value: AS_IS, text: `Send to “${board}” as it is` },
    { value: DROP, text: 'Leave its rows out' },
  ];
  const onPick = (value: string): void => {
    const slug = value === DROP ? null : value === AS_IS ? board : value;
    choose({ boardMap: { [board]: slug } });
  };
  const [id, label] = [`map-${board}`, `Where do the rows of “${board}” go?`];
  return h(BoardPicker, { id, label, boards, suggested: suggestions, others, chosen, onPick });
}

/** Which column is what, as it was found, to be put right by choosing; each choice is a dry run anew. */
function columnsCard({ state, boards }: PreviewView, preview: UploadPreview, choose: Choose): VNode {
  const { choices, columns } = preview;
  const header = (name: Field): string | null =>
    columns?.mapping.find((column) => column.field === name)?.header ?? null;
  const list = [
    { value: 'none', text: '(no column)' },
    ...(columns?.headers ?? state.headers).map((name) => ({ value: `=${name}`, text: name })),
  ];
  const column = (name: Field): VNode => {
    const found = header(name);
    const onColumn = (value: string): void => {
      const isColumn = value.startsWith('=');
      const map = { [name]: isColumn ? value.slice(1) : null };
      choose(name === 'board' && isColumn ? { map, board: null } : { map });
    };
    return field(NAMES[name], select(`map-${name}`, list, found === null ? 'none' : `=${found}`, onColumn));
  };
  const forAll = h(BoardPicker, {
    id: 'board-for-all',
    label: 'One board for all rows',
    boards,
    chosen: choices.board ?? 'column',
    others: [{ value: 'column', text: '(as the column says)' }],
    onPick: (value) => choose({ board: value === 'column' ? null : value }),
  });
  return card(
    { title: 'How it is read and sent', note: 'each choice reads the file again' },
    readAs(preview),
    h(
      'div.pair',
      (Object.keys(NAMES) as Field[]).map(column),
      h('div.field', h('span', 'One board for all rows'), forAll),
      encodingField(preview, choose),
      paceField(choices, choose),
      markField(choices, choose),
    ),
  );
}

const DELIMITERS: Record<string, string> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' };

/** What was recognised, also where the file cannot be imported yet. */
function readAs({ columns }: UploadPreview): Child {
  if (!columns) return null;
  const { layout, encoding, delimiter, mapping, ignored } = columns;
  const tool =
    layout && `This looks like ${/^[AEIO]/.test(layout.name) ? 'an' : 'a'} ${layout.name} export. `;
  const used = mapping.map(({ field: name, header }: MappedColumn) => `${NAMES[name]}: ${header}`).join(', ');
  const left = ignored.length === 0 ? '' : ` Not used: ${listed(ignored)}.`;
  return h(
    'p',
    tool && h('b', { id: 'layout' }, tool),
    `Read as ${encoding.toUpperCase()} with ${DELIMITERS[delimiter] ?? delimiter}. `,
    used === '' ? 'No column was recognised.' : `Recognised: ${used}.`,
    left,
  );
}

function listed(names: readonly string[]): string {
  return names.length > 12
    ? `${names.slice(0, 12).join(', ')} and ${names.length - 12} more`
    : names.join(', ');
}

/** As people see them; the type checker asks for each that can be read. */
const ENCODINGS: Record<NonNullable<UploadChoices['encoding']>, string> = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16LE',
  'utf-16be': 'UTF-16BE',
  'windows-1252': 'WINDOWS-1252',
  'windows-1250': 'WINDOWS-1250',
  'windows-1251': 'WINDOWS-1251',
  'windows-1253': 'WINDOWS-1253',
  'windows-1254': 'WINDOWS-1254',
  'iso-8859-2': 'ISO-8859-2',
  'iso-8859-15': 'ISO-8859-15',
  shift_jis: 'SHIFT_JIS',
  gb18030: 'GB18030',
  big5: 'BIG5',
  'euc-kr': 'EUC-KR',
};
const ENCODING_NAMES = Object.keys(ENCODINGS) as (keyof typeof ENCODINGS)[];

function encodingField({ choices, columns }: UploadPreview, choose: Choose): VNode {
  const found = columns ? ` (${columns.encoding.toUpperCase()})` : '';
  const list = [
    { value: '', text: `as the bytes tell${choices.encoding === null ? found : ''}` },
    ...ENCODING_NAMES.map((name) => ({ value: name, text: ENCODINGS[name] })),
  ];
  return choiceField('encoding', 'Encoding', list, choices.encoding, (value) =>
    choose({ encoding: ENCODING_NAMES.find((name) => name === value) ?? null }),
  );
}

function paceField({ perMinute }: UploadChoices, choose: Choose): VNode {
  const input = {
    id: 'field-per-minute',
    type: 'number',
    min: 1,
    step: 1,
    placeholder: 'as fast as the service sends',
  } as const;
  const onText = (text: string | null): void => {
    const given = Math.floor(Number(text));
    choose({ perMinute: given >= 1 ? given : null });
  };
  const value = perMinute === null ? null : String(perMinute);
  return field('Posts a minute, at most', h(TextInput, { value, onText, input }));
}

function markField({ mark }: UploadChoices, choose: Choose): VNode {
  const input = { id: 'field-mark', maxLength: 80, placeholder: 'such as Imported from Canny' };
  const onText = (text: string | null): void => choose({ mark: text });
  return field('End each post with this and a reference', h(TextInput, { value: mark, onText, input }));
}

/** What the mirror can tell about the rows that would be sent. */
function foundCards(view: PreviewView, preview: Readable): Child[] {
  return [
    refusedCard(preview),
    preview.tally.accepted > 0 ? [firstCard(view, preview), asWhom(preview)] : null,
    preview.found.mirror === 'filled' ? h(DuplicatesCard, view) : null,
  ];
}

/** The first posts as they will look. */
function firstCard({ boards }: PreviewView, { found, tally }: Readable): VNode {
  const nameOf = (slug: string): string => boards.find((board) => board.slug === slug)?.name ?? slug;
  const post = ({ title, content, board, email, full_name, line }: NewRow): VNode =>
    h(
      'li',
      h('h3', { dir: 'auto' }, title),
      content === '' ? null : prose(content.length > 600 ? `${content.slice(0, 600)} …` : content),
      h(
        'p.post-facts',
        h('span', nameOf(board)),
        h('span', email === null ? 'by you, the owner of the token' : `by ${full_name} (${email})`),
        line === null ? null : h('span', `line ${number(line)}`),
      ),
    );
  return card(
    {
      title: 'The first posts, as they will look',
      note: `${number(found.first.length)} of ${number(tally.accepted)}`,
    },
    h('ol.first-posts', found.first.map(post)),
  );
}

function asWhom({ found }: Readable): VNode {
  const { mirror, asOwner, asKnownCustomer, asNewCustomer, knownCustomers, newCustomers } = found;
  const rows = [
    { who: 'you, the owner of the token', n: asOwner, people: null },
    { who: 'customers the mirror knows', n: asKnownCustomer, people: knownCustomers },
    {
      who: mirror === 'filled' ? 'new customers' : 'customers, new or not',
      n: asNewCustomer,
      people: newCustomers,
    },
  ].filter(({ n }) => n > 0);
  return tableCard(
    { title: 'Goes out as', note: 'customers may be told by the service' },
    {
      columns: [
        { head: 'Who', cell: ({ who }) => who },
        { head: 'Rows', kind: 'number', cell: ({ n }) => number(n) },
        { head: 'People', kind: 'number', cell: ({ people }) => number(people) },
      ],
      rows,
    },
  );
}

function refusedCard({ tally }: Readable): Child {
  if (tally.refused === 0) return null;
  const note =
    tally.refused > tally.refusals.length ? `the first ${number(tally.refusals.length)} are shown` : null;
  return card(
    {
      title: `${counted(tally.refused, 'row')} refused`,
      note: note ?? 'correct them and import the file again',
    },
    table<RefusedLine>({
      columns: [
        { head: 'Line', cell: ({ line }) => number(line) },
        { head: 'Why', cell: ({ reason }) => reason },
      ],
      rows: tally.refusals.slice(0, REFUSALS_SHOWN),
      label: 'Refused rows',
    }),
  );
}

const REFUSALS_SHOWN = 100;
