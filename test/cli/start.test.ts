import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runCli, spawnCli } from '../support/cli.ts';
import { eventually, openSite, running } from '../support/mirror-site.ts';
import { assertExact } from '../sync/mirror-rows.ts';

describe('the service', () => {
  it('mirrors the sandbox of a first run without any settings, and ends well when told to', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'fm-first-run-'));
    t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
    const service = running(t, spawnCli(['start'], { cwd: folder }));
    await eventually('two sweeps', () => hasSwept(service.said()));
    const status = await runCli(['status', '--json'], { cwd: folder });
    const { resources } = JSON.parse(status.stdout) as { resources: { resource: string; live: number }[] };
    assert.ok(
      resources.every(({ live }) => live > 400),
      status.stdout,
    );
    service.child.kill('SIGTERM');
    assert.equal((await service.end).code, 0);
  });

  it('sends what another process puts into the outbox, and mirrors what the upstream has', async (t) => {
    const site = await openSite(t);
    const service = site.start(['start', '--push-per-minute', '6000']);
    await eventually('two sweeps', () => hasSwept(service.said()));
    const created = await site.run(['create', '--board', 'bugs', '--title', 'Sent by the service', '--json']);
    assert.equal(created.code, 0, created.stderr);
    await eventually('a post', () => site.sandbox.world.ledger().length === 1);
    service.child.kill('SIGTERM');
    assert.equal((await service.end).code, 0);
    const again = await site.run(['sync', '--json']);
    assert.equal(again.code, 0, again.stderr);
    assertExact(site.mirror, site.sandbox.world);
    assert.deepEqual(
      site.sandbox.world.ledger().map(({ title }) => title),
      ['Sent by the service'],
    );
  });

  it('told to stop while a create is under way, waits for its answer and begins no other', async (t) => {
    const site = await openSite(t, { faults: 'latency ms=700 on=creates' });
    for (const title of ['First', 'Second']) await site.run(['create', '--board', 'bugs', '--title', title]);
    const service = site.start(['start', '--push-per-minute', '6000']);
    await eventually('a create', () => site.sandbox.requests.some(({ method }) => method === 'POST'));
    service.child.kill('SIGTERM');
    assert.equal((await service.end).code, 0);
    const { stdout } = await site.run(['outbox', '--json']);
    const { rows } = JSON.parse(stdout) as { rows: { title: string; state: string }[] };
    assert.deepEqual(
      new Set(rows.map(({ title, state }) => `${title} ${state}`)),
      new Set(['First confirmed', 'Second ready']),
    );
  });

  it('goes on after an outage of the upstream, and logs neither token nor e-mail', async (t) => {
    const site = await openSite(t, { faults: 'status code=503 on=lists to=3' });
    const service = site.start(['start', '--log-level', 'debug', '--log-format', 'json']);
    await eventually('requests', () => site.sandbox.requestCount >= 12);
    service.child.kill('SIGTERM');
    const { code, stderr } = await service.end;
    assert.equal(code, 0);
    assert.match(stderr, /503/);
    for (const { email } of site.sandbox.world.users()) assert.ok(email === null || !stderr.includes(email));
  });
});

function hasSwept(said: string): boolean {
  return said.includes('sweep of posts') && said.includes('sweep of comments');
}
