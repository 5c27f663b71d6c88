import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { CHECKOUT } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';
import { freePort } from '../support/launch.ts';
import { until } from '../support/until.ts';
import { readDockerfile } from './dockerfile.ts';
import { build, environment, type Image } from './image.ts';

const steps = readDockerfile(join(CHECKOUT, 'Dockerfile'));
const manifest = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8')) as {
  engines: { node: string };
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

describe('the Dockerfile', () => {
  it('stands on the Node of the checkout, slim, which is the one "engines" asks for', () => {
    const bases = steps.filter(({ name }) => name === 'FROM').map(({ text }) => text.split(' ')[0]);
    const version = manifest.devDependencies.node ?? '';
    assert.deepEqual(new Set(bases), new Set([`node:${version}-slim`]));
    assert.equal(manifest.engines.node, `>=${version.split('.')[0]}`);
    assert.equal(process.versions.node, version);
  });

  it('names every setting and file by a name that exists', () => {
    for (const { text } of steps.filter(({ name }) => name === 'COPY'))
      for (const source of text.split(/\s+/).slice(0, -1))
        assert.ok(
          source.startsWith('-') || source.startsWith('/') || existsSync(join(CHECKOUT, source)),
          source,
        );
  });

  it('makes a service that starts, is healthy, runs as an ordinary user and stops cleanly', async (t) => {
    const folder = folderFor(t, 'image');
    const image = build(steps, folder);
    assert.equal(image.user, 'node');
    assert.deepEqual(image.volumes, ['/data']);
    const modules = join(image.root, image.workdir, 'node_modules');
    for (const name of Object.keys(manifest.dependencies)) assert.ok(existsSync(join(modules, name)), name);
    for (const name of Object.keys(manifest.devDependencies))
      assert.ok(!existsSync(join(modules, name)), name);

    const port = String(await freePort());
    const service = start(image, port);
    t.after(() => service.kill('SIGKILL'));
    const said = text(service.stderr ?? process.stdin);
    await until('a healthy container', () => isHealthy(image, port), 60_000);
    service.kill(image.stopSignal);
    const [code] = await once(service, 'exit');
    assert.equal(code, 0, await said);
    assert.ok(existsSync(join(image.root, 'data', 'mirror.db')), 'the mirror is in the volume');
    assert.equal(isHealthy(image, port), false);
  });
});

function start(image: Image, port: string): ChildProcess {
  const [, ...args] = image.command;
  assert.equal(image.command[0], 'node');
  return spawn(process.execPath, args, {
    cwd: join(image.root, image.workdir),
    env: { ...environment(image), HTTP_PORT: port },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

function isHealthy(image: Image, port: string): boolean {
  const [, ...args] = image.healthCheck;
  const env = { ...environment(image), HTTP_PORT: port };
  return spawnSync(process.execPath, args, { cwd: join(image.root, image.workdir), env }).status === 0;
}
