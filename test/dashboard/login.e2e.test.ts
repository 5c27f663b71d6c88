import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import { SILENT } from '../../src/base/log.ts';
import { Secret } from '../../src/base/secret.ts';
import { type ChangePage, openChangeFeed } from '../../src/changes/feed.ts';
import { addChanges } from '../../src/http/changes.ts';
import { addEvents } from '../../src/http/dashboard/events.ts';
import { slowGuesses } from '../../src/http/server/guesses.ts';
import { openStream } from '../../src/http/server/replies.ts';
import { addLogin, createSession, localPath } from '../../src/http/server/session.ts';
import type { HttpPart } from '../../src/http/server/site.ts';
import { openLiveStats } from '../../src/state/live-stats.ts';
import { openServiceState, type ServiceState } from '../../src/state/state.ts';
import { ask, bearer, type Reply } from '../http/client.ts';
import { open, type Running, TOKEN } from '../http/service.ts';
import { progressWith } from '../service/healthy.ts';
import { fakeClock } from '../support/clock.ts';
import { openTestMirror, queryFile } from '../support/mirror.ts';
import { until } from '../support/until.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

function signIn(
  http: Running,
  fields: Record<string, string>,
  headers: OutgoingHttpHeaders = {},
): Promise<Reply> {
  const body = new URLSearchParams(fields).toString();
  return ask(http, '/login', { method: 'POST', headers: { ...FORM, ...headers }, body });
}

function cookieOf({ headers }: Reply): string {
  const [cookie = ''] = headers['set-cookie'] ?? [];
  return cookie;
}

/** The part of a cookie that the browser sends back. */
function sentBack(cookie: string): { cookie: string } {
  return { cookie: cookie.split(';', 1)[0] ?? '' };
}

