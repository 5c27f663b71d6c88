import assert from 'node:assert/strict';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { QueueFile } from 'bullmq-sqlite';
import { examineFolder } from '../../src/doctor/machine.ts';
import { folderFor } from '../support/folder.ts';
import { openSite, type Site } from '../support/mirror-site.ts';
import { skipUnless } from '../support/programs.ts';
import { startRedis } from '../support/servers.ts';

interface Checkup {
  ok: boolean;
  checks: { name: string; state: string; detail: string; advice: string | null; code: string | null }[];
}

/** Nothing listens there, whatever runs on this machine besides. */
const QUIET = { HTTP_PORT: '9' };

async function examine(
  site: Site,
  env: Record<string, string> = {},
): Promise<Checkup & { code: number | null }> {
  const { code, stdout } = await site.run(['doctor', '--json'], { ...QUIET, ...env });
  return { code, ...(JSON.parse(stdout) as Checkup) };
}

function of(name: string, { checks }: Checkup) {
  const found = checks.find((check) => check.name === name);
  assert.ok(found, `no check of ${name}`);
  return found;
}

function states({ checks }: Checkup): Record<string, string> {
  return Object.fromEntries(checks.map(({ name, state }) => [name, state]));
}

/** A program that answers every path alike. */
async function listen(
  t: TestContext,
  answer: (path: string) => [status: number, body: object, headers?: Record<string, string>],
): Promise<string> {
  const server = createServer((request, response) => {
    const [status, body, headers = {}] = answer(request.url ?? '');
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return String((server.address() as AddressInfo).port);
}

describe('feedback-mirror doctor', () => {
  it('takes a full disk for what it is: storage, not a wrong setting', (t) => {
    const { state, code } = examineFolder(folderFor(t, 'full'), () => 0);
    assert.deepEqual([state, code], ['fail', 'storage']);
  });

  it('finds out that a data folder cannot be made', (t) => {
    const folder = folderFor(t, 'data');
    assert.equal(examineFolder(join(folder, 'a/b')).state, 'ok');
    assert.deepEqual(readdirSync(folder), []);
    writeFileSync(join(folder, 'file'), '');
    for (const path of ['/proc/none', join(folder, 'file/none')])
      assert.equal(examineFolder(path).state, 'fail', path);
  });

  it('finds a fresh site in order, tells people each thing on a line, and makes nothing', async (t) => {
    const site = await openSite(t);
    const { code, stdout, stderr } = await site.run(['doctor'], QUIET);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^ok {4}version +\d+\.\d+\.\d+ \(commit [0-9a-f]{10}\)\nok {4}Node +2\d\./);
    assert.match(stdout, /\nwarn {2}mirror +data\/mirror\.db is not there yet\n +Run "feedback-mirror sync"/);
    assert.match(stdout, /\nok {4}upstream +127\.0\.0\.1:\d+ took the token and listed 5 posts in /);
    assert.match(stdout, /\nwarn {2}service +nothing answers at http:\/\/127\.0\.0\.1:9\n/);
    assert.deepEqual(readdirSync(site.folder), []);
  });

  it('says why a service does not start with its rules', async (t) => {
    const site = await openSite(t);
    mkdirSync(join(site.folder, 'data'), { mode: 0o700 });
    writeFileSync(join(site.folder, 'data/rules.yaml'), 'channels:\n  team: { mail: [pm@example.com] }\n');
    const found = await examine(site);
    const { state, detail, advice } = of('rules', found);
    assert.deepEqual([found.code, state], [2, 'fail']);
    assert.match(`${detail} ${advice}`, /SMTP_URL or MAIL_FROM is not set .*data\/rules\.yaml/);
    const set = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'mirror@example.com' };
    assert.ok(!(await examine(site, set)).checks.some(({ name }) => name === 'rules'));
  });

  it('checks the mirror whole, its log, its index and the version of SQLite', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const found = await examine(site);
    assert.deepEqual([found.code, found.ok], [0, true]);
    assert.deepEqual(states(found), {
      version: 'ok',
      Node: 'ok',
      settings: 'ok',
      'data folder': 'ok',
      mirror: 'ok',
      outbox: 'ok',
      'write-ahead log': 'ok',
      'search index': 'ok',
      reports: 'ok',
      SQLite: 'ok',
      upstream: 'ok',
      queue: 'ok',
      access: 'ok',
      service: 'warn',
    });
    assert.match(of('mirror', found).detail, /^data\/mirror\.db, \d+ KB, schema \d+, checked whole in /);
    assert.match(of('SQLite', found).detail, /^3\.\d+\.\d+$/);
  });

  it('warns of rows that only a person can decide about', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    await site.run(['create', '--board', 'bugs', '--title', 'A wish', '--content', 'Please.']);
    const db = new Database(join(site.folder, 'data', 'mirror.db'));
    db.exec("UPDATE outbox SET state = 'uncertain', duplicate_of = 7");
    db.close();
    const { state, detail, advice } = of('outbox', await examine(site));
    assert.deepEqual([state, detail], ['warn', '1 row needs a decision; 1 row left a second post upstream']);
    const [, sql = ''] = /query '(.*)'/.exec(advice ?? '') ?? [];
    assert.match((await site.run(['query', sql, '--format', 'csv'])).stdout, /^1,,7$/m);
    assert.match((await site.run(['outbox', 'list'])).stdout, /^ *1 +it left a second post upstream, 7$/m);
  });

  it('says that sending is paused, since when, and what to do', async (t) => {
    const site = await openSite(t);
    const args = ['create', '--board', 'bugs', '--title', 'A wish', '--wait'];
    await site.run(args, { FEEDBACK_API_TOKEN: 'another-token' });
    const { state, detail, advice } = of('trouble', await examine(site));
    assert.equal(state, 'warn');
    assert.match(detail, /^the feedback service refused the token since \d\d:\d\d .*\(sending is paused\)/);
    assert.equal(advice, 'Put a new one in .env or sources.yaml, no restart needed.');
  });

  it('warns of rows that may have left another post, until a person has looked at them', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    await site.run(['create', '--board', 'bugs', '--title', 'A wish', '--content', 'Please.']);
    const db = new Database(join(site.folder, 'data', 'mirror.db'));
    t.after(() => db.close());
    for (const [settled, post, candidates] of [
      ['confirmed', 8, '[8, 7]'],
      ['rejected', null, '[7]'],
      ['cancelled', null, '[7]'],
    ]) {
      db.prepare('UPDATE outbox SET state = ?, post_id = ?, candidates = ?').run(settled, post, candidates);
      const { state, detail } = of('outbox', await examine(site));
      assert.deepEqual([state, detail], ['warn', '1 row may have left another post upstream']);
      const { stdout } = await site.run(['outbox', 'list']);
      assert.match(stdout, /^ *1 +it may have left another post upstream: 7$/m);
    }
    db.exec("UPDATE outbox SET matched = 'person'");
    assert.equal(of('outbox', await examine(site)).state, 'ok');
  });

  it('warns of posts that were sent and that no complete sweep since has listed', async (t) => {
    const site = await openSite(t);
    await site.run(['create', '--board', 'bugs', '--title', 'A wish', '--content', 'Please.']);
    const db = new Database(join(site.folder, 'data', 'mirror.db'));
    db.exec("UPDATE outbox SET state = 'confirmed', post_id = 999999");
    db.close();
    assert.equal(of('outbox', await examine(site)).state, 'ok');
    await site.run(['sync']);
    const { state, detail, advice } = of('outbox', await examine(site));
    assert.deepEqual([state, detail], ['warn', '1 sent post never listed since']);
    const [, sql = ''] = /query '(.*)'/.exec(advice ?? '') ?? [];
    assert.match((await site.run(['query', sql, '--format', 'csv'])).stdout, /^1,999999,A wish$/m);
    assert.match((await site.run(['outbox', 'show', '1'])).stdout, /^No pass has listed post 999999 yet\./m);
  });

  it('names a log that a long reader keeps from starting over', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const path = join(site.folder, 'data', 'mirror.db');
    const writer = new Database(path);
    const write = (value: string): unknown =>
      writer.prepare("INSERT OR REPLACE INTO meta VALUES ('note', ?)").run(value);
    write('before');
    const reader = new Database(path, { readonly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM posts').get();
    write('meanwhile');
    // Nothing cuts the log short as long as that reader reads. Behind its last frame SQLite reads nothing.
    truncateSync(`${path}-wal`, 1_200_000_000);
    writer.pragma('busy_timeout = 0');
    writer.pragma('wal_checkpoint(TRUNCATE)');
    const { state, detail, advice } = of('write-ahead log', await examine(site));
    assert.deepEqual([state, detail.replace(/[\d.]+/, 'N')], ['warn', 'it has grown to N GB']);
    assert.match(advice ?? '', /reading the mirror for a long time without a break/);
    reader.close();
    writer.pragma('wal_checkpoint(TRUNCATE)');
    writer.close();
    assert.equal(of('write-ahead log', await examine(site)).state, 'ok');
  });

  it('warns of a token that is easy to guess, and offers another', async (t) => {
    const site = await openSite(t);
    const access = async (HTTP_TOKEN: string) => of('access', await examine(site, { HTTP_TOKEN }));
    for (const weak of ['password', 'aaaaaaaaaaaaaaaaaaaa']) {
      const { state, advice } = await access(weak);
      assert.equal(state, 'warn');
      assert.match(advice ?? '', /such as [\w-]{24}\./);
    }
    assert.equal((await access('x1-Kq9_dTzB7mWu2Lr')).state, 'ok');
    const shared = { HTTP_TOKEN: 'x1-Kq9_dTzB7mWu2Lr', FEEDBACK_API_TOKEN: 'x1-Kq9_dTzB7mWu2Lr' };
    assert.match(of('access', await examine(site, shared)).detail, /is the token of the feedback service/);
  });

  it('fails for a damaged mirror, and says how to go on', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const db = new Database(site.mirror, { readonly: true });
    const root = db
      .prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'posts_by_created'")
      .pluck()
      .get();
    const pageSize = db.pragma('page_size', { simple: true }) as number;
    db.close();
    const file = openSync(site.mirror, 'r+');
    writeSync(file, Buffer.alloc(pageSize, 0xa5), 0, pageSize, (Number(root) - 1) * pageSize);
    closeSync(file);
    const found = await examine(site);
    assert.deepEqual([found.code, of('mirror', found).state], [7, 'fail']);
    assert.match(of('mirror', found).detail, /^data\/mirror\.db is damaged: /);
    assert.match(of('mirror', found).advice ?? '', /backup/);
  });

  it('fails for rows that point nowhere', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const db = new Database(site.mirror);
    db.pragma('foreign_keys = OFF');
    db.exec('DELETE FROM boards WHERE id = (SELECT min(board_id) FROM posts)');
    db.close();
    const found = await examine(site);
    assert.equal(found.code, 7);
    assert.match(
      of('mirror', found).detail,
      /damaged: row \d+ of posts points to a row of boards that is not there/,
    );
  });

  it('ends with 3 for a refused token, 4 for an upstream that is away, 2 for one that is not this mirror', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const [refused, away] = await Promise.all([
      examine(site, { FEEDBACK_API_TOKEN: 'another-token' }),
      examine(site, { FEEDBACK_BASE_URL: 'http://127.0.0.1:9', DATA_DIR: 'elsewhere' }),
    ]);
    assert.deepEqual(
      [refused.code, of('upstream', refused).state, of('upstream', refused).code],
      [3, 'fail', 'unauthorised'],
    );
    assert.match(of('upstream', refused).advice ?? '', /FEEDBACK_API_TOKEN/);
    assert.deepEqual([away.code, of('upstream', away).code], [4, 'unreachable']);
    const foreign = await examine(site, { FEEDBACK_BASE_URL: 'http://127.0.0.1:9' });
    assert.deepEqual([foreign.code, of('mirror', foreign).state], [2, 'fail']);
    assert.match(of('mirror', foreign).detail, /belongs to/);
    assert.ok(!existsSync(join(site.folder, 'elsewhere')));
  });

  it('warns of a clock that differs, of files that others can read, and of unknown settings', async (t) => {
    const site = await openSite(t);
    mkdirSync(join(site.folder, 'data'));
    chmodSync(join(site.folder, 'data'), 0o755);
    writeFileSync(join(site.folder, '.env'), 'PUSH_PER_HOUR=5\n', { mode: 0o600 });
    const hourAgo = () => ({ date: new Date(Date.now() - 3_600_000).toUTCString() });
    const slow = await listen(t, () => [
      200,
      { count: 0, next: null, previous: null, results: [] },
      hourAgo(),
    ]);
    const found = await examine(site, { FEEDBACK_BASE_URL: `http://127.0.0.1:${slow}` });
    assert.equal(found.code, 0);
    assert.match(of('upstream', found).detail, /this machine's clock is 60 min ahead of its clock$/);
    assert.match(of('data folder', found).detail, /open to other users of this machine \(mode 0755\)/);
    assert.match(of('data folder', found).advice ?? '', /^Run: chmod go= data$/);
    assert.match(of('settings', found).detail, /PUSH_PER_HOUR is set and is no setting/);
    assert.match(of('settings', found).advice ?? '', /feedback-mirror config/);
  });

  it('reads the embedded queue without making it, and tells that a damaged one is no loss', async (t) => {
    const site = await openSite(t);
    const file = join(site.folder, 'data/queue.db');
    assert.match(of('queue', await examine(site)).detail, /queue\.db is made when the service starts/);
    assert.equal(existsSync(file), false);
    mkdirSync(join(site.folder, 'data'), { recursive: true, mode: 0o700 });
    const queue = QueueFile.at(file);
    await queue.read(() => queue.get('SELECT 1 FROM job'));
    queue.release();
    assert.equal(of('queue', await examine(site)).detail, 'embedded, 0 jobs in queue.db');
    writeFileSync(file, 'not a database at all');
    const { state, detail, advice } = of('queue', await examine(site));
    assert.deepEqual([state, /cannot be read/.test(detail)], ['warn', true]);
    assert.match(advice ?? '', /Nothing is lost/);
  });

  it('connects to Redis and never shows the password of its URL', skipUnless('redis-server'), async (t) => {
    const site = await openSite(t);
    const redis = await startRedis();
    t.after(() => redis.stop());
    assert.match(
      of('queue', await examine(site, { QUEUE_URL: redis.url })).detail,
      /its server answers and fits/,
    );
    const refused = await site.run(['doctor'], {
      ...QUIET,
      QUEUE_URL: redis.url.replace('//', '//user:pa55-of-the-queue@'),
    });
    assert.equal(refused.code, 2);
    assert.match(
      refused.stdout,
      /\nfail {2}queue +the Redis at 127\.0\.0\.1:\d+ refused the user or the password/,
    );
    assert.ok(!refused.stdout.includes('pa55') && !refused.stderr.includes('pa55'));
  });

  it('asks a running service how it is, and gives the token to no other program', async (t) => {
    const site = await openSite(t);
    const seen: string[] = [];
    const stranger = await listen(t, (path) => {
      seen.push(path);
      return [200, { hello: 'world' }];
    });
    const ill = { ready: false, checks: [{ name: 'sweep', ok: false, detail: 'no sweep for 3 hours' }] };
    const service = await listen(t, (path) => (path === '/healthz' ? [200, { status: 'ok' }] : [503, ill]));
    const well = await listen(t, (path) => [200, path === '/healthz' ? { status: 'ok' } : { ready: true }]);
    const [other, sick, healthy] = await Promise.all(
      [stranger, service, well].map((port) => examine(site, { HTTP_PORT: port, HTTP_TOKEN: 'tok-for-http' })),
    );
    assert.ok(other && sick && healthy);
    assert.deepEqual([other.code, of('service', other).state, seen], [6, 'fail', ['/healthz']]);
    assert.deepEqual([sick.code, of('service', sick).state], [4, 'fail']);
    assert.match(of('service', sick).detail, /but no sweep for 3 hours$/);
    assert.deepEqual([healthy.code, of('service', healthy).state], [0, 'ok']);
  });
});
