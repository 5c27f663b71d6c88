import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import type { PostText } from '../../src/outbox/decide/types.ts';
import { pauseBatch, resumeBatch } from '../../src/outbox/person.ts';
import { retryRefused } from '../../src/outbox/send/pause.ts';
import { push } from '../../src/outbox/send/push.ts';
import { backoff } from '../../src/outbox/send/settle.ts';
import { refusedText } from '../../src/outbox/store/refused.ts';
import { type Bench, benchFor, CREATE_MS, HOUR, MINUTE, reconcileRow, SETTLE_MS } from './bench.ts';
import { ALL, drive } from './drive.ts';
import { confirmed, unknown } from './scripted-upstream.ts';

describe('a row is not claimed', () => {
  it('when it is gone, not due, or its twin is under way', async (t) => {
    const bench = benchFor(t);
    const reason = async (id: number) => {
      const { clock, store } = bench;
      const result = await push(bench.context, id);
      const claim = {
        id,
        transition: TRANSITIONS.claim,
        now: clock.now(),
        deadline: clock.now(),
        listedMaxId: null,
      };
      // The store says the same to whoever did not ask before.
      assert.deepEqual(await store.claim(claim), { refused: result.sent ? 'sent' : result.reason });
      return result.sent ? 'sent' : result.reason;
    };
    assert.equal(await reason(404), 'gone');
    const [first, twin] = [await bench.add(), await bench.add()];
    bench.upstream.outcomes = [{ outcome: 'not-sent', reason: 'refused' }, unknown()];
    await push(bench.context, first);
    assert.equal(await reason(first), 'not due');
    bench.clock.advance(MINUTE);
    await push(bench.context, first);
    assert.equal(await reason(first), 'gone');
    assert.equal(await reason(twin), 'same content under way');
    assert.equal(bench.upstream.created.length, 2);
  });

  it('while sending is paused', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    await bench.store.setPaused('the token was refused');
    assert.deepEqual(await push(bench.context, id), { sent: false, reason: 'paused' });
    assert.deepEqual(bench.upstream.created, []);
  });

  it('by a second process that asks at the same time', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const claim = {
      id,
      transition: TRANSITIONS.claim,
      now: bench.clock.now(),
      deadline: bench.clock.now(),
      listedMaxId: null,
    };
    const claims = [await bench.store.claim(claim), await bench.another().claim(claim)];
    assert.deepEqual(
      claims.map((claimed) => 'refused' in claimed),
      [false, true],
    );
  });
});

describe('rows with the same words', () => {
  it('of another person, or of the owner, wait for each other too: one post may fit both', async (t) => {
    const bench = benchFor(t);
    const [one, other] = [await bench.add({ email: 'ada@example.com', full_name: 'Ada' }), await bench.add()];
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, one);
    assert.deepEqual(await push(bench.context, other), { sent: false, reason: 'same content under way' });
  });

  it('both arrive, one after the other, although the first was unclear', async (t) => {
    const bench = benchFor(t);
    const ids = [await bench.add(), await bench.add()];
    bench.upstream.outcomes = [unknown()];
    bench.upstream.duringCreate = () => void bench.upstream.publish();
    await drive(bench.context, ALL);
    const posts = await Promise.all(ids.map(async (id) => (await bench.row(id)).post_id));
    assert.equal(new Set(posts).size, 2);
    assert.equal(bench.upstream.created.length, 2);
  });

  it('of another batch are reconciled as well: otherwise the row would wait for ever', async (t) => {
    const bench = benchFor(t);
    const [theirs, ours] = [await bench.add({}, 'theirs'), await bench.add({}, 'ours')];
    bench.upstream.outcomes = [unknown()];
    bench.upstream.duringCreate = () => void bench.upstream.publish();
    await push(bench.context, theirs);
    await drive(bench.context, { batch: 'ours', perMinute: 60 });
    assert.equal((await bench.row(ours)).state, 'confirmed');
    assert.ok(bench.clock.slept.every((ms) => ms === 0 || ms >= 1));
    assert.ok(bench.clock.slept.length < 1000, 'it span instead of sleeping');
  });
});

describe('a refused token', () => {
  it('pauses sending without losing rows, and a new token resumes it', async (t) => {
    const bench = benchFor(t);
    const ids = [await bench.add(), await bench.add({ title: 'Light mode' })];
    bench.upstream.outcomes = [{ outcome: 'unauthorised', httpStatus: 401, reason: 'who are you' }];
    await assert.rejects(drive(bench.context, ALL), { code: 'unauthorised' });
    assert.equal(bench.upstream.created.length, 1, 'nothing goes out after the refusal');
    assert.match((await bench.store.paused()) ?? '', /401/);
    assert.deepEqual((await bench.store.counts(null)).ready, 2);
    await drive(bench.context, ALL);
    assert.equal(await bench.store.paused(), null);
    for (const id of ids) assert.equal((await bench.row(id)).state, 'confirmed');
  });
});

