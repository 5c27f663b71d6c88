import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ask } from '../http/client.ts';
import { logOf, startService } from '../service/runs.ts';
import { CHECKOUT, ENTRY } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';
import { openSite } from '../support/mirror-site.ts';
import { until } from '../support/until.ts';
import { hasSwept, isUp, states, stop } from './stopping.ts';

describe('the service on its own', () => {
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

  it('told to stop while a create hangs, leaves it unclear and stops in time', async (t) => {
    const site = await openSite(t, { faults: 'hang on=creates' });
    await site.run(['create', '--board', 'bugs', '--title', 'First']);
    const service = site.start(['start', '--http-port', '0']);
    await until('a create', () => site.sandbox.requests.some(({ method }) => method === 'POST'));
    await stop(service);
    assert.deepEqual(await states(site), new Set(['First ambiguous']));
  });

  it('told to stop in the middle of a sweep, or twice, is gone soon', async (t) => {
    const site = await openSite(t, { faults: 'hang on=lists from=3' });
    const service = site.start(['start', '--http-port', '0']);
    await until('some pages', () => site.sandbox.requestCount >= 3);
    await until('it is up', () => isUp(service));
    await stop(service);
    await site.run(['create', '--board', 'bugs', '--title', 'First']);
    site.sandbox.faults.set('hang');
    const another = site.start(['start', '--http-port', '0']);
    await until('a create', () => site.sandbox.requests.some(({ method }) => method === 'POST'));
    another.child.kill('SIGTERM');
    another.child.kill('SIGINT');
    assert.equal((await another.end).code, 130);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