describe('a browser without the token', () => {
  it('is sent to the login with where it wanted to go; a program is told instead', async (t) => {
    const http = await open(t, { token: TOKEN });
    const page = { accept: 'text/html,application/xhtml+xml' };
    const sent = await ask(http, '/posts?q=a%26b', { headers: page });
    assert.deepEqual([sent.status, sent.headers.location], [303, '/login?to=%2Fposts%3Fq%3Da%2526b']);
    assert.equal((await ask(http, '/', { headers: page })).headers.location, '/login');
    assert.equal((await ask(http, '/metrics', { headers: { accept: '*/*' } })).status, 401);
    assert.equal((await ask(http, '/posts', { method: 'POST', headers: page })).status, 401);
  });

  it('gets a page that needs no script, no other file than its style, and no other host', async (t) => {
    const http = await open(t, { token: TOKEN });
    const { body, headers } = await ask(
      http,
      `/login?to=${encodeURIComponent('/a"><script>alert(1)</script>')}`,
    );
    assert.match(String(headers['content-type']), /text\/html/);
    assert.doesNotMatch(body, /<script|https?:\/\//);
    assert.match((await ask(http, '/login.css')).body, /body\.login/);
  });
});

describe('the login', () => {
  it('takes the token once and opens every route to the cookie it gives', async (t) => {
    const http = await open(t, { token: TOKEN });
    const reply = await signIn(http, { token: ` ${TOKEN} `, to: '/sync?x=1' }, { origin: http.url });
    assert.deepEqual([reply.status, reply.headers.location], [303, '/sync?x=1']);
    const cookie = cookieOf(reply);
    assert.match(cookie, /; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
    assert.ok(!cookie.includes(TOKEN));
    for (const path of ['/readyz', '/metrics'])
      assert.equal((await ask(http, path, { headers: sentBack(cookie) })).status, 200, path);
    const there = await ask(http, '/login?to=/posts', { headers: sentBack(cookie) });
    assert.deepEqual([there.status, there.headers.location], [303, '/posts']);
  });

  it('marks the cookie as one for encrypted connections where such a proxy stands before it', async (t) => {
    const http = await open(t, { token: TOKEN });
    const reply = await signIn(http, { token: TOKEN }, { 'x-forwarded-proto': 'https' });
    assert.match(cookieOf(reply), /; Secure$/);
  });

  it('takes forms of its own page only, and no other route takes any', async (t) => {
    const http = await open(t, { token: TOKEN });
    for (const from of [
      { origin: 'https://evil.com' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ])
      assert.equal((await signIn(http, { token: TOKEN }, from)).status, 403);
    const other = { method: 'POST', headers: { ...FORM, ...bearer(TOKEN) }, body: 'a=1' };
    assert.equal((await ask(http, '/logout', other)).status, 415);
  });

  it('says no to a wrong token, in words, and sets nothing', async (t) => {
    const { app, clock } = await alone(t);
    const wrong = app.inject({
      method: 'POST',
      url: '/login',
      headers: FORM,
      payload: 'token=guess&to=/sync',
    });
    await clock.asked(1);
    clock.release();
    const reply = await wrong;
    assert.equal(reply.statusCode, 403);
    assert.match(reply.body, /not the token/);
    assert.match(reply.body, /value="\/sync"/);
    assert.equal(reply.headers['set-cookie'], undefined);
  });

  it('lets the token in at once, however many guesses wait for their answer', async (t) => {
    const { app, clock } = await alone(t);
    const post = (payload: string) => app.inject({ method: 'POST', url: '/login', headers: FORM, payload });
    const guesses = Array.from({ length: 18 }, () => post('token=guess'));
    await clock.asked(18);
    assert.equal((await post(`token=${TOKEN}`)).statusCode, 303);
    clock.release();
    for (const { statusCode } of await Promise.all(guesses)) assert.equal(statusCode, 403);
  });

  it('answers each further guess of an address later, on whatever route, and forgives after a minute', async (t) => {
    const clock = fakeClock();
    const http = await open(t, { token: TOKEN, clock });
    const guess = (path: string) => ask(http, path, { headers: bearer('guess') });
    for (const path of ['/readyz', '/data/query', '/nowhere'])
      assert.equal((await guess(path)).status, 401, path);
    assert.equal((await signIn(http, { token: 'guess' })).status, 403);
    assert.equal((await ask(http, '/api/v1/posts/?token=guess')).status, 401);
    assert.deepEqual(clock.slept, [1000, 2000, 4000, 8000, 16_000]);
    assert.equal((await ask(http, '/metrics', { headers: bearer(TOKEN) })).status, 200);
    clock.advance(60_000);
    await guess('/readyz');
    assert.equal(clock.slept.at(-1), 1000);
  });

  it('remembers an address that goes on guessing, however many others guess once', async () => {
    const slept: number[] = [];
    const sleep = async (ms: number): Promise<void> => void slept.push(ms);
    const guesses = slowGuesses({ now: () => 0, monotonic: () => 0, idle: () => 0, sleep });
    await guesses.wrong('192.0.2.1');
    for (let n = 1; n < 1000; n++) await guesses.wrong(`2001:db8::${n}`);
    await guesses.wrong('192.0.2.1');
    await guesses.wrong('2001:db8::ffff');
    await guesses.wrong('192.0.2.1');
    assert.deepEqual([slept[0], slept.at(-3), slept.at(-1)], [1000, 2000, 4000]);
  });

  it('goes to addresses of this service only', () => {
    for (const to of ['/', '/posts', '/posts?q=%2F%2Fx', '/ask?q=SELECT%201'])
      assert.equal(localPath(to), to);
    const elsewhere = [
      '//evil.com',
      '/\\evil.com',
      '/.//evil.com',
      '/%2e//evil.com',
      'https://evil.com',
      'posts',
      '',
    ];
    for (const to of [...elsewhere, '/\t/evil.com', '/a/..//evil.com']) assert.equal(localPath(to), '/', to);
  });
});

describe('a session', () => {
  const HOUR = 3_600_000;
  const requestWith = (cookie: string) => ({ headers: { cookie } }) as unknown as IncomingMessage;

  it('holds for twelve hours, and after a restart, but not under another token or at another mirror', () => {
    let now = 1_800_000_000_000;
    const at = (token: string, key: string) =>
      createSession(new Secret(token), {
        now: () => now,
        ended: { key: () => key, has: () => false, add: () => undefined },
      });
    const cookie = at(TOKEN, 'ours').open(false);
    const later = at(TOKEN, 'ours');
    assert.ok(later.isOpen(requestWith(cookie)));
    assert.ok(!at(`${TOKEN}2`, 'ours').isOpen(requestWith(cookie)));
    // Whoever guesses at the token cannot try it with a session that was signed elsewhere.
    assert.ok(!at(TOKEN, 'of another mirror').isOpen(requestWith(cookie)));
    now += 12 * HOUR - 1;
    assert.ok(later.isOpen(requestWith(cookie)));
    now += 1;
    assert.ok(!later.isOpen(requestWith(cookie)));
  });

  it('cannot be made longer, or made at all, without the token', () => {
    const session = createSession(new Secret(TOKEN), { now: () => 1_800_000_000_000 });
    const [pair = ''] = session.open(false).split(';', 1);
    const [name = '', value = ''] = pair.split('=');
    const [until = '', id = '', signature = ''] = value.split('.');
    const forged = [
      '',
      `${until}.${id}.`,
      `.${id}.${signature}`,
      `${until}9.${id}.${signature}`,
      `${until}.other.${signature}`,
      `NaN.${id}.${signature}`,
      `${until}`,
    ];
    for (const attempt of forged) assert.ok(!session.isOpen(requestWith(`${name}=${attempt}`)), attempt);
    assert.ok(session.isOpen(requestWith(`other=1; ${pair}`)));
    assert.ok(!session.isOpen(requestWith(`x${pair}`)));
  });

  it('stays ended for whoever copied its cookie, whichever others end, until its time has come', (t) => {
    const mirror = openTestMirror();
    const [state, another] = [openServiceState(mirror), openServiceState(mirror)];
    t.after(() => {
      for (const one of [state, another]) one.close();
      mirror.dispose();
    });
    let now = 1_800_000_000_000;
    const at = ({ endedSessions: ended }: ServiceState) =>
      createSession(new Secret(TOKEN), { now: () => now, ended });
    const session = at(state);
    const cookies = Array.from({ length: 3 }, () => requestWith(session.open(false)));
    for (const cookie of cookies.slice(0, 2)) session.close(cookie);
    const areOpen = (of: ServiceState) => cookies.map((cookie) => at(of).isOpen(cookie));
    assert.deepEqual([areOpen(state), areOpen(another)], Array(2).fill([false, false, true]));
    now += 12 * HOUR;
    session.close(requestWith(session.open(false)));
    const kept = queryFile(mirror.path, "SELECT key FROM meta WHERE key LIKE 'ended_session:%'");
    assert.equal(kept.length, 1);
  });

  it('ends when the person signs out', async (t) => {
    const http = await open(t, { token: TOKEN });
    const cookie = cookieOf(await signIn(http, { token: TOKEN }));
    const out = await ask(http, '/logout', { method: 'POST', headers: sentBack(cookie) });
    assert.match(cookieOf(out), /=; Max-Age=0;/);
    assert.equal((await ask(http, '/metrics', { headers: sentBack(cookie) })).status, 401);
    const other = cookieOf(await signIn(http, { token: TOKEN }));
    assert.equal((await ask(http, '/metrics', { headers: sentBack(other) })).status, 200);
    assert.equal((await ask(http, '/logout', { method: 'POST' })).status, 401);
  });
});

describe('an answer that goes on', () => {
  const stream: HttpPart = (app) => {
    app.get('/stream', async (_request, reply) => void openStream(reply, 'retry: 2000\n\n'));
  };
  /** An answer that has begun. */
  const begin = async (http: Running, headers: OutgoingHttpHeaders): Promise<{ ended: Promise<string> }> => {
    const outgoing = request(`${http.url}/stream`, { headers, agent: false }).end();
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    incoming.on('error', () => undefined).resume();
    return { ended: new Promise((resolve) => incoming.on('close', () => resolve('ended'))) };
  };
  const session = async (http: Running): Promise<{ cookie: string }> =>
    sentBack(cookieOf(await signIn(http, { token: TOKEN })));

  it('ends when the person signs out, and not for whoever shows the token or another session', async (t) => {
    const http = await open(t, { token: TOKEN, parts: [stream] });
    const cookie = await session(http);
    const own = await begin(http, cookie);
    const others = [await begin(http, await session(http)), await begin(http, bearer(TOKEN))];
    await ask(http, '/logout', { method: 'POST', headers: cookie });
    assert.equal(await own.ended, 'ended');
    const asked = ask(http, '/healthz').then(() => 'go on');
    assert.equal(await Promise.race([...others.map(({ ended }) => ended), asked]), 'go on');
  });

  it('ends soon after its session was ended at another process', async (t) => {
    const ids = new Set<string>();
    const endedSessions = {
      key: () => 'ours',
      has: (id: string) => ids.has(id),
      add: (id: string) => void ids.add(id),
    };
    const http = await open(t, { token: TOKEN, parts: [stream], endedSessions, limits: { sessionMs: 10 } });
    const cookie = await session(http);
    const { ended } = await begin(http, cookie);
    ids.add(cookie.cookie.split('.')[1] ?? '');
    assert.equal(await ended, 'ended');
  });

  for (const path of ['/data/events', '/api/changes/stream'])
    it(`at ${path} is written no further once its session has ended, also where it is not read`, async (t) => {
      const { part, beats } = openStreams(t);
      const http = await open(t, { token: TOKEN, parts: [part] });
      const listen = async (headers: OutgoingHttpHeaders): Promise<IncomingMessage> => {
        const outgoing = request(`${http.url}${path}`, { headers, agent: false }).end();
        t.after(() => outgoing.destroy());
        const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
        return incoming.on('error', () => undefined);
      };
      const cookie = await session(http);
      await listen(cookie);
      (await listen(bearer(TOKEN))).resume();
      await ask(http, '/logout', { method: 'POST', headers: cookie });
      const before = beats();
      // An error that nobody listens for fails the test here, and would end the service.
      await until('the other listener was sent more', () => beats() >= before + 3);
      assert.equal((await ask(http, '/healthz')).status, 200);
    });
});

/** Both streams of the service, with news at every beat. The first event is more than the buffers of two sockets hold. */
function openStreams(t: TestContext): { part: HttpPart; beats(): number } {
  const mirror = openTestMirror();
  const [feed, stats] = [openChangeFeed(mirror), openLiveStats(mirror)];
  t.after(() => {
    feed.close();
    stats.close();
    mirror.dispose();
  });
  let beats = 0;
  let text = 'x'.repeat(32 * 1024 * 1024);
  const takeText = (): string => {
    const taken = text;
    text = 'x';
    return taken;
  };
  const version = (): number => ++beats;
  const read = () => ({ ...stats.read(), updatedAt: takeText() });
  const after = (): ChangePage => ({
    changes: [{ number: 1, position: '1', type: 'post.updated', time: takeText() }],
    next: '1',
    isLast: true,
  });
  const part: HttpPart = (app) => {
    addEvents(app, {
      stats: { ...stats, version, read },
      progress: async () => progressWith(),
      log: SILENT,
      everyMs: 5,
    });
    addChanges(app, {
      feed: { ...feed, version, after: Object.assign(after, feed.after) },
      log: SILENT,
      everyMs: 5,
    });
  };
  return { part, beats: () => beats };
}

/** The login on its own, with a clock that stands until it is let go. */
async function alone(t: TestContext): Promise<{ app: FastifyInstance; clock: StillClock }> {
  const app = Fastify();
  t.after(() => app.close());
  const clock = stillClock();
  await addLogin(app, { session: createSession(new Secret(TOKEN)), guesses: slowGuesses(clock) });
  return { app, clock };
}

type StillClock = ReturnType<typeof stillClock>;

function stillClock() {
  let asleep: (() => void)[] = [];
  let tell: () => void = () => {};
  return {
    now: () => 0,
    monotonic: () => 0,
    idle: () => 0,
    sleep: (_ms: number) =>
      new Promise<void>((resolve) => {
        asleep.push(resolve);
        tell();
      }),
    async asked(count: number): Promise<void> {
      while (asleep.length < count)
        await new Promise<void>((resolve) => {
          tell = resolve;
        });
    },
    release(): void {
      for (const wake of asleep) wake();
      asleep = [];
    },
  };
}
