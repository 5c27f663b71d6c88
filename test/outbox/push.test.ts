import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SqliteError } from 'better-sqlite3';
import type { CreateOutcome } from '../../src/api/client.ts';
import { createRateLimit } from '../../src/api/rate-limit.ts';
import { AppError } from '../../src/base/errors.ts';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import type { OutboxRow } from '../../src/outbox/decide/types.ts';
import { currentPace } from '../../src/outbox/send/pace.ts';
import { endPause } from '../../src/outbox/send/pause.ts';
import { push } from '../../src/outbox/send/push.ts';
import { aPost } from '../support/rows.ts';
import { benchFor, CREATE_MS, HOUR, MINUTE, namedOlder, SETTLE_MS } from './bench.ts';
import { ALL, drive } from './drive.ts';
import { confirmed, unknown } from './scripted-upstream.ts';

const START = Date.parse('2026-01-01T00:00:00.000Z');
const at = (ms: number): string => new Date(START + ms).toISOString();

interface Case {
  outcome: CreateOutcome;
  row: Partial<OutboxRow>;
}

const TABLE: Case[] = [
  {
    outcome: confirmed(5),
    row: {
      state: 'confirmed',
      post_id: 5,
      url: 'http://upstream.test/p/5',
      last_error: null,
      checks_left: 0,
    },
  },
  {
    outcome: { outcome: 'rejected', httpStatus: 400, reason: 'no such board', serverTime: null },
    row: { state: 'rejected', last_error: 'no such board', not_before: null },
  },
  {
    outcome: { outcome: 'throttled', httpStatus: 429, retryAt: START + 5000, reason: 'slow down' },
    row: { state: 'ready', not_before: at(5000), was_ambiguous: false },
  },
  {
    outcome: { outcome: 'unauthorised', httpStatus: 401, reason: 'who are you' },
    row: { state: 'ready', not_before: null, was_ambiguous: false },
  },
  {
    outcome: { outcome: 'not-sent', reason: 'refused' },
    row: { state: 'ready', not_before: at(1500), was_ambiguous: false },
  },
  {
    outcome: unknown('cut'),
    row: {
      state: 'ambiguous',
      last_error: 'cut',
      not_before: at(CREATE_MS + SETTLE_MS),
      was_ambiguous: true,
    },
  },
];

describe('what the upstream said', () => {
  for (const [trouble, error] of [
    ['a full disk has space again', new AppError('storage', 'the disk is full')],
    ['another program gives the file free', new SqliteError('database is locked', 'SQLITE_BUSY')],
  ] as const)
    it(`is written as soon as ${trouble}, and the post is not sent twice`, async (t) => {
      const bench = benchFor(t);
      const id = await bench.add();
      let failures = 3;
      const endAttempt: typeof bench.store.endAttempt = (end) => {
        if (failures-- > 0) throw error;
        return bench.store.endAttempt(end);
      };
      await push({ ...bench.context, store: { ...bench.store, endAttempt } }, id);
      assert.equal((await bench.row(id)).state, 'confirmed');
      assert.equal(bench.upstream.created.length, 1);
    });
});

describe('where a row goes after an attempt', () => {
  for (const { outcome, row } of TABLE)
    it(`${outcome.outcome} leads to ${row.state}`, async (t) => {
      const bench = benchFor(t);
      const id = await bench.add();
      bench.upstream.outcomes = [outcome];
      const result = await push(bench.context, id);
      assert.ok(result.sent && result.outcome === outcome.outcome);
      const now: OutboxRow = await bench.row(id);
      assert.deepEqual({ ...now, ...row }, now);
      const [attempt] = await bench.store.attempts(id);
      // Where no request left, there was no attempt.
      const isAttempt = outcome.outcome !== 'not-sent';
      assert.equal(attempt?.outcome, isAttempt ? outcome.outcome : undefined);
      assert.equal(attempt?.ended_at, isAttempt ? at(0) : undefined);
      assert.equal(now.attempts, isAttempt ? 1 : 0);
    });

  it('an answer that comes after the deadline is left to settle from then on', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    bench.upstream.outcomes = [unknown()];
    bench.upstream.duringCreate = () => bench.clock.advance(3_600_000);
    await push(bench.context, id);
    assert.equal((await bench.row(id)).not_before, at(3_600_000 + SETTLE_MS));
  });

  it('a row that was once ambiguous is looked after, also when it is confirmed or rejected by an answer', async (t) => {
    const bench = benchFor(t);
    for (const outcome of [
      confirmed(5),
      { outcome: 'rejected', httpStatus: 400, reason: 'no', serverTime: null } as const,
    ]) {
      const id = await bench.add({ title: outcome.outcome });
      bench.upstream.outcomes = [unknown(), outcome];
      await push(bench.context, id);
      const again = { from: ['ambiguous'], to: 'ready' } as const;
      await bench.store.move(id, again, { now: bench.clock.now() });
      await push(bench.context, id);
      assert.equal((await bench.row(id)).checks_left, 2);
    }
  });
});

