import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { ask } from '../http/client.ts';
import type { SandboxOptions } from '../laboratory/server.ts';
import { logOf, startService } from '../service/runs.ts';
import { CHECKOUT, ENTRY, runCli, spawnCli } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';
import { openSite, type Running, running, type Site } from '../support/mirror-site.ts';
import { skipUnless } from '../support/programs.ts';
import { type Server, startRedis } from '../support/servers.ts';
import { until } from '../support/until.ts';

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

  const npm = { way: 'npm start', command: ['npm', '--prefix', CHECKOUT, 'start'], event: undefined };
  // As npx starts it; what follows keeps the shell from handing its own process over.
  const npx = {
    way: 'npx',
    command: ['sh', '-c', `"${process.execPath}" "${ENTRY}" start; true`],
    event: 'npx',
  };
  // An installed program has no `npm start`.
  for (const { way, command, event } of process.env.FEEDBACK_MIRROR ? [npx] : [npm, npx])
    it(`ends with the process that ${way} started, which a signal does not get past`, async (t) => {
      const DATA_DIR = folderFor(t, 'started');
      // The program refuses unknown names that begin like its settings.
      const { FEEDBACK_MIRROR: _, ...inherited } = process.env;
      const env = { ...inherited, DATA_DIR, HTTP_PORT: '0', npm_lifecycle_event: event };
      const [program = '', ...args] = command;
      const starter = spawn(program, args, { env, stdio: 'ignore' });
      const place = join(DATA_DIR, 'service.json');
      await until('it is up', () => existsSync(place) && readFileSync(place, 'utf8').includes('}'));
      const { pid } = JSON.parse(readFileSync(place, 'utf8')) as { pid: number };
      t.after(() => isAlive(pid) && process.kill(pid, 'SIGKILL'));
      starter.kill('SIGTERM');
      await until('it has ended', () => !isAlive(pid));
      assert.equal(existsSync(place), false, 'in order');
    });

  it('answers under the names of HTTP_NAMES, and tells of a name that may be meant for another program', async (t) => {
    const site = await openSite(t);
    const HTTP_TOKEN = 'a-token-of-some-length';
    const service = await startService(site, {
      HTTP_NAMES: 'mirror.example.com',
      HTTP_TOKEN,
      LOGLEVEL: 'debug',
    });
    const statusAs = async (host: string): Promise<number> =>
      (await ask(service, '/healthz', { headers: { host } })).status;
    assert.deepEqual([await statusAs('mirror.example.com'), await statusAs('example.com')], [200, 421]);
    await service.stop();
    const told = logOf(service).find(({ event }) => event === 'settings.unknown');
    assert.match(told?.msg ?? '', /^LOGLEVEL is set .* did you mean LOG_LEVEL\?$/);
  });

  it('told to stop while its queue is still opening, does not wait for it', async (t) => {
    const site = await openSite(t);
    // A queue server that takes connections and never says a word.
    const silent = createServer().listen(0, '127.0.0.1');
    t.after(() => silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const service = site.start(['start', '--http-port', '0'], { QUEUE_URL: `redis://127.0.0.1:${port}` });
    await until('two sweeps', () => hasSwept(service));
    assert.doesNotMatch(service.said(), /this process sends/);
    await stop(service);
  });
});

describe('the service', skipUnless('redis-server'), () => {
  let redis: Server;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());
  const open = async (t: TestContext, options: SandboxOptions = {}): Promise<Site> => {
    const site = await openSite(t, options);
    Object.assign(site.env, { QUEUE_URL: redis.url, HTTP_PORT: '0' });
    return site;
  };

  it('told to stop while a create is under way, waits for its answer and begins no other', async (t) => {
    const site = await open(t, { faults: 'latency ms=1500 on=creates' });
    for (const title of ['First', 'Second']) await site.run(['create', '--board', 'bugs', '--title', title]);
    const service = site.start(['start', '--push-per-minute', '6000']);
    await until('a create', () => site.sandbox.requests.some(({ method }) => method === 'POST'));
    await stop(service);
    assert.deepEqual(await states(site), new Set(['First confirmed', 'Second ready']));
  });

  it('told to stop while a create hangs, leaves it unclear and stops in time', async (t) => {
    const site = await open(t, { faults: 'hang on=creates' });
    await site.run(['create', '--board', 'bugs', '--title', 'First']);
    const service = site.start(['start']);
    await until('a create', () => site.sandbox.requests.some(({ method }) => method === 'POST'));
    await stop(service);
    assert.deepEqual(await states(site), new Set(['First ambiguous']));
  });

  it('told to stop in the middle of a sweep, or twice, is gone soon', async (t) => {
    const site = await open(t, { faults: 'hang on=lists from=3' });
    const service = site.start(['start']);
    await until('some pages', () => site.sandbox.requestCount >= 3);
    await until('it is up', () => isUp(service));
    await stop(service);
    await site.run(['create', '--board', 'bugs', '--title', 'First']);
    site.sandbox.faults.set('hang');
    const another = site.start(['start']);
    await until('a create', () => site.sandbox.requests.some(({ method }) => method === 'POST'));
    another.child.kill('SIGTERM');
    another.child.kill('SIGINT');
    assert.equal((await another.end).code, 130);
  });

  it('says at once when it cannot listen, before it reads, queues or opens anything', async (t) => {
    const site = await open(t);
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
    const site = await open(t, { faults: 'status code=503 on=lists to=3' });
    const service = site.start(['start', '--log-level', 'debug', '--log-format', 'json']);
    await until('requests', () => site.sandbox.requestCount >= 12);
    const { stderr } = await ended(service);
    assert.match(stderr, /503/);
    for (const { email } of site.sandbox.world.users()) assert.ok(email === null || !stderr.includes(email));
  });
});

function hasSwept(service: Running): boolean {
  return ['posts', 'comments'].every((list) =>
    service.said().includes(`"event":"sync.sweep.completed","resource":"${list}"`),
  );
}

function isUp(service: Running): boolean {
  return service.said().includes('Dashboard: http://127.0.0.1:');
}

async function ended(service: Running) {
  service.child.kill('SIGTERM');
  const result = await service.end;
  assert.equal(result.code, 0, result.stderr);
  return result;
}

/** Tells it to stop as systemd does. It has ended everything in order before its own limit ends it, which is within ten seconds. */
async function stop(service: Running): Promise<void> {
  const { stderr } = await ended(service);
  assert.match(stderr, /the service has stopped/);
}

async function states(site: Site): Promise<Set<string>> {
  const { stdout } = await site.run(['outbox', '--json']);
  const { rows } = JSON.parse(stdout) as { rows: { title: string; state: string }[] };
  return new Set(rows.map(({ title, state }) => `${title} ${state}`));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
