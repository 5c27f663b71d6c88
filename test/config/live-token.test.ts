import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { liveToken } from '../../config/load.ts';
import { Secret } from '../../src/base/secret.ts';
import { fakeClock } from '../support/clock.ts';
import { folder, input } from './inputs.ts';

/** A live token on a clock of its own, with a way to rewrite the file it comes from. */
function live(name: string, content: (token: string) => string, env: Record<string, string> = {}) {
  const cwd = folder({ [name]: content('first') });
  const clock = fakeClock();
  const token = liveToken(input({ cwd, env }), new Secret('first'), clock.now);
  const path = join(cwd, name);
  return {
    clock,
    path,
    news: () => token.news(),
    reveal: (): string => token().reveal(),
    rewrite: (next: string): void => writeFileSync(path, content(next)),
  };
}

const inFile = () => live('token.txt', (token) => `${token}\n`, { FEEDBACK_API_TOKEN_FILE: 'token.txt' });
const inDotenv = () => live('.env', (token) => `FEEDBACK_API_TOKEN=${token}\n`);

for (const [where, start] of [
  ['a file of its own', inFile],
  ['.env', inDotenv],
] as const) {
  describe(`a token in ${where}`, () => {
    it('is replaced within a second of being rewritten, and not looked at more often', () => {
      const { clock, reveal, rewrite } = start();
      rewrite('second');
      clock.advance(999);
      assert.equal(reveal(), 'first');
      clock.advance(1);
      assert.equal(reveal(), 'second');
      rewrite('third');
      assert.equal(reveal(), 'second');
      clock.advance(1000);
      assert.equal(reveal(), 'third');
    });

    it('stays the last good one while the file is gone, empty or holds no token', () => {
      const { clock, path, reveal, rewrite } = start();
      const broken = [() => rmSync(path), () => writeFileSync(path, ''), () => rewrite('"with space"')];
      for (const breakIt of broken) {
        breakIt();
        clock.advance(1000);
        assert.equal(reveal(), 'first');
      }
      rewrite('second');
      clock.advance(1000);
      assert.equal(reveal(), 'second');
    });

    it('says since when there is another one, and why one cannot be used', () => {
      const { clock, news, rewrite } = start();
      const read = () => {
        clock.advance(1000);
        return news();
      };
      assert.equal(read(), null);
      rewrite('second');
      assert.deepEqual(read(), { since: new Date(clock.now()).toISOString(), problem: null });
      rewrite('"with space"');
      const unusable = read();
      assert.match(unusable?.problem ?? '', /^FEEDBACK_API_TOKEN must be printable ASCII without spaces/);
      assert.deepEqual(read(), unusable);
      rewrite('');
      assert.match(read()?.problem ?? '', /empty/);
      rewrite('second');
      assert.equal(read(), null);
    });

    it('is looked at again although the clock was set back', () => {
      const { clock, reveal, rewrite } = start();
      rewrite('second');
      clock.advance(-3_600_000);
      assert.equal(reveal(), 'second');
    });
  });
}

describe('a token in the environment', () => {
  it('goes before every file, as it did at the start', () => {
    const { clock, reveal, rewrite } = live('.env', (t) => `FEEDBACK_API_TOKEN=${t}\n`, {
      FEEDBACK_API_TOKEN: 'first',
    });
    rewrite('second');
    clock.advance(1000);
    assert.equal(reveal(), 'first');
  });
});
