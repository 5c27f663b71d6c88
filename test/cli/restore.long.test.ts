import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { queryFile } from '../support/mirror.ts';
import type { Running, Site } from '../support/mirror-site.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startRedis } from '../support/servers.ts';
import { until } from '../support/until.ts';
import { ALL, CONFIRMED, done, olderCopy, putBack, sent, siteWithFile, states } from './older-copy.ts';

describe('a mirror that is an older copy', () => {
  it('is known without a mark too, and by the path it is opened under', async (t) => {
    const site = await siteWithFile(t);
    await done(site, 'import', 'ideas.csv');
    copyFileSync(site.mirror, join(site.folder, 'snapshot.db'));
    await done(site, 'import', 'ideas.csv', '--wait');
    const args = ['--mirror-path', 'snapshot.db'];
    assert.equal((await olderCopy(site, ...args))?.checking, 3);
    await done(site, 'import', 'ideas.csv', '--wait', ...args);
    assert.deepEqual([sent(site), states(site, join(site.folder, 'snapshot.db'))], [ALL, CONFIRMED]);
    // Nothing went out from the copy, so the mirror itself is still the newest.
    assert.equal(await olderCopy(site), null);
  });

  it('says that its time is not known where the clock was ahead when it was made', async (t) => {
    const site = await siteWithFile(t);
    const db = new Database(site.mirror);
    db.exec("INSERT INTO meta VALUES ('copied_at', '2999-01-01T00:00:00.000Z')");
    db.close();
    const said = [await done(site, 'status'), (await site.run(['doctor'])).stdout];
    for (const text of said) {
      assert.match(text, /mirror is a copy, of a time that is not known, that was put back/);
      assert.doesNotMatch(text, /1970|2999/);
    }
    assert.equal((await olderCopy(site))?.since, null);
  });

  it('restores on a machine that has only the copy, and says what the copy cannot know', async (t) => {
    const site = await siteWithFile(t);
    await done(site, 'backup', 'copy.db');
    await done(site, 'import', 'ideas.csv', '--wait');
    mkdirSync(join(site.folder, 'elsewhere'));
    renameSync(join(site.folder, 'copy.db'), join(site.folder, 'elsewhere/mirror.db'));
    const args = ['--data-dir', 'elsewhere'];
    await done(site, 'import', 'ideas.csv', '--wait', ...args);
    assert.deepEqual(sent(site), ALL);
    assert.equal((await olderCopy(site, ...args))?.isCovered, false);
    assert.match(await done(site, 'status', ...args), /does not know who was erased since: erase them again/);
    const { stdout } = await site.run(['doctor', ...args]);
    assert.match(
      stdout,
      /warn {2}older copy +the mirror is a copy from 2\S+Z that was put back; 0 outbox rows/,
    );
    assert.match(stdout, /Erase again whom you erased since/);
  });
});

describe('a service on an older copy', skipUnless('redis-server'), () => {
  let redis: Server;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());

  it('leaves one post for each row that it had sent before the copy was put back', async (t) => {
    const site = await siteWithFile(t);
    Object.assign(site.env, { QUEUE_URL: redis.url, HTTP_PORT: '0' });
    for (const title of ALL) await done(site, 'create', '--board', 'bugs', '--title', title);
    await done(site, 'backup', 'copy.db');
    await untilConfirmed(site);
    putBack(site);
    await untilConfirmed(site);
    assert.deepEqual(new Set(sent(site)), new Set(ALL));
    assert.equal(sent(site).length, ALL.length);
    const duplicates = queryFile(site.mirror, 'SELECT id FROM outbox WHERE duplicate_of IS NOT NULL');
    assert.deepEqual(duplicates, []);
  });
});

async function untilConfirmed(site: Site): Promise<void> {
  const service: Running = site.start(['start']);
  await until('every row is confirmed', () => states(site).join() === CONFIRMED.join());
  service.child.kill('SIGTERM');
  assert.equal((await service.end).code, 0, service.said());
}

describe('restore --from a backup', () => {
  it('refuses incomplete backups and those of another upstream, and leaves the mirror unchanged', async (t) => {
    const site = await siteWithFile(t);
    const at = (name: string): string => join(site.folder, name);
    await done(site, 'backup', 'copy.db');
    const bytes = readFileSync(at('copy.db'));
    writeFileSync(at('text.db'), 'no database at all'.repeat(1000));
    writeFileSync(at('empty.db'), '');
    writeFileSync(at('cut.db'), bytes.subarray(0, bytes.length - 100_000));
    writeFileSync(
      at('torn.db'),
      Buffer.concat([bytes.subarray(0, 40_960), Buffer.alloc(40_960, 7), bytes.subarray(81_920)]),
    );
    new Database(at('other.db')).exec('CREATE TABLE posts (id)').close();
    copyFileSync(at('copy.db'), at('elsewhere.db'));
    new Database(at('elsewhere.db'))
      .exec("UPDATE meta SET value = 'https://x.test' WHERE key = 'upstream'")
      .close();
    copyFileSync(at('copy.db'), at('short.db'));
    new Database(at('short.db')).exec('DROP TABLE posts').close();
    mkdirSync(at('folder.db'));
    const refusals: [file: string, code: number, why: RegExp][] = [
      ['nowhere.db', 2, /there is no file/],
      ['text.db', 2, /text\.db is not an SQLite database\nGive the path of a backup/],
      ['empty.db', 2, /is empty/],
      ['folder.db', 2, /folder\.db is not a regular file/],
      ['cut.db', 7, /cut\.db is damaged: .*; nothing was restored\nTake an earlier copy/],
      ['short.db', 7, /short\.db is damaged: .*; nothing was restored/],
      ['torn.db', 7, /damaged|malformed/],
      ['other.db', 2, /another program/],
      ['elsewhere.db', 2, /belongs to https:\/\/x\.test/],
      [site.mirror, 2, /is the mirror itself/],
    ];
    const before = queryFile(site.mirror, 'SELECT * FROM posts ORDER BY id');
    for (const [file, code, why] of refusals) {
      const { code: ended, stderr } = await site.run(['restore', '--from', file, '--yes']);
      assert.equal(ended, code, `${file}: ${stderr}`);
      assert.match(stderr, why);
    }
    assert.deepEqual(queryFile(site.mirror, 'SELECT * FROM posts ORDER BY id'), before);
    const left = readdirSync(site.folder).filter((name) => /part|before-restore/.test(name));
    assert.deepEqual(left, []);
  });
});
