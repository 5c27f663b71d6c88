import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { Secret } from '../../src/base/secret.ts';
import type { Change } from '../../src/changes/change.ts';
import { openChangeFeed } from '../../src/changes/feed.ts';
import type { Webhook } from '../../src/contract/telling.ts';
import { closeAfter } from '../../src/db/sql.ts';
import { pruneChanges } from '../../src/mirror/log/change-log.ts';
import {
  deliver,
  EVENT_TYPES,
  isMeant,
  LONGEST_RETRY_MS,
  RETRY_MS,
  sendTestMessage,
} from '../../src/webhooks/deliver.ts';
import type { ReceiverAnswer } from '../../src/webhooks/send.ts';
import { openWebhookStore, troubledWebhooks } from '../../src/webhooks/store.ts';
import { fakeClock } from '../support/clock.ts';
import { openTestMirror } from '../support/mirror.ts';
import { aComment, aPost, minute } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';

const FIRST = {
  title: 'One',
  votes_count: 1,
  status: { id: 1, name: 'Open', color: '#000000' },
  board: { id: 1, name: 'Mobile', url: '/b/mobile' },
};
const DONE = { id: 2, name: 'Completed', color: '#00ff00' };

/** A mirror with one post, an endpoint that answers as it is told, and a clock that only moves when it is told to. */
function openBench(t: TestContext, wishes: Partial<Webhook> = {}) {
  const mirror = openTestMirror();
  let minutes = 0;
  const show = (post: Parameters<typeof aPost>[1]): void =>
    void sweep(mirror.store, 'posts', [aPost(1, { ...FIRST, ...post })], ++minutes);
  show({});
  const [feed, store, clock] = [openChangeFeed(mirror), openWebhookStore(mirror), fakeClock()];
  const answers: number[] = [];
  const bodies: string[] = [];
  const post = async ({ body }: { body: string }): Promise<ReceiverAnswer> => {
    const status = answers.shift() ?? 204;
    bodies.push(body);
    return { status, ms: 1, error: status < 300 ? null : `it answered ${status}`, waitMs: null };
  };
  const sender = { post, close: async () => undefined };
  const stop = new AbortController();
  const { signal } = stop;
  const deps = { feed, store, sender, clock, signal, mirrorId: 'abcdefgh-1', base: null, random: () => 0 };
  const endpoint: Webhook = {
    ...{ id: 'one', url: new Secret('https://example.com/hook'), host: 'example.com', key: null },
    ...{ format: 'standard', types: null, boards: null, rule: null, personal: false },
    ...wishes,
  };
  store.state(endpoint.id);
  t.after(() => {
    store.close();
    feed.close();
    mirror.dispose();
  });
  /** As the nightly maintenance does it, so many days after the start. */
  const prune = (days: number): void => {
    const db = new Database(mirror.path);
    pruneChanges(db, { keepMs: 86_400_000, now: minute(0) + days * 86_400_000 });
    db.close();
  };
  const troubled = (): string[] =>
    closeAfter(new Database(mirror.path), (db) => troubledWebhooks(db).map(({ id }) => id));
  const types = (): string[] => bodies.map((body) => String(Reflect.get(JSON.parse(body), 'type')));
  const told = { mirror, deps, endpoint, store, clock, stop, show, prune, troubled, answers, bodies, types };
  return { ...told, deliver: () => deliver(deps, endpoint) };
}

describe('a change that an endpoint did not take', () => {
  it('is told again although its post is on another board by then', async (t) => {
    const bench = openBench(t, { boards: ['mobile'] });
    bench.show({ votes_count: 2 });
    bench.answers.push(503);
    const { retryMs } = await bench.deliver();
    bench.show({ votes_count: 2, board: { id: 2, name: 'Internal', url: '/b/internal' } });
    bench.clock.advance(retryMs ?? 0);
    await bench.deliver();
    assert.deepEqual(bench.types(), ['post.votes_changed', 'post.votes_changed', 'post.moved']);
  });

  it('is told again without those before it that were taken', async (t) => {
    const bench = openBench(t);
    for (const votes_count of [2, 3]) bench.show({ votes_count });
    bench.answers.push(204, 503);
    const { delivered, retryMs } = await bench.deliver();
    bench.clock.advance(retryMs ?? 0);
    assert.deepEqual([delivered, (await bench.deliver()).delivered], [1, 1]);
    const votes = bench.bodies.map((body) => JSON.parse(body).data.after.votes_count);
    assert.deepEqual(votes, [2, 3, 3]);
  });

  it('is told again although the status of its rule has another name by then', async (t) => {
    const bench = openBench(t, { rule: { field: 'status', operator: '=', value: 'Completed' } });
    bench.show({ status: DONE });
    bench.answers.push(503);
    const { retryMs } = await bench.deliver();
    bench.show({ status: { ...DONE, name: 'Shipped' } });
    bench.clock.advance(retryMs ?? 0);
    await bench.deliver();
    assert.deepEqual(bench.types(), ['post.status_changed', 'post.status_changed']);
    assert.equal(bench.bodies[0]?.includes('"after":{"status_id":2,"status":"Completed"}'), true);
  });
});

