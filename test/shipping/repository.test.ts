import assert from 'node:assert/strict';
import { accessSync, constants, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

describe('the workflow of a hosted runner', () => {
  it('runs .ci/run and decides nothing itself', () => {
    const { jobs } = parse(read('.github/workflows/ci.yml')) as {
      jobs: Record<string, { steps: { run?: string; uses?: string }[] }>;
    };
    const [job, second] = Object.values(jobs);
    assert.ok(job && !second);
    assert.equal(job.steps.at(-1)?.run, '.ci/run');
    assert.ok(job.steps.length <= 3);
    accessSync(join(root, '.ci/run'), constants.X_OK);
  });
});

describe('the devcontainer', () => {
  it('has the Node of the checkout, and installs as the README says', () => {
    const { image, postCreateCommand } = JSON.parse(read('.devcontainer/devcontainer.json')) as Record<
      string,
      string
    >;
    const { devDependencies } = JSON.parse(read('package.json')) as {
      devDependencies: Record<string, string>;
    };
    assert.match(image ?? '', new RegExp(`:${devDependencies.node?.split('.')[0]}-`));
    assert.equal(postCreateCommand, 'npm ci');
  });
});
