import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { runCli, spawnCli } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';
import { openSite, running } from '../support/mirror-site.ts';
import { until } from '../support/until.ts';
import { ended, hasSwept, isUp, states, stop } from './stopping.ts';

describe('the service on its own', () => {
  it('mirrors the sandbox of a first run without any settings, and ends well when told to', async (t) => {
    const folder = folderFor(t, 'first-run');
    const service = running(t, spawnCli(['start', '--http-port', '0'], { cwd: folder }));
    await until('two sweeps', () => hasSwept(service));
    const status = await runCli(['status', '--json'], { cwd: folder });
    const { resources } = JSON.parse(status.stdout) as { resources: { resource: string; live: number }[] };
    assert.ok(
      resources.every(({ live }) => live > 400),
      status.stdout,
    );
    await until('it is up', () => isUp(service));
    const created = await runCli(['create', '--board', 'bugs', '--title', 'A first wish'], { cwd: folder });
    assert.equal(created.code, 0, created.stderr);
    await until('it is sent', () => service.said().includes('"outcome":"confirmed"'));
    await stop(service);
  });

  it('told to stop while a create is under way, waits for its answer and begins no other', async (t) => {
    const site = await openSite(t, { faults: 'latency ms=1500 on=creates' });
    for (const title of ['First', 'Second']) await site.run(['create', '--board', 'bugs', '--title', title]);
    const service = site.start(['start', '--http-port', '0', '--push-per-minute', '6000']);
    await until('a create', () => site.sandbox.requests.some(({ method }) => method === 'POST'));
    await stop(service);
    assert.deepEqual(await states(site), new Set(['First confirmed', 'Second ready']));
  });

  it('says at once when it cannot listen, before it reads, queues or opens anything', async (t) => {
    const site = await openSite(t);
    const { port } = new URL(site.sandbox.url);
    const { code, stderr } = await site.run(['start', '--http-port', port]);
    assert.equal(code, 2, stderr);
    assert.match(
      stderr,
      new RegExp(`cannot listen on 127.0.0.1, port ${port}: another program does already`),
    );
    assert.equal(site.sandbox.requestCount, 0);
    assert.ok(!existsSync(site.mirror));
  });

  it('resumes after an outage of the upstream, and logs neither token nor e-mail', async (t) => {
    const site = await openSite(t, { faults: 'status code=503 on=lists to=3' });
    const service = site.start(['start', '--http-port', '0', '--log-level', 'debug', '--log-format', 'json']);
    await until('requests', () => site.sandbox.requestCount >= 12);
    const { stderr } = await ended(service);
    assert.match(stderr, /503/);
    for (const { email } of site.sandbox.world.users()) assert.ok(email === null || !stderr.includes(email));
  });
});
