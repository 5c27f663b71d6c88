import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { validate } from 'dockerfile-utils';
import { CHECKOUT } from '../support/cli.ts';
import { readDockerfile } from './dockerfile.ts';

const steps = readDockerfile(join(CHECKOUT, 'Dockerfile'));
const manifest = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8')) as {
  peerDependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

interface Locked {
  dependencies?: object;
  integrity?: string;
}

describe('the Dockerfile', () => {
  it('has nothing that a linter complains about', () => {
    assert.deepEqual(validate(readFileSync(join(CHECKOUT, 'Dockerfile'), 'utf8')), []);
  });

  it('stands on the Node of the checkout, slim', () => {
    const bases = steps.filter(({ name }) => name === 'FROM').map(({ text }) => text.split(' ')[0]);
    const version = manifest.devDependencies.node ?? '';
    assert.deepEqual(new Set(bases), new Set([`node:${version}-slim`]));
    assert.equal(process.versions.node, version);
  });

  it('installs the optional packages of the manifest from a lockfile', () => {
    const { '@photostructure/sqlite': _, ...wanted } = manifest.peerDependencies;
    const read = (name: string): unknown =>
      JSON.parse(readFileSync(join(CHECKOUT, 'deploy/optional', name), 'utf8'));
    assert.deepEqual((read('package.json') as { dependencies: object }).dependencies, wanted);
    const { packages } = read('package-lock.json') as { packages: Record<string, Locked> };
    assert.deepEqual(packages['']?.dependencies, wanted);
    const unlocked = Object.entries(packages).filter(([path, { integrity }]) => path !== '' && !integrity);
    assert.deepEqual(unlocked, []);
    const installs = steps.filter(({ name, text }) => name === 'RUN' && /npm (?:ci|i|install)\b/.test(text));
    assert.deepEqual(
      installs.filter(({ text }) => !text.startsWith('npm ci ')),
      [],
    );
  });

  it('names every setting and file by a name that exists', () => {
    for (const { text } of steps.filter(({ name }) => name === 'COPY'))
      for (const source of text.split(/\s+/).slice(0, -1))
        assert.ok(
          source.startsWith('-') || source.startsWith('/') || existsSync(join(CHECKOUT, source)),
          source,
        );
  });
});
