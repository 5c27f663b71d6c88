import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { paceText, withAdvice } from '../../src/cli/sending.ts';
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

describe('a wait that ends early', () => {
  const GO_ON = 'Run the same command again.';
  const adviceFor = (...[code, hint]: ['partial' | 'unauthorised' | 'interrupted', string]) => {
    const said = withAdvice(new AppError(code, 'it ended', { hint }), 2, GO_ON);
    assert.ok(said instanceof AppError && said.code === code);
    return said.hint;
  };

  it('names what continues it: the command alone does not continue a paused import', () => {
    const safe = 'Nothing is lost: 2 rows wait in the outbox.';
    assert.equal(adviceFor('partial', 'Resume it.'), `${safe} Resume it.`);
    assert.equal(adviceFor('unauthorised', 'Put a new token.'), `${safe} Put a new token. ${GO_ON}`);
    assert.equal(adviceFor('interrupted', 'A hint of the reader.'), `${safe} ${GO_ON}`);
  });
});
