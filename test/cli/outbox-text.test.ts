import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { showText } from '../../src/cli/outbox-text.ts';
import { edit, sendEdited } from '../../src/outbox/decide.ts';
import { push } from '../../src/outbox/push.ts';
import { benchFor, MINUTE } from '../outbox/bench.ts';

describe('a row of the outbox, shown', () => {
  it('was first sent at its first attempt, also where it was edited and sent again', async (t) => {
    const bench = benchFor(t);
    const { store, clock, upstream } = bench;
    const id = await bench.add();
    upstream.outcomes = [{ outcome: 'rejected', reason: 'no such board', httpStatus: 400, serverTime: null }];
    await push(bench.context, id);
    clock.advance(MINUTE);
    sendEdited(bench, edit(bench, id, { board: 'bugs' }));
    await push(bench.context, id);
    const [first, second] = store.attempts(id);
    assert.notEqual(first?.started_at, second?.started_at);
    const shown = showText(await bench.row(id), store.attempts(id), []);
    assert.match(shown, new RegExp(`^first sent +${first?.started_at}$`, 'm'));
  });
});
