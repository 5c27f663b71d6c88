import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { queryFile } from '../support/mirror.ts';
import { openSite, type Running, type Site } from '../support/mirror-site.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startRedis } from '../support/servers.ts';
import { until } from '../support/until.ts';

const FAST = { PUSH_PER_MINUTE: '100000', PUSH_SETTLE: '10ms' };

const FILE = `title,content,board,email
First,one,bugs,
Second,two,bugs,ada@example.com
Third,three,mobile,
`;

interface OlderCopy {
  since: string;
  noticedAt: string | null;
  checking: number;
  erasures: number;
  isCovered: boolean;
}

/** A mirror with an empty outbox beside a file of three rows. */
async function siteWithFile(t: TestContext): Promise<Site> {
  const site = await openSite(t);
  Object.assign(site.env, FAST);
  writeFileSync(join(site.folder, 'ideas.csv'), FILE);
  await done(site, 'sync');
  return site;
}

async function done(site: Site, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await site.run(args);
  assert.equal(code, 0, `${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** The copy in the place of the mirror, as the help of `backup` says. */
function putBack(site: Site, copy = 'copy.db'): void {
  for (const rest of ['-wal', '-shm']) rmSync(site.mirror + rest, { force: true });
  renameSync(join(site.folder, copy), site.mirror);
}

async function olderCopy(site: Site, ...args: string[]): Promise<OlderCopy | null> {
  return (JSON.parse(await done(site, 'status', '--json', ...args)) as { olderCopy: OlderCopy | null })
    .olderCopy;
}

function sent(site: Site): string[] {
  return site.sandbox.world.ledger().map(({ title }) => title);
}

function states(site: Site, path = site.mirror): string[] {
  return queryFile<{ state: string }>(path, 'SELECT state FROM outbox ORDER BY id').map(({ state }) => state);
}

const ALL = ['First', 'Second', 'Third'];
const CONFIRMED = ['confirmed', 'confirmed', 'confirmed'];

describe('a mirror that is an older copy', () => {
  it('looks for the rows that were sent since instead of sending them again', async (t) => {
    const site = await siteWithFile(t);
    await done(site, 'import', 'ideas.csv');
    await done(site, 'backup', 'copy.db');
    await done(site, 'import', 'ideas.csv', '--wait');
    assert.deepEqual(sent(site), ALL);
    assert.equal(await olderCopy(site), null);
    putBack(site);
    const read = await olderCopy(site);
    assert.deepEqual([read?.checking, read?.noticedAt, read?.isCovered], [3, null, true]);
    assert.deepEqual(states(site), ['ready', 'ready', 'ready']);
    await done(site, 'import', 'ideas.csv', '--wait');
    assert.deepEqual([sent(site), states(site)], [ALL, CONFIRMED]);
    assert.equal((await olderCopy(site))?.checking, 0);
    await done(site, 'sync');
    assert.equal(await olderCopy(site), null);
  });

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

  it('finds what was imported and sent after the copy, when the file is imported again', async (t) => {
    const site = await siteWithFile(t);
    await done(site, 'backup', 'copy.db');
    await done(site, 'import', 'ideas.csv', '--wait');
    putBack(site);
    await done(site, 'import', 'ideas.csv', '--wait');
    assert.deepEqual([sent(site), states(site)], [ALL, CONFIRMED]);
    writeFileSync(join(site.folder, 'more.csv'), `${FILE}Fourth,four,bugs,\n`);
    await done(site, 'import', 'more.csv', '--wait');
    assert.deepEqual(sent(site), [...ALL, 'Fourth']);
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

  it('shows and sends nothing of people who were erased after the backup', async (t) => {
    const site = await siteWithFile(t);
    site.sandbox.world.addPost({ title: 'Zeppelin wishes', content: 'From me.', email: 'ada@example.com' });
    await done(site, 'sync');
    await done(site, 'import', 'ideas.csv');
    await done(site, 'backup', 'copy.db');
    await done(site, 'erase', '--email', 'ada@example.com', '--yes');
    putBack(site);
    assert.doesNotMatch(await done(site, 'search', 'zeppelin'), /zeppelin wishes/i);
    const bytes = readFileSync(site.mirror);
    for (const word of ['Zeppelin', 'ada@example.com']) assert.equal(bytes.includes(word), false, word);
    const people = await done(site, 'query', "SELECT count(*) FROM users WHERE email = 'ada@example.com'");
    assert.match(people, /\n\s*0\s*$/);
    assert.deepEqual(states(site), ['ready', 'cancelled', 'ready']);
    assert.equal((await olderCopy(site))?.erasures, 1);
    assert.match(await done(site, 'status'), /1 person erased since was erased again/);
    await site.run(['import', 'ideas.csv', '--wait']);
    assert.deepEqual(sent(site), ['First', 'Third']);
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
  it('puts the backup in the place of the mirror, keeps both as they were, and sends nothing twice', async (t) => {
    const site = await siteWithFile(t);
    const backup = join(site.folder, 'copy.db');
    await done(site, 'import', 'ideas.csv');
    await done(site, 'backup', 'copy.db');
    await done(site, 'import', 'ideas.csv', '--wait');
    await done(site, 'erase', '--email', 'ada@example.com', '--yes');
    const bytes = readFileSync(backup);
    const refused = await site.run(['restore', '--from', 'copy.db']);
    assert.deepEqual([refused.code, states(site)], [2, CONFIRMED]);
    assert.match(refused.stderr, /there is a mirror at .* already; nothing was restored/);
    const restored = JSON.parse(
      await done(site, 'restore', '--from', 'copy.db', '--yes', '--json'),
    ) as Restored;
    // The row of the person who was erased since is not sent at all.
    assert.deepEqual([restored.checking, restored.erasures, restored.isCovered], [2, 1, true]);
    assert.deepEqual(states(site, join(site.folder, restored.keptAs)), CONFIRMED);
    assert.ok(bytes.equals(readFileSync(backup)));
    await site.run(['import', 'ideas.csv', '--wait']);
    assert.deepEqual(sent(site), ALL);
    const told = await done(site, 'restore', '--from', 'copy.db', '--yes');
    assert.match(
      told,
      /2 outbox rows may have been sent since then.*\n1 person erased after that moment: erased again/,
    );
  });

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
      ['short.db', 7, /short\.db is damaged, so nothing was restored/],
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

interface Restored {
  checking: number;
  erasures: number;
  isCovered: boolean;
  keptAs: string;
}
