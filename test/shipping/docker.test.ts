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

describe('the Dockerfile', () => {
  it('has nothing that a linter complains about', () => {
    assert.deepEqual(validate(readFileSync(join(CHECKOUT, 'Dockerfile'), 'utf8')), []);
  });

  it('stands on the Node of the checkout, slim, and lets in the optional packages of the manifest', () => {
    const bases = steps.filter(({ name }) => name === 'FROM').map(({ text }) => text.split(' ')[0]);
    const version = manifest.devDependencies.node ?? '';
    assert.deepEqual(new Set(bases), new Set([`node:${version}-slim`]));
    const install = steps.find(({ text }) => text.includes('--prefix .'))?.text ?? '';
    for (const [name, wanted] of Object.entries(manifest.peerDependencies))
      if (name !== '@photostructure/sqlite') assert.ok(install.includes(` ${name}@${wanted}`), name);
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
});
