import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { createMetrics } from '../../src/base/metrics.ts';
import { programVersion } from '../../src/base/program.ts';
import type { Health } from '../../src/service/health.ts';
import { MINUTE, NOW, progressWith } from '../service/healthy.ts';
import { requireProgram, skipUnless } from '../support/programs.ts';
import { ask } from './client.ts';
import { open } from './service.ts';

describe('/healthz', () => {
  it('answers with version and commit as long as the process does, whatever the state of its work', async (t) => {
    const http = await open(t, { progress: () => new Promise(() => {}) });
    const reply = await ask(http, '/healthz');
    assert.deepEqual([reply.status, JSON.parse(reply.body)], [200, { status: 'ok', ...programVersion() }]);
  });
});

describe('/readyz', () => {
  it('says 200 and how things stand', async (t) => {
    const [full, empty] = [4, 0].map((jobs) => ({ queue: 'push', state: `with ${jobs}`, jobs }));
    assert.ok(full && empty);
    const http = await open(t, { progress: async () => progressWith({ queue: { depth: [empty, full] } }) });
    const reply = await ask(http, '/readyz');
    const answer = JSON.parse(reply.body);
    assert.equal(reply.status, 200);
    assert.equal(answer.ready, true);
    assert.deepEqual(answer.queue, { kind: 'embedded', depth: [full] });
    assert.equal(answer.upSeconds, 864_000);
    assert.equal(answer.checks.length, 7);
  });

  it('says 503 and which check failed', async (t) => {
    const http = await open(t, { progress: async () => progressWith({ lastTickAt: NOW - 10 * MINUTE }) });
    const reply = await ask(http, '/readyz');
    const { ready, checks } = JSON.parse(reply.body) as Health;
    assert.deepEqual([reply.status, ready], [503, false]);
    assert.deepEqual(
      checks.filter(({ ok }) => !ok).map(({ name }) => name),
      ['loop'],
    );
  });

  it('says 503 when the progress cannot be read, without telling why to the world', async (t) => {
    const http = await open(t, { progress: () => Promise.reject(new Error('no such table: sync_runs')) });
    const reply = await ask(http, '/readyz');
    assert.equal(reply.status, 503);
    assert.match(reply.body, /could not tell/);
    assert.doesNotMatch(reply.body, /sync_runs/);
    assert.ok(http.lines.some(({ msg }) => String(msg).includes('sync_runs')));
  });

  it('says 503 when the progress does not come, and does not ask again meanwhile', async (t) => {
    let asked = 0;
    const progress = () => {
      asked++;
      return new Promise<never>(() => {});
    };
    const http = await open(t, { progress, limits: { progressMs: 20 } });
    const replies = [await ask(http, '/readyz'), await ask(http, '/readyz')];
    assert.deepEqual(
      replies.map(({ status }) => status),
      [503, 503],
    );
    assert.equal(asked, 1);
  });
});

describe('/metrics', () => {
  it('passes promtool check metrics without a warning', skipUnless('promtool'), async (t) => {
    const metrics = createMetrics();
    metrics.push('confirmed');
    metrics.observe(async () => ({ outbox_rows: [{ labels: { state: 'ready' }, value: 1 }] }));
    const http = await open(t, { metrics });
    const { status, headers, body } = await ask(http, '/metrics');
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
    assert.match(body, /^feedback_mirror_outbox_rows\{state="ready"\} 1$/m);
    const check = spawnSync(requireProgram('promtool'), ['check', 'metrics'], {
      input: body,
      encoding: 'utf8',
    });
    assert.deepEqual([check.status, check.stdout, check.stderr], [0, '', '']);
  });
});
