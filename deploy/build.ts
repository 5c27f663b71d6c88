import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { commitOf } from '../src/base/program.ts';

/**
 * `npm run build`: what is published. Node refuses to strip types below node_modules, so the package carries JavaScript in `dist/`,
 * in the folders of the checkout; nothing in the checkout runs it.
 */
const ROOT = resolve(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const TSC = join(ROOT, 'node_modules/.bin/tsc');

rmSync(DIST, { recursive: true, force: true });
execFileSync(TSC, ['-p', 'tsconfig.build.json'], { cwd: ROOT, stdio: 'inherit' });
for (const path of globSync('src/**/migrations/*.sql', { cwd: ROOT })) copy(path);
for (const path of globSync('src/web/**/*.{ts,html,css,svg}', { cwd: ROOT })) copyForBrowsers(path);
writeFileSync(join(DIST, 'package.json'), `${JSON.stringify(identity(), null, 2)}\n`);

function copy(path: string): void {
  cpSync(join(ROOT, path), join(DIST, path));
}

/** Types go, and what names a module names the JavaScript. tsc would make a module of the one script that must run before the page. */
function copyForBrowsers(path: string): void {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const isModule = extname(path) === '.ts';
  const plain = isModule ? stripTypeScriptTypes(text) : text;
  const target = join(DIST, isModule ? path.replace(/\.ts$/, '.js') : path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, plain.replaceAll(/(?<=["'](?:\.{1,2}|\/assets)\/[\w./-]+)\.ts(?=["'])/g, '.js'));
}

/** Read by the compiled program where the checkout reads its own package.json; a package has no git to ask. */
function identity(): Record<string, unknown> {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>;
  const { name, version, peerDependencies } = manifest;
  return { name, version, type: 'module', commit: process.env.COMMIT || commitOf(ROOT), peerDependencies };
}