describe('a board that may not be posted to (403)', () => {
  const FORBIDDEN = { outcome: 'unauthorised', httpStatus: 403, reason: 'not here' } as const;
  /** The board `ideas` refuses these titles; returns all that were sent there. */
  const refuseIdeas = (bench: Bench, isRefused = (_title: string) => true): string[] => {
    const tried: string[] = [];
    bench.upstream.duringCreate = (asked) => {
      const { board, title } = asked as PostText;
      if (board === 'ideas') tried.push(title);
      bench.upstream.outcomes = board === 'ideas' && isRefused(title) ? [FORBIDDEN] : [];
    };
    return tried;
  };
  const driveFor = async ({ clock, context }: Bench, ms: number): Promise<void> => {
    const stop = new AbortController();
    const end = clock.now() + ms;
    clock.meanwhile = async () => {
      if (clock.now() >= end) stop.abort(new AppError('interrupted', 'that is enough'));
    };
    await assert.rejects(drive({ ...context, signal: stop.signal }, ALL), { code: 'interrupted' });
  };

  it('lets rows of other boards pass, and its own rows are tried less and less often', async (t) => {
    const bench = benchFor(t);
    for (const title of ['One', 'Two', 'Three']) await bench.add({ title });
    const bugs = [await bench.add({ board: 'bugs' }), await bench.add({ board: 'bugs', title: 'Slow' })];
    const tried = refuseIdeas(bench);
    await driveFor(bench, 20 * MINUTE);
    for (const id of bugs) {
      const row = await bench.row(id);
      assert.equal(row.state, 'confirmed');
      assert.ok(Date.parse(row.changed_at) < Date.parse(row.created_at) + MINUTE);
    }
    assert.deepEqual([...tried].slice(0, 3), ['One', 'Two', 'Three'], 'each time another one');
    assert.ok(tried.length >= 5 && tried.length <= 8, `${tried.length} attempts in 20 minutes`);
    assert.equal(bench.store.counts(null).ready, 3);
    assert.equal(bench.store.paused(), null);
    const [board] = bench.store.refusedBoards();
    assert.match(board ? refusedText(board) : '', /to the board ideas with 403 since 2026-01-01T00:00:/);
    bench.upstream.duringCreate = () => {};
    await drive(bench.context, ALL);
    assert.equal(bench.store.counts(null).confirmed, 5);
    assert.deepEqual(bench.store.refusedBoards(), []);
  });

  it('counts one refusal for rows that were on their way together', async (t) => {
    const bench = benchFor(t);
    const ids = [await bench.add(), await bench.add({ title: 'Light mode' })];
    const { upstream, clock } = bench;
    upstream.outcomes = [FORBIDDEN, FORBIDDEN];
    const both = Promise.withResolvers<void>();
    upstream.duringCreate = async () => {
      if (upstream.created.length === ids.length) both.resolve();
      await both.promise;
    };
    await Promise.all(ids.map((id) => push(bench.context, id)));
    const [board] = bench.store.refusedBoards();
    assert.deepEqual([board?.refusals, Date.parse(board?.until ?? '') - clock.now()], [1, 30_000]);
  });

  it('waits for five minutes at most, after any number of refusals', async (t) => {
    const bench = benchFor(t);
    const { store, clock, upstream } = bench;
    const past = new Date(clock.now() - 1).toISOString();
    for (const [refusals, ms] of [
      [3, 240_000],
      [4, 300_000],
      [40, 300_000],
    ] as const) {
      const id = await bench.add({ title: `After ${refusals}` });
      const before = { since: past, refused_at: past, until: past, refusals };
      store.refuseBoard({ board: 'ideas', kind: 'owner', ...before });
      upstream.outcomes = [FORBIDDEN];
      await push(bench.context, id);
      const [board] = store.refusedBoards();
      const left = Date.parse(board?.until ?? '') - clock.now();
      assert.deepEqual([board?.since, board?.refusals, left], [past, refusals + 1, ms]);
    }
  });

  it('resets its count of refusals after a post that it took', async (t) => {
    const bench = benchFor(t);
    const ids = [await bench.add(), await bench.add({ title: 'Light' }), await bench.add({ title: 'Dim' })];
    const outcomes = [FORBIDDEN, confirmed(5), FORBIDDEN];
    for (const [n, id] of ids.entries()) {
      bench.upstream.outcomes = outcomes.slice(n, n + 1);
      await push(bench.context, id);
      bench.clock.advance(30_000);
    }
    const [board] = bench.store.refusedBoards();
    assert.equal(board?.refusals, 1);
  });

  it('gets posts again if the service refused one row only, which waits longer each time', async (t) => {
    const bench = benchFor(t);
    const odd = await bench.add({ title: '<script>' });
    for (let n = 0; n < 20; n++) await bench.add({ title: `Idea ${n}` });
    const tried = refuseIdeas(bench, (title) => title === '<script>');
    await driveFor(bench, 20 * MINUTE);
    assert.equal(bench.store.counts(null).confirmed, 20);
    assert.equal((await bench.row(odd)).state, 'ready');
    assert.ok(tried.filter((title) => title === '<script>').length <= 8);
  });

  it('gets its only row half a minute after the permission came', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    bench.upstream.outcomes = [FORBIDDEN];
    await drive(bench.context, ALL);
    const { state, changed_at, created_at } = await bench.row(id);
    assert.equal(state, 'confirmed');
    assert.equal(Date.parse(changed_at) - Date.parse(created_at), 30_000);
  });

  it('is tried without waiting by a sender that starts, and rows of customers apart from the owner’s', async (t) => {
    const bench = benchFor(t);
    const [first, second] = [await bench.add(), await bench.add({ title: 'Light mode' })];
    const customer = await bench.add({ email: 'ada@example.com', full_name: 'Ada' });
    bench.upstream.outcomes = [FORBIDDEN];
    await push(bench.context, first);
    assert.deepEqual(await push(bench.context, second), { sent: false, reason: 'not due' });
    assert.partialDeepStrictEqual(await push(bench.context, customer), { outcome: 'confirmed' });
    retryRefused(bench.context);
    assert.partialDeepStrictEqual(await push(bench.context, second), { outcome: 'confirmed' });
  });
});

