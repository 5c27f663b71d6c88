import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { safeCause } from '../../src/api/failure.ts';

describe('the cause of a failure', () => {
  const plain = (text: string): string => text;

  it('is the first of the errors where several addresses were tried', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED ::1:80'), { code: 'ECONNREFUSED' });
    const cause = safeCause(new AggregateError([refused, new Error('another')], 'all failed'), plain);
    assert.equal(cause.message, 'all failed');
    assert.deepEqual(
      ['message', 'code'].map((name) => Reflect.get(Object(cause.cause), name)),
      [refused.message, 'ECONNREFUSED'],
    );
  });

  it('is followed four steps down, and no further', () => {
    let error = new Error('0');
    for (let n = 1; n < 9; n++) error = new Error(String(n), { cause: error });
    const messages: string[] = [];
    for (let at: unknown = safeCause(error, plain); at instanceof Error; at = at.cause)
      messages.push(at.message);
    assert.deepEqual(messages, ['8', '7', '6', '5', '4']);
  });
});
