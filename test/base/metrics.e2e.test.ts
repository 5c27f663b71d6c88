import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { createMetrics, type Gauges, type Metrics } from '../../src/base/metrics.ts';
import { requireProgram, skipUnless } from '../support/programs.ts';

const GAUGES = {
  sync_lag_seconds: [
    { labels: { resource: 'posts', mode: 'sweep' }, value: 12.5 },
    { labels: { resource: 'comments', mode: 'sweep' }, value: null },
  ],
  outbox_rows: [{ labels: { state: 'ready' }, value: 3 }],
  queue_jobs: [{ labels: { queue: 'push', state: 'waiting' }, value: 2 }],
  ready: [{ value: 1 }],
  backup_age_seconds: [{ value: null }],
} satisfies Gauges;

/** One of everything. */
function busy(metrics: Metrics): Metrics {
  metrics.request({ operation: 'listPosts', status: 200, ms: 125, retry: false });
  metrics.request({ operation: 'listPosts', status: 503, ms: 500, retry: true });
  metrics.request({ operation: 'createPost', status: null, ms: 30_000, retry: false });
  metrics.page('posts', 100);
  metrics.page('posts', 40);
  const changes = { inserted: 5, updated: 2, unchanged: 93, deleted: 1, quarantined: 0 };
  metrics.pass({ resource: 'posts', mode: 'sweep', outcome: 'complete', seconds: 2, ...changes });
  metrics.push('confirmed');
  metrics.reconcile('found');
  metrics.job({ queue: 'push', name: 'push', outcome: 'completed', seconds: 0.3 });
  return metrics;
}

/** The series of our own, as `name{labels}` to value. */
async function series(metrics: Metrics): Promise<Record<string, number>> {
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('feedback_mirror_'));
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice('feedback_mirror_'.length, at), Number(line.slice(at + 1))];
    }),
  );
}

describe('metrics', () => {
  it('count requests, retries, passes and posts as they happen', async () => {
    const found = await series(busy(createMetrics()));
    const expected = {
      'upstream_requests_total{operation="listPosts",status="200"}': 1,
      'upstream_requests_total{operation="listPosts",status="503"}': 1,
      'upstream_requests_total{operation="createPost",status="none"}': 1,
      'upstream_retries_total{operation="listPosts"}': 1,
      'upstream_request_duration_seconds_sum{operation="listPosts"}': 0.625,
      'sync_pages_total{resource="posts"}': 2,
      'sync_page_rows_total{resource="posts"}': 140,
      'sync_passes_total{resource="posts",mode="sweep",outcome="complete"}': 1,
      'sync_pass_duration_seconds_sum{resource="posts",mode="sweep"}': 2,
      'sync_rows_total{resource="posts",change="unchanged"}': 93,
      'sync_rows_total{resource="posts",change="quarantined"}': 0,
      'push_outcomes_total{outcome="confirmed"}': 1,
      'reconcile_results_total{result="found"}': 1,
      'job_duration_seconds_count{queue="push",job="push",outcome="completed"}': 1,
    };
    for (const [name, value] of Object.entries(expected)) assert.equal(found[name], value, name);
  });

  it('ask for states at each scrape, and leave out what is not known', async () => {
    const metrics = createMetrics();
    let value = 12.5;
    metrics.observe(async () => ({
      ...GAUGES,
      sync_lag_seconds: [
        { labels: { resource: 'posts', mode: 'sweep' }, value },
        ...GAUGES.sync_lag_seconds.slice(1),
      ],
    }));
    const first = await series(metrics);
    assert.equal(first['sync_lag_seconds{resource="posts",mode="sweep"}'], 12.5);
    assert.equal(first['outbox_rows{state="ready"}'], 3);
    assert.equal(first['queue_jobs{queue="push",state="waiting"}'], 2);
    assert.equal(first.ready, 1);
    assert.ok(!('backup_age_seconds' in first));
    assert.ok(!Object.keys(first).some((name) => name.includes('comments')));
    value = 20;
    assert.equal((await series(metrics))['sync_lag_seconds{resource="posts",mode="sweep"}'], 20);
  });

  it('show failures as 0 before there was one, so that an alert sees the first', async () => {
    const metrics = createMetrics();
    metrics.startAtZero({
      passes: [{ resource: 'posts', mode: 'sweep', outcome: 'failed' }],
      pushes: ['unauthorised'],
      reconciles: ['uncertain'],
      operations: ['listPosts'],
    });
    const found = await series(metrics);
    for (const name of [
      'sync_passes_total{resource="posts",mode="sweep",outcome="failed"}',
      'push_outcomes_total{outcome="unauthorised"}',
      'reconcile_results_total{result="uncertain"}',
      'upstream_requests_total{operation="listPosts",status="none"}',
    ])
      assert.equal(found[name], 0, name);
  });

  it('leave out the states of a reader that hangs or fails, and of no other one', async () => {
    const metrics = createMetrics({ readWithinMs: 5 });
    metrics.observe(async () => ({ outbox_rows: GAUGES.outbox_rows }));
    let isStuck = false;
    metrics.observe(() =>
      isStuck ? new Promise<Gauges>(() => {}) : Promise.resolve({ queue_jobs: GAUGES.queue_jobs }),
    );
    const name = 'queue_jobs{queue="push",state="waiting"}';
    assert.equal((await series(metrics))[name], 2);
    isStuck = true;
    const found = await series(metrics);
    assert.equal(found[name], undefined);
    assert.equal(found['outbox_rows{state="ready"}'], 3);
    assert.equal(found.state_read_failures_total, 1);
  });

  it('of two services in one process are kept apart', async () => {
    const [one, other] = [createMetrics(), createMetrics()];
    one.push('confirmed');
    assert.equal((await series(one))['push_outcomes_total{outcome="confirmed"}'], 1);
    assert.equal((await series(other))['push_outcomes_total{outcome="confirmed"}'], undefined);
  });

  it('tell about the process too', async () => {
    const { contentType, text } = createMetrics();
    assert.match(await text(), /^process_resident_memory_bytes \d+$/m);
    assert.match(contentType, /^text\/plain; version=0\.0\.4/);
  });

  it('pass promtool check metrics without a warning', skipUnless('promtool'), async () => {
    const metrics = busy(createMetrics());
    metrics.observe(async () => GAUGES);
    const input = await metrics.text();
    const { status, stdout, stderr } = spawnSync(requireProgram('promtool'), ['check', 'metrics'], {
      input,
      encoding: 'utf8',
    });
    assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' });
  });
});