describe('an unclear row', () => {
  it('is reconciled when it has settled, and waits if the list refuses the token', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    bench.upstream.outcomes = [unknown()];
    bench.upstream.duringCreate = () => {
      bench.upstream.publish();
      bench.upstream.readError = new AppError('unauthorised', 'who are you');
    };
    const began = bench.clock.now();
    for (let n = 0; n < 2; n++) await assert.rejects(drive(bench.context, ALL), { code: 'unauthorised' });
    assert.equal((await bench.row(id)).state, 'ambiguous');
    assert.equal(bench.clock.now() - began, CREATE_MS + SETTLE_MS);
    bench.upstream.readError = null;
    await drive(bench.context, ALL);
    assert.equal((await bench.row(id)).state, 'confirmed');
    assert.equal(bench.upstream.created.length, 1);
  });
});

describe('safe retries', () => {
  it('wait as long as the upstream asked for', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const retryAt = bench.clock.now() + 7 * MINUTE;
    bench.upstream.outcomes = [{ outcome: 'throttled', httpStatus: 429, retryAt, reason: 'slow down' }];
    const times: number[] = [];
    bench.upstream.duringCreate = () => void times.push(bench.clock.now());
    await drive(bench.context, ALL);
    assert.equal((await bench.row(id)).state, 'confirmed');
    assert.equal(times[1], retryAt);
  });

  it('wait the longer the older the row is: two seconds at first, never more than five minutes', async (t) => {
    const bench = benchFor(t);
    const row = await bench.row(await bench.add());
    const born = Date.parse(row.created_at);
    for (const [waited, most] of [
      [0, 2000],
      [MINUTE, 6000],
      [HOUR, 300_000],
    ] as const) {
      assert.equal(
        backoff(row, born + waited, () => 0),
        most / 2,
      );
      assert.equal(
        backoff(row, born + waited, () => 1),
        most,
      );
    }
  });

  it('are never counted as unclear attempts', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    bench.upstream.outcomes = Array.from(
      { length: 20 },
      () => ({ outcome: 'not-sent', reason: 'refused' }) as const,
    );
    await drive(bench.context, ALL);
    const { state, attempts, was_ambiguous } = await bench.row(id);
    assert.deepEqual(
      { state, attempts, was_ambiguous },
      { state: 'confirmed', attempts: 1, was_ambiguous: false },
    );
    assert.ok(bench.clock.now() < Date.parse('2026-01-01T00:00:00Z') + 2 * HOUR);
  });
});

