import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger } from '../../src/base/log.ts';
import { watchTrouble } from '../../src/queue/connection.ts';

function watched() {
  const lines: { level: number; msg: string; again?: number }[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = createLogger({ level: 'info', format: 'json', secrets: () => [], destination });
  let now = 0;
  const trouble = watchTrouble(log, () => now);
  const pass = (ms: number): void => {
    now += ms;
  };
  return { lines, trouble, pass, told: () => lines.map(({ msg, again }) => [msg, again]) };
}

describe('trouble with the queue', () => {
  it('is said once a minute, with how often it came meanwhile', () => {
    const { trouble, pass, told } = watched();
    for (let i = 0; i < 1300; i++) {
      trouble.away(new Error('connect ECONNREFUSED'));
      pass(50);
    }
    assert.deepEqual(told(), [
      ['queue: connect ECONNREFUSED', undefined],
      ['queue: connect ECONNREFUSED', 1200],
    ]);
  });

  it('is said for each distinct one', () => {
    const { trouble, told } = watched();
    for (const text of ['one', 'other', 'one', 'other']) trouble.report(new Error(text));
    assert.deepEqual(told(), [
      ['queue: one', undefined],
      ['queue: other', undefined],
    ]);
  });

  it('ends when the server answers, is logged once, and is counted from zero after that', () => {
    const { trouble, told } = watched();
    trouble.over();
    trouble.report(new Error('Missing lock'));
    trouble.over();
    trouble.away(new Error('gone'));
    trouble.over();
    trouble.over();
    trouble.away(new Error('gone'));
    assert.deepEqual(
      told().map(([text]) => text),
      ['queue: Missing lock', 'queue: gone', 'queue: it answers again', 'queue: gone'],
    );
  });

  it('has words even where Node gives none', () => {
    const { trouble, told } = watched();
    trouble.away(
      new AggregateError(
        [new Error('connect ECONNREFUSED ::1:1'), new Error('connect ECONNREFUSED 127.0.0.1:1')],
        '',
      ),
    );
    assert.match(String(told()[0]?.[0]), /ECONNREFUSED ::1:1.*ECONNREFUSED 127\.0\.0\.1:1/);
  });
});