describe('before the first byte of a create', () => {
  it('another process can read the claim: state, attempt, deadline and the highest id that was known', async (t) => {
    const bench = benchFor(t);
    const standing = bench.upstream.publish();
    await bench.sweep();
    const id = await bench.add();
    const before = bench.clock.now();
    let seen: unknown;
    bench.upstream.duringCreate = () => {
      seen = bench.query(
        'SELECT state, attempts, known_max_id, first_sent_at, n, started_at, deadline_at, ended_at FROM outbox JOIN outbox_attempts ON outbox_id = id',
      );
    };
    await push(bench.context, id);
    const iso = (ms: number): string => new Date(ms).toISOString();
    assert.deepEqual(seen, [
      {
        state: 'sending',
        attempts: 1,
        known_max_id: standing.id,
        first_sent_at: iso(before),
        n: 1,
        started_at: iso(before),
        deadline_at: iso(before + CREATE_MS),
        ended_at: null,
      },
    ]);
  });

  it('a claim that cannot be written sends nothing', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const claim = (): never => {
      throw new Error('disk full');
    };
    const store = { ...bench.store, claim };
    await assert.rejects(push({ ...bench.context, store }, id), /disk full/);
    assert.deepEqual(bench.upstream.created, []);
  });

  it('a customer goes as that customer, the owner as the owner', async (t) => {
    const bench = benchFor(t);
    await push(bench.context, await bench.add({ email: 'ada@example.com', full_name: 'Ada' }));
    await push(bench.context, await bench.add({ content: 'Mine.' }));
    const { board, title } = { board: 'ideas', title: 'Dark mode' };
    assert.deepEqual(bench.upstream.created, [
      { board, title, content: 'My eyes hurt at night.', email: 'ada@example.com', full_name: 'Ada' },
      { board, title, content: 'Mine.' },
    ]);
  });
});

describe('the time and the posts an attempt starts from', () => {
  it('belong to the first attempt that may have left a post', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    bench.upstream.outcomes = [{ outcome: 'not-sent', reason: 'refused' }, unknown(), unknown()];
    await push(bench.context, id);
    // Somebody gets tired of waiting and writes it by hand.
    const theirs = bench.upstream.publish();
    bench.clock.advance(3_600_000);
    await bench.sweep();
    const second = new Date(bench.clock.now()).toISOString();
    await push(bench.context, id);
    const { known_max_id, first_sent_at } = await bench.row(id);
    assert.deepEqual({ known_max_id, first_sent_at }, { known_max_id: theirs.id, first_sent_at: second });
    await bench.store.move(id, { from: ['ambiguous'], to: 'ready' }, { now: bench.clock.now() });
    bench.clock.advance(1000);
    const now = bench.clock.now();
    const listedMaxId = theirs.id + 1;
    bench.store.claim({ id, transition: TRANSITIONS.claim, now, deadline: now, listedMaxId });
    assert.partialDeepStrictEqual(await bench.row(id), { known_max_id, first_sent_at: second });
  });
});

