import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { commitOf } from '../src/base/program.ts';

/**
 * `npm run build`: what is published. Node refuses to strip types below node_modules, so the package carries JavaScript in `dist/`,
 * in the folders of the checkout; nothing in the checkout runs it. Our own package bullmq-sqlite comes along in `dist/node_modules`.
 */
const ROOT = resolve(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const TSC = join(ROOT, 'node_modules/.bin/tsc');
const BACKEND = join(ROOT, 'packages/bullmq-sqlite');

rmSync(DIST, { recursive: true, force: true });
execFileSync(process.execPath, [join(BACKEND, 'build.ts')], { stdio: 'inherit' });
execFileSync(TSC, ['-p', 'tsconfig.build.json'], { cwd: ROOT, stdio: 'inherit' });
declareLibrary();
for (const path of globSync('src/**/migrations/*.sql', { cwd: ROOT })) copy(path);
for (const path of globSync('src/web/**/*.{ts,html,css,svg}', { cwd: ROOT })) copyForBrowsers(path);
bundle(join(BACKEND, 'dist'), 'bullmq-sqlite');
writeFileSync(join(DIST, 'package.json'), `${JSON.stringify(identity(), null, 2)}\n`);

function copy(path: string): void {
  cpSync(join(ROOT, path), join(DIST, path));
}

/** Node finds it from every file of `dist/`. npm packs a node_modules folder that is not at the top as it packs any other folder. */
function bundle(from: string, name: string): void {
  const filter = (path: string): boolean => !path.endsWith('.d.ts');
  cpSync(from, join(DIST, 'node_modules', name), { recursive: true, filter });
}

/**
 * Types of what programs may import. They are written out and name no type of the rest, so nothing else is read for them: the compiler
 * has checked them with the whole program before.
 */
function declareLibrary(): void {
  const alone = ['--ignoreConfig', '--noCheck', '--noResolve', '--skipLibCheck', '--types', 'node'];
  const forms = ['--target', 'es2024', '--module', 'nodenext', '--allowImportingTsExtensions'];
  const output = ['--declaration', '--emitDeclarationOnly', '--rootDir', '.', '--outDir', DIST];
  const files = globSync('src/library/*.ts', { cwd: ROOT });
  execFileSync(TSC, [...alone, ...forms, ...output, ...files], { cwd: ROOT, stdio: 'inherit' });
  for (const path of globSync('src/library/*.d.ts', { cwd: DIST })) {
    const text = readFileSync(join(DIST, path), 'utf8');
    writeFileSync(join(DIST, path), text.replaceAll(/(?<=['"]\.\/\w+)\.ts(?=['"])/g, '.js'));
  }
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
