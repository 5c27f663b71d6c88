import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { SETTINGS } from '../config/schema.ts';
import { EXIT_CODES } from '../src/cli/context.ts';
import { TRANSITIONS } from '../src/outbox/states.ts';

const root = resolve(import.meta.dirname, '..');
const readme = readFileSync(resolve(root, 'README.md'), 'utf8');
const manifest = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
  allowScripts: Record<string, boolean>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

describe('the README', () => {
  it('draws every transition of the outbox, and no other', () => {
    const drawn = [...readme.matchAll(/^ {2}([a-z]+) --> ([a-z]+):/gm)].map(
      ([, from, to]) => `${from} -> ${to}`,
    );
    const transitions = Object.values(TRANSITIONS).flatMap(({ from, to }) =>
      from.map((state) => `${state} -> ${to}`),
    );
    assert.deepEqual(new Set(drawn), new Set(transitions));
  });

  it('has the exit codes of the program', () => {
    const table = readme.slice(readme.indexOf('| exit |'));
    for (const code of new Set(Object.values(EXIT_CODES)))
      assert.match(table, new RegExp(`^\\| ${code} \\|`, 'm'));
  });

  it('names only npm scripts and settings that exist', () => {
    for (const [, script = ''] of readme.matchAll(/npm run ([a-z:]+)/g))
      assert.ok(manifest.scripts[script], script);
    const known = Object.values(SETTINGS).flatMap(({ env, secret }) =>
      secret ? [env, `${env}_FILE`] : [env],
    );
    for (const [name] of readme.matchAll(
      /\b(?:FEEDBACK|SYNC|PUSH|DATA|MIRROR|LOG|QUEUE|HTTP|EXPORT|RETENTION)_[A-Z_]+\b/g,
    ))
      assert.ok(known.includes(name), name);
  });

  it('says of every dependency what it is for', () => {
    const table = readme.slice(readme.indexOf('## Dependencies'));
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })) {
      if (!name.startsWith('@types/')) assert.ok(table.includes(name.replace('@biomejs/', '')), name);
    }
  });
});

describe('the manifest', () => {
  it('pins every dependency to one version, and lists install scripts by name', () => {
    const { dependencies, devDependencies } = manifest;
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      assert.match(version, /^\d+\.\d+\.\d+(-[a-z0-9.]+)?$/, name);
    const lock = JSON.parse(readFileSync(resolve(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<
        string,
        { hasInstallScript?: true; integrity?: string; optionalDependencies?: object }
      >;
    };
    const scripted = Object.entries(lock.packages).filter(([, entry]) => entry.hasInstallScript);
    assert.deepEqual(
      scripted.map(([path]) => path),
      Object.keys(manifest.allowScripts)
        .filter((name) => name !== 'better-sqlite3')
        .map((name) => `node_modules/${name}`),
    );
    const allowed = Object.entries(manifest.allowScripts).filter(([, isAllowed]) => isAllowed);
    assert.deepEqual(allowed, [['node', true]]);
    for (const [path, { integrity }] of Object.entries(lock.packages))
      if (path !== '') assert.ok(integrity, path);
    // npm leaves out what it could not find for another platform, and then refuses the lock file on every one.
    for (const { optionalDependencies = {} } of Object.values(lock.packages))
      for (const name of Object.keys(optionalDependencies))
        assert.ok(lock.packages[`node_modules/${name}`], name);
  });
});