describe('an attempt that the rate limit stopped', () => {
  for (const [where, httpStatus] of [
    ['on this side', null],
    ['upstream', 429],
  ] as const)
    it(`${where} is ${httpStatus === null ? 'none' : 'one'}`, async (t) => {
      const bench = benchFor(t);
      const id = await bench.add();
      const retryAt = bench.clock.now() + MINUTE;
      bench.upstream.outcomes = [{ outcome: 'throttled', httpStatus, retryAt, reason: 'slow down' }];
      await push(bench.context, id);
      const attempts = httpStatus === null ? 0 : 1;
      assert.partialDeepStrictEqual(await bench.row(id), {
        state: 'ready',
        attempts,
        not_before: at(MINUTE),
      });
      assert.equal(bench.store.attempts(id).length, attempts);
    });
});

describe('a create that is under way when the sender is to stop', () => {
  it('has eight seconds, and its answer is written down', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const stop = new AbortController();
    const asked: { ms: number; signal: AbortSignal | undefined; wake: () => void }[] = [];
    const sleep = (ms: number, signal?: AbortSignal) =>
      new Promise<void>((wake) => void asked.push({ ms, signal, wake }));
    const seen: boolean[] = [];
    const create = async (_post: object, signal?: AbortSignal): Promise<CreateOutcome> => {
      stop.abort(new Error('stopped'));
      seen.push(signal?.aborted ?? true);
      asked[0]?.wake();
      await new Promise((next) => setImmediate(next));
      seen.push(signal?.aborted ?? false);
      return confirmed(5);
    };
    const client = { ...bench.upstream.client, create };
    const clock = { ...bench.clock, sleep };
    const result = await push({ ...bench.context, client, clock, signal: stop.signal }, id);
    assert.deepEqual([result.sent, seen], [true, [false, true]]);
    assert.deepEqual(new Set(asked.map(({ ms }) => ms)), new Set([8000]));
    assert.ok(
      asked.every(({ signal: waiting }) => waiting?.aborted),
      'nothing is left waiting',
    );
    assert.equal((await bench.row(id)).state, 'confirmed');
  });

  it('is left to the next sender where its answer cannot be written', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const stop = new AbortController();
    bench.upstream.duringCreate = () => stop.abort(new Error('stopped'));
    const endAttempt = (): never => {
      throw new AppError('storage', 'the disk is full');
    };
    const store = { ...bench.store, endAttempt };
    await assert.rejects(push({ ...bench.context, store, signal: stop.signal }, id), { code: 'storage' });
    assert.equal((await bench.row(id)).state, 'sending');
  });
});

describe('a row that is sent before any pass has read the list', () => {
  for (const [order, ids, known] of [
    ['falling order', [9, 5, 3], 9],
    ['any other order', [5, 9, 3], null],
  ] as const)
    it(`knows by a first page in ${order} ${known === null ? 'nothing' : 'which posts stood there before'}`, async (t) => {
      const bench = benchFor(t);
      bench.upstream.posts = ids.map((id) => aPost(id));
      const id = await bench.add();
      await push(bench.context, id);
      assert.equal((await bench.row(id)).known_max_id, known);
    });

  it('knows by an empty list that nothing stood there, and by one it cannot read nothing', async (t) => {
    const unread = { index: 0, id: 5, reason: 'created is missing', body: '{}' };
    for (const [rejects, known] of [
      [[], 0],
      [[unread], null],
    ] as const) {
      const bench = benchFor(t);
      bench.upstream.rejects = [...rejects];
      const id = await bench.add();
      await push(bench.context, id);
      assert.equal((await bench.row(id)).known_max_id, known);
    }
  });

  it('knows nothing by a first page without posts that is not the last', async (t) => {
    const bench = benchFor(t);
    const { page } = bench.upstream.client;
    t.mock.method(bench.upstream.client, 'page', async () => ({ ...(await page('posts', '')), next: '2' }));
    const id = await bench.add();
    await push(bench.context, id);
    assert.equal((await bench.row(id)).known_max_id, null);
  });

  it('looks once in ten minutes, and not where a pass has just looked', async (t) => {
    const bench = benchFor(t);
    const read = async (title: string): Promise<number> => {
      const before = bench.upstream.pagesRead;
      await push(bench.context, await bench.add({ title }));
      return bench.upstream.pagesRead - before;
    };
    assert.deepEqual([await read('1'), await read('2')], [1, 0]);
    bench.clock.advance(10 * MINUTE - 1);
    assert.equal(await read('3'), 0);
    bench.clock.advance(1);
    assert.equal(await read('4'), 1);
    bench.clock.advance(HOUR);
    await bench.sweep();
    assert.equal(await read('5'), 0);
  });

  it('reads again if the clock was set back since the last read', async (t) => {
    const bench = benchFor(t);
    bench.upstream.posts = [aPost(2000)];
    await push(bench.context, await bench.add());
    bench.clock.set(bench.clock.now() - HOUR);
    bench.upstream.posts = [aPost(2003), aPost(2000)];
    const id = await bench.add({ title: 'Light mode' });
    await push(bench.context, id);
    assert.equal((await bench.row(id)).known_max_id, 2003);
  });
});

