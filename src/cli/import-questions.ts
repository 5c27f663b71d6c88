import type { ImportChoices } from '../outbox/import/import.ts';
import type { Choice, Question } from '../outbox/import/questions.ts';
import { askLine, type Context } from './context.ts';

/** What the flags said, and what is answered on the way. */
export type Choices = ImportChoices & {
  map: Record<string, string | null>;
  boards: { map: Record<string, string | null>; acceptUnknown: boolean };
};

/** Asks one question as the browser does, and adds the answer to the choices. */
export async function askQuestion(
  { say, signal }: Pick<Context, 'say' | 'signal'>,
  question: Question,
  headers: readonly string[],
  choices: Choices,
): Promise<void> {
  const { problem, question: asked, note, answers } = question;
  const columns = question.takes && 'column' in question.takes && answers.length === 0 ? headers : [];
  const offered = [...answers.map(({ text }) => text), ...columns];
  const lines = offered.map((text, i) => `  ${i + 1}  ${text}`);
  say([`${problem}.`, ...(note === null ? [] : [note]), asked, ...lines].join('\n'));
  for (;;) {
    const answer = await askLine(promptOf(question), 'nothing was accepted', signal);
    const choice =
      answers[Number(answer) - 1]?.choice ?? namedChoice(question, columns[Number(answer) - 1] ?? answer);
    if (choice) return add(choices, choice);
  }
}

function promptOf({ takes }: Question): string {
  if (takes === null) return 'Its number: ';
  return 'column' in takes
    ? 'Its number, or the name of another column: '
    : 'Its number, or the name of a board: ';
}

/** What was typed instead of a number. */
function namedChoice({ takes }: Question, text: string): Choice | null {
  if (takes === null || text === '') return null;
  if ('column' in takes) return { map: { [takes.column]: text } };
  return takes.board === null ? { board: text } : { boardMap: { [takes.board]: text } };
}

function add(choices: Choices, { map, board, boardMap, ...accepted }: Choice): void {
  Object.assign(choices.map, map);
  Object.assign(choices.boards.map, boardMap);
  if (board !== undefined) choices.board = board;
  Object.assign(choices, accepted);
}
