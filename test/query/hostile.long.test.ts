import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { codeOf, messageOf } from '../../src/base/errors.ts';
import { collectRows, limitQueries, runQuery } from '../../src/query/run.ts';
import { until } from '../support/until.ts';
import { type Fate, HOSTILE } from './hostile-statements.ts';
import { childrenOf, makeMirror } from './mirror.ts';

const AT_ONCE = 4;
const MIB = 1024 * 1024;

/** A statement that is to be answered may wait for a busy machine; one without an end need not. */
const TIMES: Record<Fate, number> = { answered: 30_000, refused: 30_000, stopped: 150 };

describe('SQL from people who mean harm', () => {
  let mirror: ReturnType<typeof makeMirror>;
  let before_: string;
  before(async () => {
    mirror = makeMirror();
    // A reader of a write-ahead log needs its two files beside the mirror; they stay.
    await collectRows(runQuery({ path: mirror.path, sql: 'SELECT 1' }));
    before_ = traces();
  });
  after(() => mirror.remove());

  /** Everything a statement could have left behind. */
  function traces(): string {
    const hash = createHash('sha256').update(readFileSync(mirror.path)).digest('hex');
    const left = ['/', process.cwd()].filter((folder) => existsSync(join(folder, 'fm-hostile-relative.db')));
    return JSON.stringify([hash, readdirSync(mirror.folder).sort(), left]);
  }

  async function fateOf(sql: string, limitMs: number, run: typeof runQuery): Promise<string> {
    try {
      await collectRows(run({ path: mirror.path, sql, limitMs, maxMemoryBytes: 256 * MIB }));
      return 'answered';
    } catch (error) {
      const fates: Record<string, string> = { usage: 'refused', partial: 'stopped' };
      return fates[codeOf(error)] ?? `${codeOf(error)}: ${messageOf(error)}`;
    }
  }

  it(`is refused, stopped or answered, each of ${HOSTILE.length} statements as it deserves`, async () => {
    assert.ok(HOSTILE.length >= 150);
    assert.equal(new Set(HOSTILE.map(({ sql }) => sql)).size, HOSTILE.length);
    const run = limitQueries(AT_ONCE, Number.POSITIVE_INFINITY);
    const wrong: string[] = [];
    const ask = async ({ sql, fate }: (typeof HOSTILE)[number]): Promise<void> => {
      const filled = sql.replaceAll('$F', mirror.folder);
      const actual = await fateOf(filled, TIMES[fate], run);
      if (actual !== fate) wrong.push(`${actual} instead of ${fate}: ${sql.slice(0, 120)}`);
    };
    await Promise.all(HOSTILE.map(ask));
    assert.deepEqual(wrong, []);
  });

  it('leaves the file as it was, no other file and no process, and the next statement is answered', async () => {
    assert.equal(traces(), before_);
    await until('no child is left', () => childrenOf(process.pid).length === 0);
    const { rows } = await collectRows(runQuery({ path: mirror.path, sql: 'SELECT count(*) FROM posts' }));
    assert.deepEqual(rows, [[50]]);
  });
});