describe('a sender', () => {
  it('lets the next row go once this one is known to have arrived, and not while that is unclear', async (t) => {
    const bench = benchFor(t);
    let gone = 0;
    const sent = async (title: string): Promise<number> => {
      await push(bench.context, await bench.add({ title }), async () => void gone++);
      return gone;
    };
    bench.upstream.outcomes = [confirmed(5), unknown()];
    assert.deepEqual([await sent('One'), await sent('Two')], [1, 1]);
  });

  it('claims no further rows while it stops', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const stopped = { ...bench.context, signal: AbortSignal.abort() };
    await assert.rejects(push(stopped, id), { name: 'AbortError' });
    const stop = new AbortController();
    bench.upstream.beforePage = () => stop.abort();
    await assert.rejects(push({ ...bench.context, signal: stop.signal }, id), { name: 'AbortError' });
    assert.partialDeepStrictEqual(await bench.row(id), { state: 'ready', attempts: 0 });
    assert.deepEqual(bench.upstream.created, []);
  });
});

describe('while the upstream wants no calls', () => {
  it('no row is claimed', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const gate = createRateLimit(bench.clock);
    gate.closeUntil(bench.clock.now() + 1000);
    assert.deepEqual(await push({ ...bench.context, gate }, id), { sent: false, reason: 'rate limit' });
    assert.partialDeepStrictEqual(await bench.row(id), { state: 'ready', attempts: 0 });
    assert.deepEqual([bench.upstream.created, bench.upstream.pagesRead], [[], 0]);
  });
});

describe('a post that already confirms a row', () => {
  it('cannot confirm another: the answer that names it is unclear', async (t) => {
    const bench = benchFor(t);
    const [one, other] = [await bench.add(), await bench.add({ title: 'Light mode' })];
    bench.upstream.outcomes = [confirmed(5), confirmed(5)];
    await push(bench.context, one);
    const told = await push(bench.context, other);
    assert.equal(told.sent && told.outcome, 'unknown');
    const row = await bench.row(other);
    assert.equal(row.state, 'ambiguous');
    assert.match(row.last_error ?? '', /names post 5, which confirms another row/);
    assert.equal((await bench.store.attempts(other)).at(-1)?.outcome, 'unknown');
  });

  it('cannot be one that the mirror knew before the row was sent', async (t) => {
    const bench = benchFor(t);
    const { id } = await namedOlder(bench);
    const row = await bench.row(id);
    assert.deepEqual([row.state, row.post_id], ['ambiguous', null]);
    assert.match(row.last_error ?? '', /names post \d+, which stood there before this row was sent/);
  });

  it('may be one that a pass saw in the very moment in which the row was sent', async (t) => {
    const bench = benchFor(t);
    const post = bench.upstream.publish();
    await bench.sweep();
    bench.clock.set(bench.clock.now() - 1000);
    const id = await bench.add();
    bench.upstream.outcomes = [confirmed(post.id)];
    await push(bench.context, id);
    assert.partialDeepStrictEqual(await bench.row(id), { state: 'confirmed', post_id: post.id });
  });

  it('cannot be one that the mirror came to know while the row waited', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    bench.clock.advance(MINUTE);
    const older = bench.upstream.publish({ title: 'Of somebody else' });
    await bench.sweep();
    bench.upstream.outcomes = [confirmed(older.id)];
    await push(bench.context, id);
    assert.partialDeepStrictEqual(await bench.row(id), { state: 'ambiguous', post_id: null });
  });

  it('leaves a row to a person where the service named it and nothing in the list is clearly the row’s', async (t) => {
    const bench = benchFor(t);
    const [one, other] = [await bench.add(), await bench.add({ title: 'Light mode' })];
    const post = bench.upstream.publish();
    bench.upstream.outcomes = [confirmed(post.id), confirmed(post.id)];
    await push(bench.context, one);
    await push(bench.context, other);
    await drive(bench.context, ALL);
    const { state, attempts, candidates } = await bench.row(other);
    assert.deepEqual(
      { state, attempts, candidates },
      { state: 'uncertain', attempts: 1, candidates: [post.id] },
    );
    assert.equal((await bench.row(one)).state, 'confirmed');
  });

  it('is refused by the store as well, by every transition to it', async (t) => {
    const bench = benchFor(t);
    const [one, other] = [await bench.add(), await bench.add({ title: 'Light mode' })];
    bench.upstream.outcomes = [confirmed(5)];
    await push(bench.context, one);
    const transition = TRANSITIONS.found;
    assert.equal(await bench.store.move(other, transition, { now: bench.clock.now(), postId: 5 }), null);
    assert.equal((await bench.row(other)).state, 'ready');
  });
});

