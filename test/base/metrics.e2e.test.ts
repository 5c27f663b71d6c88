import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { createMetrics, type Gauges, type Metrics } from '../../src/base/metrics.ts';
import { requireProgram, skipUnless } from '../support/programs.ts';

const GAUGES: Gauges = {
  lag: [
    { resource: 'posts', mode: 'sweep', seconds: 12.5 },
    { resource: 'comments', mode: 'sweep', seconds: null },
  ],
  outbox: { ready: 3, uncertain: 1 },
  queues: [{ queue: 'push', state: 'waiting', jobs: 2 }],
  rows: [{ resource: 'posts', live: 90, deleted: 10 }],
};

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
  it('count what happened', async () => {
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
    let seconds = 12.5;
    metrics.observe(async () => ({ ...GAUGES, lag: [{ resource: 'posts', mode: 'sweep', seconds }] }));
    const first = await series(metrics);
    assert.equal(first['sync_lag_seconds{resource="posts",mode="sweep"}'], 12.5);
    assert.equal(first['outbox_rows{state="ready"}'], 3);
    assert.equal(first['queue_jobs{queue="push",state="waiting"}'], 2);
    assert.equal(first['mirrored_rows{resource="posts",state="live"}'], 90);
    assert.equal(first['mirrored_rows{resource="posts",state="deleted"}'], 10);
    assert.ok(!Object.keys(first).some((name) => name.includes('comments')));
    seconds = 20;
    assert.equal((await series(metrics))['sync_lag_seconds{resource="posts",mode="sweep"}'], 20);
  });

  it('leave out the states of a reader that hangs or fails, and of no other one', async () => {
    const metrics = createMetrics({ readWithinMs: 5 });
    metrics.observe(async () => ({ outbox: GAUGES.outbox }));
    let isStuck = false;
    metrics.observe(() =>
      isStuck ? new Promise<Gauges>(() => {}) : Promise.resolve({ queues: GAUGES.queues }),
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

  it('are what promtool accepts without a word', skipUnless('promtool'), async () => {
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
