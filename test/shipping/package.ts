import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT } from '../support/cli.ts';

export interface Packed {
  /** Everything of this test is in it, readable for every user. */
  folder: string;
  tarball: string;
  bytes: number;
  files: string[];
  remove(): void;
}

/** `npm pack`, which builds first. */
export function pack(): Packed {
  const folder = mkdtempSync(join(tmpdir(), 'fm-package-'));
  chmodSync(folder, 0o755);
  const [told] = JSON.parse(npm(['pack', '--json', '--silent', '--pack-destination', folder], CHECKOUT)) as {
    filename: string;
    size: number;
    files: { path: string }[];
  }[];
  if (!told) throw new Error('npm pack told nothing');
  return {
    folder,
    tarball: join(folder, told.filename),
    bytes: told.size,
    files: told.files.map(({ path }) => path),
    remove() {
      spawnSync('chmod', ['-R', 'u+w', folder]);
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** `npm install -g` into a prefix of its own; returns the path of the program. */
export function installGlobally({ folder }: Packed, ...packages: string[]): string {
  const prefix = join(folder, 'prefix');
  npm(['install', '-g', '--prefix', prefix, ...packages], folder);
  return join(prefix, 'bin/feedback-mirror');
}

export function npm(args: string[], cwd: string, env: Record<string, string> = {}): string {
  const quiet = {
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_update_notifier: 'false',
  };
  // npm hands its settings on to the npm it starts, such as the prefix of the checkout.
  const clean = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  return execFileSync('npm', args, {
    cwd,
    env: { ...Object.fromEntries(clean), ...quiet, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