describe('answers that name posts in a way that cannot be read', () => {
  const unreadable = () => ({ ...unknown(), isIdUnreadable: true as const });

  it('stop sending at the third in a row, with a sentence, until the next start', async (t) => {
    const bench = benchFor(t);
    bench.upstream.outcomes = [
      unreadable(),
      unreadable(),
      confirmed(7),
      unreadable(),
      unreadable(),
      unreadable(),
    ];
    for (let n = 0; n < 5; n++) await push(bench.context, await bench.add({ title: `Wish ${n}` }));
    assert.equal(bench.store.paused(), null, 'one that could be read was between them');
    await push(bench.context, await bench.add({ title: 'Wish 5' }));
    assert.match(bench.store.paused() ?? '', /numbers of posts that cannot be read/);
    await endPause(bench.context, false);
    assert.notEqual(bench.store.paused(), null, 'a read tells nothing about it');
    await endPause(bench.context);
    assert.equal(bench.store.paused(), null);
  });
});

describe('a page of a proxy in the place of an answer', () => {
  const diverted = { outcome: 'not-sent', reason: 'a page of a proxy', httpStatus: 404 } as const;

  it('leaves the row ready, however often, while no other row arrives', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    for (let n = 0; n < 6; n++) {
      bench.upstream.outcomes = [diverted];
      await push(bench.context, id);
      bench.clock.advance(10 * MINUTE);
    }
    assert.partialDeepStrictEqual(await bench.row(id), { state: 'ready', attempts: 6 });
  });

  it('rejects the row at the fourth time where others arrive meanwhile', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    for (let n = 0; n < 4; n++) {
      bench.upstream.outcomes = [diverted];
      await push(bench.context, id);
      bench.clock.advance(10 * MINUTE);
      await push(bench.context, await bench.add({ title: `Another ${n}` }));
    }
    assert.equal((await bench.row(id)).state, 'rejected');
  });
});

describe('an overloaded service', () => {
  it('halves the pace by each 503, and posts that arrive win it back', async (t) => {
    const bench = benchFor(t);
    const context = { ...bench.context, perMinute: 600 };
    const send = async (title: string) => {
      bench.clock.advance(MINUTE);
      await push(context, await bench.add({ title }));
      return currentPace(context);
    };
    bench.upstream.outcomes = [1, 2].map(() => ({ ...unknown(), httpStatus: 503 }));
    assert.deepEqual([await send('One'), await send('Two')], [300, 150]);
    assert.ok((await send('Three')) > 150);
  });
});
