import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { SETTINGS } from '../../config/schema.ts';
import { CHECKOUT } from '../support/cli.ts';
import { skipUnless } from '../support/programs.ts';

const page = (name: string): string => readFileSync(join(CHECKOUT, 'deploy', name), 'utf8');
const NAMES = Object.values(SETTINGS).flatMap(({ env, secret }) => (secret ? [env, `${env}_FILE`] : [env]));

/** Where the types of each kind are. */
const MODULES: Record<string, string> = { PersistentVolumeClaim: 'core/v1', Deployment: 'apps/v1' };

interface Manifest {
  kind: string;
  spec: { template?: { spec: { containers: { env: { name: string }[] }[] } } };
}

const manifests = parseAllDocuments(page('kubernetes.yaml')).map((document) => document.toJS() as Manifest);

describe('the Kubernetes manifest', () => {
  it('is what the types of Kubernetes allow, without a field they do not know', () => {
    const folder = mkdtempSync(join(tmpdir(), 'fm-kubernetes-'));
    try {
      symlinkSync(join(CHECKOUT, 'node_modules'), join(folder, 'node_modules'));
      const checks = manifests.map(
        (manifest, i) =>
          `const it${i}: import('kubernetes-types/${MODULES[manifest.kind]}.js').${manifest.kind} = ${JSON.stringify(manifest)};`,
      );
      writeFileSync(join(folder, 'manifests.ts'), `${checks.join('\n')}\nexport {};\n`);
      const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', ''];
      const { status, stdout } = spawnSync(
        join(CHECKOUT, 'node_modules/.bin/tsc'),
        [...flags, 'manifests.ts'],
        {
          cwd: folder,
          encoding: 'utf8',
        },
      );
      assert.equal(status, 0, stdout);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('names only settings that exist, and no secret', () => {
    const [container] =
      manifests.find(({ kind }) => kind === 'Deployment')?.spec.template?.spec.containers ?? [];
    const given = container?.env.map(({ name }) => name) ?? [];
    assert.ok(given.includes('FEEDBACK_API_TOKEN_FILE'));
    for (const name of given) assert.ok(NAMES.includes(name), name);
  });
});

describe('the systemd unit', () => {
  it('is what systemd understands', skipUnless('systemd-analyze'), () => {
    const folder = mkdtempSync(join(tmpdir(), 'fm-unit-'));
    try {
      const unit = join(folder, 'feedback-mirror.service');
      // The program need not be installed here.
      writeFileSync(unit, page('feedback-mirror.service').replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true'));
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
      assert.deepEqual([status, stderr], [0, '']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('leaves settings and token to the one file that commands in its folder read too', () => {
    const lines = page('feedback-mirror.service').split('\n');
    const given = lines.filter((line) => line.startsWith('Environment='));
    assert.deepEqual(given, ['Environment=XDG_CACHE_HOME=%C']);
    const folder = lines.find((line) => line.startsWith('WorkingDirectory='))?.split('=')[1];
    for (const file of ['.env', 'sources.yaml'])
      assert.ok(lines.includes(`AssertPathExists=|${folder}/${file}`));
  });
});