describe('an endpoint', () => {
  it('gets the types it asked for, or those for people, and its position passes the others', async (t) => {
    const [some, usual] = [openBench(t, { types: ['post.moved'] }), openBench(t)];
    for (const { show } of [some, usual]) {
      show({ comments_count: 5 });
      show({ votes_count: 2, comments_count: 5 });
    }
    assert.deepEqual([(await some.deliver()).delivered, some.types()], [0, []]);
    assert.deepEqual([(await usual.deliver()).delivered, usual.types()], [1, ['post.votes_changed']]);
    for (const { store } of [some, usual]) assert.equal(store.lag(store.state('one').position), 0);
  });

  it('hears by default of what people want to be told, and is tried again as Standard Webhooks proposes', () => {
    const post = [
      'created',
      'edited',
      'status_changed',
      'votes_changed',
      'moved',
      'deleted',
      'restored',
      'erased',
    ];
    const comment = ['created', 'edited', 'deleted', 'restored'];
    assert.deepEqual(EVENT_TYPES, [
      ...post.map((what) => `post.${what}`),
      ...comment.map((what) => `comment.${what}`),
      ...['outbox.sent', 'outbox.rejected', 'outbox.needs_decision'],
      ...['sync.held', 'sync.failed', 'sync.recovered'],
    ]);
    const seconds = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
    assert.deepEqual(
      RETRY_MS,
      seconds.map((wait) => wait * 1000),
    );
  });

  it('with a rule is told of the change that makes it true, and not of the others', async (t) => {
    const bench = openBench(t, { rule: { field: 'votes', operator: '>=', value: '5' } });
    for (const votes_count of [2, 5, 6]) bench.show({ votes_count });
    assert.equal((await bench.deliver()).delivered, 1);
    assert.match(bench.bodies[0] ?? '', /"after":\{"votes_count":5\}/);
    assert.equal(bench.store.lag(bench.store.state('one').position), 0);
  });

  it('of some boards is told of no other', async (t) => {
    const [ours, other] = [openBench(t, { boards: ['mobile'] }), openBench(t, { boards: ['web'] })];
    for (const { show } of [ours, other]) show({ votes_count: 2 });
    assert.deepEqual([(await ours.deliver()).delivered, (await other.deliver()).delivered], [1, 0]);
  });

  it('that wants no more messages is not tried again', async (t) => {
    const bench = openBench(t);
    bench.show({ votes_count: 2 });
    bench.answers.push(410);
    const { retryMs, disabledWhy } = await bench.deliver();
    assert.deepEqual([retryMs, disabledWhy], [null, 'it answered 410: it wants no more messages']);
    bench.clock.advance(86_400_000);
    assert.equal((await bench.deliver()).delivered, 0);
    assert.equal(bench.bodies.length, 1);
  });

  it('gets the author of a comment, not the author of its post', async (t) => {
    const bench = openBench(t, { personal: true });
    const author = { ...wire.comment.creator, id: 77, name: 'Kim Lee', email: 'kim@example.com' };
    const post = { ...wire.comment.post, id: 1 };
    const comments = [aComment(4, { post }), aComment(5, { post, creator: author })];
    for (const known of [1, 2]) sweep(bench.mirror.store, 'comments', comments.slice(0, known), known);
    await bench.deliver();
    const { type, data } = JSON.parse(bench.bodies[0] ?? '{}');
    assert.deepEqual([type, data.author], ['comment.created', { name: 'Kim Lee', email: 'kim@example.com' }]);
  });

  it('is tried again at once where its wait was set by a clock that was ahead', async (t) => {
    const bench = openBench(t);
    const now = bench.clock.now();
    bench.show({ votes_count: 2 });
    bench.answers.push(503);
    bench.clock.set(now + 2 * LONGEST_RETRY_MS);
    assert.equal((await bench.deliver()).delivered, 0);
    bench.clock.set(now);
    assert.equal((await bench.deliver()).delivered, 1);
  });

  it('waits up to a tenth longer, so that endpoints that failed together are not tried together', async (t) => {
    const bench = openBench(t);
    bench.show({ votes_count: 2 });
    bench.answers.push(503);
    const { retryMs } = await deliver({ ...bench.deps, random: () => 1 }, bench.endpoint);
    assert.equal(retryMs, 5500);
    bench.clock.advance(5499);
    assert.deepEqual([(await bench.deliver()).retryMs, bench.bodies.length], [1, 1], 'and not before');
    bench.clock.advance(1);
    assert.equal((await bench.deliver()).delivered, 1);
  });

  it('is told nothing more once the service is to stop', async (t) => {
    const bench = openBench(t);
    bench.show({ votes_count: 2 });
    bench.stop.abort();
    await assert.rejects(bench.deliver(), { name: 'AbortError' });
    assert.deepEqual(bench.bodies, []);
  });

  it('has a test among its deliveries, under no change', async (t) => {
    const bench = openBench(t);
    bench.answers.push(500);
    await sendTestMessage(bench.deps, bench.endpoint);
    const [noted] = bench.store.deliveries('one', 1);
    assert.deepEqual(
      [noted?.change, noted?.type, noted?.status, noted?.error],
      [0, 'webhook.test', 500, 'it answered 500'],
    );
  });
});

