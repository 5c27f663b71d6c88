import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { isLater, release } from '../../deploy/release.ts';
import { folderFor } from '../support/folder.ts';

const MANIFEST = {
  name: 'small-package',
  version: '0.1.0',
  type: 'module',
  bin: { 'small-package': 'bin.js' },
  exports: { './part': './part.js', './package.json': './package.json' },
  files: ['bin.js', 'part.js'],
  scripts: { test: 'node bin.js' },
};
const PROGRAM = `#!/usr/bin/env node
import manifest from './package.json' with { type: 'json' };
process.stdout.write(manifest.version + '\\n');
`;

/** A package with a history of its own: a release of the real one takes as long as all of its tests. */
function smallPackage(t: TestContext, differences: Record<string, string> = {}) {
  const root = folderFor(t, 'release');
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  const files: Record<string, string> = {
    'package.json': JSON.stringify(MANIFEST),
    'bin.js': PROGRAM,
    'part.js': 'export const part = 1;\n',
    'CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n\n- Something new.\n\n## [0.1.0]\n\nFirst.\n',
    '.gitignore': 'release/\nnode_modules/\n',
    ...differences,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text, { mode: 0o755 });
  execFileSync('npm', ['install', '--package-lock-only', '--no-audit', '--silent'], { cwd: root });
  git('init', '--quiet');
  git('config', 'user.email', 'test@example.com');
  git('config', 'user.name', 'Test');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Begin');
  const cut = (version: string): void => release({ root, version, date: '2026-01-31', say: () => undefined });
  return { root, git, cut };
}

describe('npm run release', () => {
  it('sets the version, packs, writes checksums and an SBOM, verifies the package, commits and tags', (t) => {
    const { root, git, cut } = smallPackage(t);
    cut('0.2.0');
    assert.deepEqual(readdirSync(join(root, 'release')).sort(), [
      'SHA256SUMS',
      'small-package-0.2.0.cdx.json',
      'small-package-0.2.0.tgz',
    ]);
    const [sum, name] = readFileSync(join(root, 'release/SHA256SUMS'), 'utf8').split(/\s+/);
    const bytes = readFileSync(join(root, 'release', name ?? ''));
    assert.equal(sum, createHash('sha256').update(bytes).digest('hex'));
    const sbom = JSON.parse(readFileSync(join(root, 'release/small-package-0.2.0.cdx.json'), 'utf8')) as {
      bomFormat: string;
      metadata: { component: { name: string; version: string } };
    };
    const { name: of, version } = sbom.metadata.component;
    assert.deepEqual([sbom.bomFormat, of, version], ['CycloneDX', 'small-package', '0.2.0']);
    assert.match(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), /^## \[0\.2\.0\] - 2026-01-31$/m);
    assert.equal(git('describe', '--tags').trim(), 'v0.2.0');
    assert.equal(git('status', '--porcelain'), '');
  });

  it('refuses a tree that is not clean, a version that is not later, and a changelog without news', (t) => {
    const { root, cut } = smallPackage(t);
    assert.throws(() => cut('0.1.0'), /0\.1\.0 is not later than 0\.1\.0/);
    assert.throws(() => cut('two'), /"two" is no version/);
    writeFileSync(join(root, 'stray.txt'), '');
    assert.throws(() => cut('0.2.0'), /The tree is not clean[\s\S]*stray\.txt/);
    const silent = smallPackage(t, {
      'CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n\n## [0.1.0]\n\nFirst.\n',
    });
    assert.throws(() => silent.cut('0.2.0'), /nothing under \[Unreleased\]/);
  });

  it('leaves the tree as it was where the package does not work in a fresh folder', (t) => {
    const { git, root, cut } = smallPackage(t, { 'part.js': "import './not-packed.js';\n" });
    assert.throws(() => cut('0.2.0'), /not-packed/);
    assert.equal(git('status', '--porcelain'), '');
    assert.equal(git('tag').trim(), '');
    assert.ok(!existsSync(join(root, 'release/SHA256SUMS')));
  });

  it('knows which version is later', () => {
    assert.ok(isLater('0.10.0', '0.9.9'));
    assert.ok(!isLater('0.2.0', '0.2.0'));
  });
});
