import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `npm run build -w bullmq-sqlite`: makes `dist/`, the folder that is published. It holds JavaScript and types. The checkout runs the
 * TypeScript of `src/` instead, because Node strips types of files outside node_modules only.
 */
const ROOT = import.meta.dirname;
const DIST = join(ROOT, 'dist');
const TSC = join(ROOT, '../../node_modules/.bin/tsc');

rmSync(DIST, { recursive: true, force: true });
execFileSync(TSC, ['-p', 'tsconfig.build.json'], { cwd: ROOT, stdio: 'inherit' });
for (const name of ['README.md', 'LICENSE']) cpSync(join(ROOT, name), join(DIST, name));
writeFileSync(join(DIST, 'package.json'), `${JSON.stringify(published(), null, 2)}\n`);

/** The manifest of the checkout, with the entry points of the compiled files. */
function published(): Record<string, unknown> {
  const {
    private: _,
    scripts: __,
    ...manifest
  } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return { ...manifest, exports: { types: './index.d.ts', default: './index.js' } };
}