describe('a rule', () => {
  const change = (before: object | undefined, after: object) => ({ before, after }) as unknown as Change;

  it('compares numbers with each of its signs', () => {
    const held = (operator: NonNullable<Webhook['rule']>['operator']): number[] =>
      [9, 10, 11].filter((votes) =>
        isMeant(change(undefined, { votes_count: votes }), { field: 'votes', operator, value: '10' }),
      );
    const signs = ['=', '!=', '>', '>=', '<', '<='] as const;
    assert.deepEqual(signs.map(held), [[10], [9, 11], [11], [10, 11], [9], [9, 10]]);
  });

  it('holds for nothing that was not there before, and for a name in any case', () => {
    const other = { field: 'status', operator: '!=', value: 'COMPLETED' } as const;
    assert.equal(isMeant(change(undefined, { status: 'Open' }), other), true);
    assert.equal(isMeant(change({ status: null }, { status: 'Open' }), other), true);
    assert.equal(isMeant(change({ status: 'Open' }, { status: 'Planned' }), other), false);
    assert.equal(isMeant(change({ status: 'Completed' }, { status: 'completed' }), other), false);
    const board = { field: 'board', operator: '=', value: 'Mobile' } as const;
    assert.equal(isMeant(change({ board: 'Web' }, { board: 'mobile' }), board), true);
  });
});

describe('a change that is older than changes are kept', () => {
  it('is kept for an endpoint that is still tried', async (t) => {
    const bench = openBench(t);
    for (const votes_count of [2, 3]) bench.show({ votes_count });
    bench.answers.push(503);
    const { retryMs } = await bench.deliver();
    bench.prune(30);
    assert.equal(bench.store.state('one').lost, 0);
    bench.clock.advance(retryMs ?? 0);
    assert.equal((await bench.deliver()).delivered, 2);
  });

  it('is lost for a disabled endpoint, which reports how many it missed and continues after them', async (t) => {
    const bench = openBench(t);
    for (const votes_count of [2, 3, 4, 5]) bench.show({ votes_count });
    bench.answers.push(410);
    await bench.deliver();
    bench.prune(30);
    assert.equal(bench.store.state('one').lost, 3);
    bench.store.enable('one');
    const { delivered, lost } = await bench.deliver();
    assert.deepEqual([delivered, lost, bench.store.state('one').lost], [1, 3, 0]);
    const [, missed] = bench.store.deliveries('one', 2);
    assert.deepEqual(
      [missed?.type, missed?.error],
      ['webhook.lost', 'it can no longer be told of 3 changes up to 4: CHANGES_KEEP was over'],
    );
  });

  it('is kept thirty days longer at most', async (t) => {
    const bench = openBench(t);
    for (const votes_count of [2, 3, 4]) bench.show({ votes_count });
    bench.prune(32);
    assert.equal(bench.store.state('one').lost, 2);
  });
});

