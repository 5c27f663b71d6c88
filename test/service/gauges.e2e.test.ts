import assert from 'node:assert/strict';
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { assess } from '../../src/service/health.ts';
import { until } from '../support/until.ts';
import { hasSwept, openFixture } from './fixture.ts';

/** Series by name and labels, without the prefix. */
function seriesIn(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith('feedback_mirror_'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice('feedback_mirror_'.length, at), Number(line.slice(at + 1))];
    }),
  );
}

describe('the metrics of a service', () => {
  it('tell what an operator wants to be woken for, failures at 0 included', async (t) => {
    const fixture = await openFixture(t, { queueUrl: null });
    const copy = join(fixture.folder, 'backup');
    mkdirSync(copy);
    writeFileSync(join(copy, 'mirror.db'), '');
    const yesterday = Date.now() / 1000 - 86_400;
    utimesSync(join(copy, 'mirror.db'), yesterday, yesterday);
    const { app, metrics, progress } = await fixture.start({}, { probe: 60_000 });
    await until('both lists are read', () => hasSwept({ app }));
    await until('it is ready', async () => (await progress()).lastTickAt !== null);
    app.outbox.setPaused('the test wants rows that wait');
    await fixture.add('One that waits');
    const found = seriesIn(await metrics.text());
    const expected = {
      ready: 0,
      'held_deletions{resource="posts"}': 0,
      'quarantined_rows{resource="comments"}': 0,
      'mirrored_rows{resource="posts",state="live"}': 12,
      'outbox_rows{state="ready"}': 1,
      'push_outcomes_total{outcome="unauthorised"}': 0,
      'reconcile_results_total{result="uncertain"}': 0,
      'sync_passes_total{resource="posts",mode="sweep",outcome="failed"}': 0,
      'upstream_requests_total{operation="listPosts",status="none"}': 0,
    };
    for (const [name, value] of Object.entries(expected)) assert.equal(found.get(name), value, name);
    const above = {
      outbox_oldest_unsent_seconds: 0,
      'sync_lag_seconds{resource="posts",mode="sweep"}': 0,
      backup_age_seconds: 86_399,
      'file_bytes{file="mirror"}': 4096,
      'file_bytes{file="queue"}': 4096,
    };
    for (const [name, least] of Object.entries(above)) assert.ok((found.get(name) ?? -1) >= least, name);
    assert.equal(found.has('export_age_seconds'), false);
    app.outbox.setPaused(null);
    await until('it says so', async () => seriesIn(await metrics.text()).get('ready') === 1);
  });
});

describe('a service whose mirror is removed', () => {
  it('is not ready, says in a sentence what to do, and logs it once', async (t) => {
    const fixture = await openFixture(t, { queueUrl: null });
    const { app, metrics, progress } = await fixture.start();
    await until('it is ready', async () => assess(await progress()).ready);
    const { mock } = t.mock.method(app.log, 'error');
    for (const rest of ['', '-wal', '-shm']) rmSync(`${app.settings.mirrorPath}${rest}`);
    for (let n = 0; n < 2; n++) {
      const mirror = assess(await progress()).checks.find(({ name }) => name === 'mirror');
      assert.equal(mirror?.ok, false);
      assert.match(mirror.detail, /was removed .* restart the service/);
    }
    assert.equal(seriesIn(await metrics.text()).get('ready'), 0);
    const told = mock.calls.map((call) => call.arguments[0] as { event?: string });
    assert.equal(told.filter(({ event }) => event === 'mirror.removed').length, 1);
  });
});
