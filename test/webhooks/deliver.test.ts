import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { Secret } from '../../src/base/secret.ts';
import { pruneChanges } from '../../src/store/change-log.ts';
import { openChangeFeed } from '../../src/store/changes/feed.ts';
import { closing } from '../../src/store/sql.ts';
import { openWebhookStore, troubledWebhooks } from '../../src/store/webhooks.ts';
import { deliver, type Endpoint } from '../../src/webhooks/deliver.ts';
import type { Answer } from '../../src/webhooks/send.ts';
import { fakeClock } from '../support/clock.ts';
import { openTestMirror } from '../support/mirror.ts';
import { aPost, minute } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';

const FIRST = {
  title: 'One',
  votes_count: 1,
  status: { id: 1, name: 'Open', color: '#000000' },
  board: { id: 1, name: 'Mobile', url: '/b/mobile' },
};
const DONE = { id: 2, name: 'Completed', color: '#00ff00' };

/** A mirror with one post, an endpoint that answers as it is told, and a clock that only moves when it is told to. */
function openBench(t: TestContext, wishes: Partial<Endpoint> = {}) {
  const mirror = openTestMirror();
  let minutes = 0;
  const show = (post: Parameters<typeof aPost>[1]): void =>
    void sweep(mirror.store, 'posts', [aPost(1, { ...FIRST, ...post })], ++minutes);
  show({});
  const [feed, store, clock] = [openChangeFeed(mirror), openWebhookStore(mirror), fakeClock()];
  const answers: number[] = [];
  const bodies: string[] = [];
  const post = async ({ body }: { body: string }): Promise<Answer> => {
    const status = answers.shift() ?? 204;
    bodies.push(body);
    return { status, ms: 1, error: status < 300 ? null : `it answered ${status}`, waitMs: null };
  };
  const sender = { post, close: async () => undefined };
  const signal = new AbortController().signal;
  const deps = { feed, store, sender, clock, signal, mirrorId: 'abcdefgh-1', base: null, random: () => 0 };
  const endpoint: Endpoint = {
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
    closing(new Database(mirror.path), (db) => troubledWebhooks(db).map(({ id }) => id));
  const types = (): string[] => bodies.map((body) => String(Reflect.get(JSON.parse(body), 'type')));
  return {
    store,
    clock,
    show,
    prune,
    troubled,
    answers,
    bodies,
    types,
    deliver: () => deliver(deps, endpoint),
  };
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

  it('is not kept for a disabled one, which is told how many it missed and goes on with the next', async (t) => {
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
    store.enable('one');
    assert.deepEqual(known(), well);
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
