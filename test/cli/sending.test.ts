import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { paceText } from '../../src/cli/sending.ts';
import { push } from '../../src/outbox/send/push.ts';
import { benchFor } from '../outbox/bench.ts';

describe('a command that waits for its rows', () => {
  it('says why where the pace keeps the next post for some seconds, whatever process used it up', async (t) => {
    const { context, clock, add, another } = benchFor(t);
    await push({ ...context, perMinute: 6 }, await add({ title: 'One' }));
    await add({ title: 'Two' }, 'ours');
    const text = () => paceText(another(), ['ours'], 6, clock.now());
    assert.equal(
      await text(),
      'The next post leaves in 10 s (PUSH_PER_MINUTE=6). Ctrl-C stops safely at any time.',
    );
    clock.advance(7001);
    assert.equal(await text(), null);
  });
});
