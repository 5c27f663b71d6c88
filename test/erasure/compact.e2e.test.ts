import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { compact, noteUnclean, openForWriting } from '../../src/db/open.ts';
import { runFileTask } from '../../src/upkeep/file-tasks.ts';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import { openBench } from './bench.ts';

const upstream = 'https://upstream.test/api';

describe('rewriting the file after something was erased', () => {
  it('says that it is not clean while somebody keeps reading, and stays due until it is', async (t) => {
    const bench = await openBench(t);
    await sweep(bench.store, 'posts', [aPost(1, { title: 'zqtitle' })], 1);
    const reader = new Database(bench.path, { readonly: true });
    t.after(() => reader.close());
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM posts').get();
    await bench.erasure.suppress('ada@example.com', 0);
    const compact = () => runFileTask({ task: 'compact', path: bench.path, upstream, patienceMs: 50 });
    assert.deepEqual(await compact(), { isClean: false });
    assert.equal(await bench.erasure.isUnclean(), true);
    reader.exec('COMMIT');
    assert.deepEqual(await compact(), { isClean: true });
    assert.equal(await bench.erasure.isUnclean(), false);
  });

  it('lets others write while it waits for a reader: the reader may need them to get on', async (t) => {
    const { path } = await openBench(t);
    const [db, reader, writer] = [openForWriting({ path, upstream }), new Database(path), new Database(path)];
    t.after(() => [db, reader, writer].map((open) => open.close()));
    writer.pragma('busy_timeout = 0');
    noteUnclean(db);
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM posts').get();
    let pauses = 0;
    const pause = (): void => {
      writer.exec("INSERT INTO meta (key, value) VALUES ('written', 'meanwhile')");
      reader.exec('COMMIT');
      pauses++;
    };
    assert.equal(compact(db, { patienceMs: 60_000, pause }), true);
    assert.equal(pauses, 1);
  });

  it('gives up where somebody keeps writing', async (t) => {
    const bench = await openBench(t);
    const writer = new Database(bench.path);
    t.after(() => writer.close());
    writer.exec('BEGIN IMMEDIATE');
    const compact = runFileTask({ task: 'compact', path: bench.path, upstream, patienceMs: 50 });
    await assert.rejects(compact, { code: 'busy' });
    writer.exec('ROLLBACK');
  });

  it('stops when it is told to', async (t) => {
    const bench = await openBench(t);
    const stop = new AbortController();
    const compact = runFileTask({ task: 'compact', path: bench.path, upstream }, stop.signal);
    stop.abort(new Error('stopped by the test'));
    await assert.rejects(compact, /stopped by the test/);
  });
});