describe('a row that is about to be sent again', () => {
  it('is confirmed if its post has come into the mirror meanwhile', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, id);
    await bench.store.move(id, TRANSITIONS.sendAgain, { now: bench.clock.now(), notFound: 1 });
    const late = bench.upstream.publish();
    await bench.sweep();
    assert.deepEqual(await push(bench.context, id), { sent: false, reason: 'adopted' });
    const { state, post_id, url, checks_left } = await bench.row(id);
    assert.deepEqual(
      { state, post_id, url, checks_left },
      { state: 'confirmed', post_id: late.id, url: `http://upstream.test${late.url}`, checks_left: 2 },
    );
  });

  for (const [why, isPaused] of [
    ['soon after the list was read', false],
    ['because its import was paused then', true],
  ] as const)
    it(`is looked for once more where it could not go out ${why}`, async (t) => {
      const bench = benchFor(t);
      const id = await bench.add();
      const { batch } = await bench.row(id);
      bench.upstream.outcomes = [unknown()];
      await push(bench.context, id);
      bench.clock.advance(HOUR);
      assert.equal(await reconcileRow(bench.context, id), 'send again');
      if (isPaused) pauseBatch(bench, batch);
      const late = bench.upstream.publish();
      bench.clock.advance(HOUR);
      if (isPaused) resumeBatch(bench, batch);
      assert.deepEqual(await push(bench.context, id), { sent: false, reason: 'not due' });
      assert.equal(await reconcileRow(bench.context, id), 'found');
      assert.partialDeepStrictEqual(await bench.row(id), { post_id: late.id, attempts: 1, not_found: 0 });
    });

  it('is sent if the second read shows no post either', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, id);
    bench.clock.advance(HOUR);
    await reconcileRow(bench.context, id);
    bench.clock.advance(HOUR);
    await push(bench.context, id);
    assert.equal(await reconcileRow(bench.context, id), 'send again');
    assert.partialDeepStrictEqual(await push(bench.context, id), { sent: true, outcome: 'confirmed' });
  });

  it('is sent in its turn, although at one post a minute the turn takes longer than settling', async (t) => {
    const bench = benchFor(t);
    const context = { ...bench.context, settleMs: 1000 };
    const id = await bench.add();
    bench.upstream.outcomes = [unknown()];
    await push(context, id);
    bench.clock.advance(HOUR);
    assert.equal(await reconcileRow(context, id), 'send again');
    bench.clock.advance(2 * MINUTE);
    assert.partialDeepStrictEqual(await push(context, id), { sent: true, outcome: 'confirmed' });
  });

  for (const [settleMs, longest] of [
    [1000, 3 * MINUTE],
    [MINUTE, 5 * MINUTE],
  ] as const)
    it(`goes out up to ${longest / MINUTE} minutes after the list was read where it settles for ${settleMs} ms`, async (t) => {
      for (const [after, goes] of [
        [longest, true],
        [longest + 1, false],
        [-HOUR, false],
      ] as const) {
        const bench = benchFor(t);
        const context = { ...bench.context, settleMs };
        const id = await bench.add();
        bench.upstream.outcomes = [unknown()];
        await push(context, id);
        bench.clock.advance(HOUR);
        assert.equal(await reconcileRow(context, id), 'send again');
        bench.clock.set(bench.clock.now() + after);
        assert.equal((await push(context, id)).sent, goes, `${after} ms later`);
        assert.equal((await bench.row(id)).state, goes ? 'confirmed' : 'ambiguous');
      }
    });

  it('is not confirmed by an older post that the mirror had not seen before', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    bench.upstream.publish({ created: '2025-12-29T20:00:00Z' });
    bench.upstream.outcomes = [unknown(), confirmed(77)];
    await push(bench.context, id);
    await bench.store.move(id, TRANSITIONS.sendAgain, { now: bench.clock.now(), notFound: 1 });
    await bench.sweep();
    await push(bench.context, id);
    assert.equal((await bench.row(id)).post_id, 77);
  });
});

describe('the next sender in line', () => {
  it('gives up its place together with the lock', (t) => {
    const bench = benchFor(t);
    const [service, command] = [bench.another(), bench.store];
    const lock = command.lockSender();
    assert.equal(service.lockSenderFirst().ok, false);
    assert.equal(command.isSenderWanted(), true);
    assert.ok(lock.ok);
    lock.release();
    assert.equal(service.lockSenderFirst().ok, true);
    assert.equal(command.isSenderWanted(), false);
  });
});
