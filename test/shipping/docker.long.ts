import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { CHECKOUT } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';
import { freePort } from '../support/launch.ts';
import { ordinaryUser } from '../support/servers.ts';
import { until } from '../support/until.ts';
import { readDockerfile } from './dockerfile.ts';
import { build, environment, type Image } from './image.ts';

/** A part of `npm run installed`: it installs from the registry, which takes longer than anything in `npm test` may. */
const steps = readDockerfile(join(CHECKOUT, 'Dockerfile'));
const { dependencies } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

describe('the image', () => {
  it('makes a service that starts as an ordinary user on a read-only disk, is healthy, and stops cleanly', async (t) => {
    const folder = folderFor(t, 'image');
    chmodSync(folder, 0o755);
    const image = build(steps, folder);
    assert.equal(image.user, 'node');
    assert.deepEqual(image.volumes, ['/data']);
    const app = join(image.root, image.workdir);
    for (const name of Object.keys(dependencies))
      assert.ok(existsSync(join(app, 'node_modules', name)), name);
    for (const name of ['typescript', '@biomejs/biome', 'node', '@duckdb/node-api'])
      assert.ok(!existsSync(join(app, 'node_modules', name)), name);
    for (const name of ['pg', '@modelcontextprotocol/server', 'zod'])
      assert.ok(createRequire(join(app, 'dist/src/app.js')).resolve(name).startsWith(image.root), name);
    assert.deepEqual(readdirSync(join(app, 'src')), ['feedback-mirror.js', 'launch.js']);
    execFileSync('chmod', ['-R', 'a-w', app]);

    const port = String(await freePort());
    const service = start(image, port);
    t.after(() => service.kill('SIGKILL'));
    const said = text(service.stderr ?? process.stdin);
    await until('a healthy container', () => isHealthy(image, port));
    const jobs = await fetch(`http://127.0.0.1:${port}/data/queues`);
    assert.equal(jobs.status, 200, await jobs.text());
    service.kill(image.stopSignal);
    const [code] = await once(service, 'exit');
    assert.equal(code, 0, await said);
    for (const name of ['mirror.db', 'cache'])
      assert.ok(existsSync(join(image.root, 'data', name)), `${name} is in the volume`);
    assert.equal(isHealthy(image, port), false);
    const told = /node:24-slim` and (\d+) MB\s+more/.exec(
      readFileSync(join(CHECKOUT, 'docs/operations.md'), 'utf8'),
    )?.[1];
    const megabytes = bytesIn(join(image.root, 'app'), join(image.root, 'node_modules')) / 1e6;
    assert.ok(Math.abs(megabytes / Number(told) - 1) < 0.1, `${megabytes} MB, and the docs say ${told}`);
    execFileSync('chmod', ['-R', 'u+w', app]);
  });
});

function bytesIn(...folders: string[]): number {
  return folders
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

function start(image: Image, port: string): ChildProcess {
  const [, ...args] = image.command;
  assert.equal(image.command[0], 'node');
  return spawn(process.execPath, args, {
    cwd: join(image.root, image.workdir),
    env: { ...environment(image), HOME: '/nonexistent', HTTP_PORT: port },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...ordinaryUser(),
  });
}

function isHealthy(image: Image, port: string): boolean {
  const [, ...args] = image.healthCheck;
  const env = { ...environment(image), HTTP_PORT: port };
  return spawnSync(process.execPath, args, { cwd: join(image.root, image.workdir), env }).status === 0;
}
