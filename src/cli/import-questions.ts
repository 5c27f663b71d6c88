import type { Choice, Question } from '../outbox/import/csv/questions.ts';
import type { ImportChoices } from '../outbox/import/import.ts';
import { askLine, type Context } from './context.ts';

export type AskedChoices = ImportChoices & {
  map: Record<string, string | null>;
  boards: { map: Record<string, string | null>; acceptUnknown: boolean };
};

export interface Asking extends Pick<Context, 'say'> {
  ask(words: string): Promise<string>;
}

export function asking({ say, signal }: Pick<Context, 'say' | 'signal'>): Asking {
  return { say, ask: (words) => askLine(words, 'nothing was accepted', signal) };
}

/** Asks one question as the browser does, and adds the answer to the choices. */
export async function askQuestion(
  { say, ask }: Asking,
  question: Question,
  headers: readonly string[],
  choices: AskedChoices,
): Promise<void> {
  const { problem, question: asked, note, answers } = question;
  const columns = question.takes && 'column' in question.takes && answers.length === 0 ? headers : [];
  const offered = [...answers.map(({ text }) => text), ...columns];
  const lines = offered.map((text, i) => `  ${i + 1}  ${text}`);
  say([`${problem}.`, ...(note === null ? [] : [note]), asked, ...lines].join('\n'));
  for (;;) {
    const answer = await ask(promptOf(question, offered.length > 0));
    const text = columns[Number(answer) - 1] ?? answer;
    const choice = answers[Number(answer) - 1]?.choice ?? namedChoice(question, text, headers);
    if (choice) return add(choices, choice);
  }
}

function promptOf({ takes }: Question, isOffered: boolean): string {
  if (takes === null) return 'Its number: ';
  const name = 'column' in takes ? 'the name of another column' : 'the name of a board';
  return isOffered ? `Its number, or ${name}: ` : `${name.replace('the', 'The')}: `;
}

/** What was typed instead of a number; null where there is no such column. */
function namedChoice({ takes }: Question, text: string, headers: readonly string[]): Choice | null {
  if (takes === null || text === '') return null;
  if ('board' in takes) return takes.board === null ? { board: text } : { boardMap: { [takes.board]: text } };
  const header = headers.find((name) => name.trim().toLowerCase() === text.toLowerCase());
  return header === undefined ? null : { map: { [takes.column]: header } };
}

function add(choices: AskedChoices, { map, board, boardMap, ...accepted }: Choice): void {
  Object.assign(choices.map, map);
  Object.assign(choices.boards.map, boardMap);
  if (board !== undefined) choices.board = board;
  Object.assign(choices, accepted);
}
