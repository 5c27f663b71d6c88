import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AskedChoices, askQuestion } from '../../src/cli/import-questions.ts';
import type { Question } from '../../src/outbox/import/csv/questions.ts';
import { inspectCsv } from '../../src/outbox/import/csv/read.ts';
import { rowQuestions } from '../../src/outbox/import/questions.ts';
import { importBenchFor } from '../outbox/import-feed.ts';

const COLUMNS = { mapping: [], otherTitles: ['Title'] };

async function asked(question: Question, answers: string[], headers: string[] = []) {
  const said: string[] = [];
  const choices: AskedChoices = { map: {}, boards: { map: {}, acceptUnknown: false } };
  const ask = async (): Promise<string> => answers.shift() ?? assert.fail('it asks once more');
  await askQuestion({ say: (text) => void said.push(text), ask }, question, headers, choices);
  return { said: said.join('\n'), choices };
}

describe('a question in the terminal', () => {
  it('has the words of the browser: problem, note, question, and each answer with a number', async () => {
    const source = async function* () {
      yield Buffer.from('Anything,Whatever else,board\nDark mode please,Export as PDF,b\n');
    };
    const { questions, headers } = await inspectCsv(source);
    const [question = assert.fail()] = questions;
    const { said, choices } = await asked(question, ['2'], headers);
    assert.deepEqual(said.split('\n'), [
      `${question.problem}.`,
      question.note,
      'Which column is the title?',
      '  1  “Anything”',
      '  2  “Whatever else”',
    ]);
    assert.deepEqual(choices.map, { title: 'Whatever else' });
  });

  it('accepts the name of another column, and asks again for an unknown name', async () => {
    const question: Question = {
      ...{ id: 'title', problem: 'p', question: 'q', note: null, answers: [] },
      ...{ takes: { column: 'title' }, isBlocking: true },
    };
    assert.deepEqual((await asked(question, ['', 'Nothing', 'wish'], ['A', 'Wish'])).choices.map, {
      title: 'Wish',
    });
    assert.deepEqual((await asked(question, ['1'], ['A', 'Wish'])).choices.map, { title: 'A' });
  });

  it('takes one of the answers about a board, or any other board', async () => {
    const unknown = { board: 'Wünsche', alsoWritten: [], rows: 3, line: 2, suggestions: ['ideas'] };
    const empty = { rows: 0, accepted: 0, already: 0, skipped: 0, refused: 0 };
    const tally = {
      ...empty,
      ...{ held: { rows: 0, examples: [] }, workStates: [], titles: { rows: 0, repeated: 0, most: null } },
      ...{ alreadyBy: {}, refusals: [], notes: [] },
    };
    const questions = rowQuestions({ columns: COLUMNS, tally, unknownBoards: [unknown], choices: {} });
    const [question = assert.fail()] = questions;
    const { said } = await asked(question, ['1']);
    assert.match(
      said,
      /Where do the rows of “Wünsche” go\?\n {2}1 {2}“ideas”\n {2}2 {2}Send to “Wünsche” as it is\n/,
    );
    const board = async (answer: string) => (await asked(question, [answer])).choices.boards.map.Wünsche;
    assert.deepEqual(
      [await board('1'), await board('2'), await board('3'), await board('bugs')],
      ['ideas', 'Wünsche', null, 'bugs'],
    );
  });

  it('about titles that repeat proposes the other columns and takes a yes', async (t) => {
    const bench = importBenchFor(t);
    const rows = ['a', 'b', 'c', 'd', 'e'].map((x) => `bugs,intercom,Export to ${x}\n`).join('');
    const options = { map: { title: 'Source' }, boards: { map: {}, acceptUnknown: true } };
    const seen = await bench.dryRun(`board,Source,Title\n${rows}`, options);
    const mapping = [{ field: 'title', header: 'Source', index: 1, how: 'asked' }] as const;
    const columns = { mapping: [...mapping], otherTitles: ['Title'] };
    const questions = rowQuestions({ columns, tally: seen, unknownBoards: [], choices: {} });
    const [question = assert.fail()] = questions;
    assert.equal(question.question, 'Is “Source” the column of the titles?');
    assert.deepEqual((await asked(question, ['1'])).choices.map, { title: 'Title' });
    assert.equal((await asked(question, ['2'])).choices.acceptRepeatedTitles, true);
  });
});
