import type { Field } from './rows.ts';

/** What a person may say about a file; each part is added to what was said before. */
export interface Choice {
  map?: Record<string, string | null>;
  board?: string;
  boardMap?: Record<string, string | null>;
  includeClosed?: boolean;
  acceptRepeatedTitles?: boolean;
  acceptStrippedKeys?: boolean;
}

export interface Answer {
  text: string;
  choice: Choice;
  /** What says the same on the command line; null where leaving a flag out does. */
  flag: string | null;
}

/** What the program does not decide by itself. The command line and the browser ask it in these words. */
export interface Question {
  id: string;
  /** What is not clear: a clause without its end. */
  problem: string;
  question: string;
  /** What is good to know before an answer; null where there is nothing. */
  note: string | null;
  answers: Answer[];
  /** What may be named instead of an answer: any column for this field, or any board for these rows. */
  takes: { column: Field } | { board: string | null } | null;
  /** Nothing is imported before it has an answer. */
  isBlocking: boolean;
}

const PUBLIC =
  'It can be read by everybody, so nothing that may be personal or internal is taken for it by a guess.';

const FIELD_WORDS: Record<Field, string> = {
  title: 'title',
  content: 'text',
  board: 'board',
  email: "customer's e-mail",
  full_name: "customer's name",
  key: "row's own id",
};

export const quoted = (name: string): string => `“${name}”`;

export function columnAnswer(field: Field, header: string): Answer {
  return { text: quoted(header), choice: { map: { [field]: header } }, flag: `--map ${field}="${header}"` };
}

/** Asks which column is a field, where no column or more than one could be. The proposals come with the likeliest first. */
export function columnQuestion(field: Field, problem: string, proposals: readonly string[]): Question {
  const isOpenBoard = field === 'board' && proposals.length === 0;
  const none = {
    text: field === 'content' ? 'No text' : 'None of them',
    choice: { map: { [field]: null } },
    flag: `--map ${field}=`,
  };
  const isNeeded = field === 'title' || field === 'board';
  return {
    id: field,
    problem,
    question: isOpenBoard ? 'Which board do the rows go to?' : `Which column is the ${FIELD_WORDS[field]}?`,
    note: field === 'title' || field === 'content' ? PUBLIC : null,
    answers: [...proposals.map((header) => columnAnswer(field, header)), ...(isNeeded ? [] : [none])],
    takes: field === 'board' ? { board: null } : { column: field },
    isBlocking: true,
  };
}

/** The question and the flags that answer it, for a script. */
export function questionHint({ id, question, answers }: Question, headers: readonly string[]): string {
  const flags = answers.flatMap(({ flag }) => flag ?? []);
  const columns = `The columns of the file are ${quotedNames(headers)}.`;
  const forAll = id === 'board' ? 'one board for all rows with --board SLUG, or ' : '';
  return flags.length > 0
    ? `${question} ${flags.join(' or ')}`
    : `${question} ${columns} Name ${forAll}the column with --map ${id}=Header`;
}

/** At most thirty names. */
export function quotedNames(names: readonly string[]): string {
  const shown = names.slice(0, 30).map((name) => `"${name}"`);
  if (names.length > shown.length) shown.push(`and ${names.length - shown.length} more`);
  return shown.join(', ');
}