describe('what is known of an endpoint', () => {
  it('is since when it fails and when it is tried again, until it takes a change or a person says so', (t) => {
    const { store, show, troubled } = openBench(t);
    const [first, second, later] = [1, 2, 3].map((n) => new Date(minute(n)).toISOString());
    assert.ok(first && second && later);
    const fail = (at: string, disabledWhy: string | null = null): void =>
      store.failed({ id: 'one', at, notBefore: later, disabledWhy });
    const known = () => {
      const { failures, failing_since, not_before, disabled_at } = store.state('one');
      return { failures, failing_since, not_before, disabled_at };
    };
    const well = { failures: 0, failing_since: null, not_before: null, disabled_at: null };
    show({ votes_count: 2 });
    const { position } = store.state('one');
    assert.deepEqual([known(), troubled(), store.lag(position)], [well, [], 1]);
    fail(first);
    fail(second);
    assert.deepEqual(known(), { ...well, failures: 2, failing_since: first, not_before: later });
    assert.deepEqual(troubled(), ['one']);
    store.advance('one', position + 1);
    assert.deepEqual([known(), troubled(), store.lag(position + 1)], [well, [], 0]);
    store.advance('one', position);
    assert.equal(store.state('one').position, position + 1, 'it never goes back');
    fail(second, 'it is gone');
    assert.deepEqual([known().disabled_at, troubled()], [second, ['one']]);
    assert.equal(store.state('one').disabled_why, 'it is gone');
    store.enable('one');
    assert.deepEqual([known(), store.state('one').disabled_why], [well, null]);
  });

  it('is forgotten with it, also its deliveries, and a new one is told of what comes after it', (t) => {
    const { store, show } = openBench(t);
    const delivery = { change: 1, type: 'post.edited', at: new Date(0).toISOString() };
    for (const id of ['one', 'kept']) {
      store.state(id);
      store.note(id, { ...delivery, ms: 1, status: 204, error: null });
    }
    const { position } = store.state('one');
    show({ votes_count: 2 });
    store.keepOnly(['kept']);
    const left = ['one', 'kept'].map((id) => store.deliveries(id, 9).length);
    assert.deepEqual([store.state('kept').position, left], [position, [0, 1]]);
    assert.equal(store.state('one').position, position + 1);
  });
});

describe('the deliveries that are kept', () => {
  it('are the last five hundred of each endpoint, however many another has', (t) => {
    const { store } = openBench(t);
    const delivery = { change: 1, type: 'post.edited', at: new Date(0).toISOString() };
    const note = (id: string): void => store.note(id, { ...delivery, ms: 1, status: 204, error: null });
    note('quiet');
    for (let n = 0; n < 502; n++) note('one');
    assert.deepEqual(
      ['quiet', 'one'].map((id) => store.deliveries(id, 1000).length),
      [1, 500],
    );
  });
});

describe('a message without people', () => {
  const spellings = ['kim@example.com', 'kim%40example.com', '"kim lee"@example.com', 'kim＠example.com'];
  for (const address of spellings)
    it(`hides ${address}`, async (t) => {
      const bench = openBench(t);
      bench.show({ title: `Ask ${address} first` });
      await bench.deliver();
      assert.match(bench.bodies[0] ?? '', /"after":\{"title":"Ask \[e-mail\] first"\}/);
      assert.doesNotMatch(bench.bodies[0] ?? '', /example|kim/);
    });
});

describe('a link in a message for people', () => {
  for (const format of ['discord', 'teams'] as const)
    it(`does not end at a bracket of its address (${format})`, async (t) => {
      const bench = openBench(t, { format });
      bench.show({ title: 'Two', url: 'https://example.org/p/one_(two)' });
      await bench.deliver();
      assert.match(bench.bodies[0] ?? '', /\[Two\]\(https:\/\/example\.org\/p\/one_%28two%29\)/);
    });
});
