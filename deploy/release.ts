import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** The files that have the version. They are put back where a release fails. */
const VERSIONED = ['package.json', 'package-lock.json', 'CHANGELOG.md'];

interface Manifest {
  name: string;
  version: string;
  bin: Record<string, string>;
  exports?: Record<string, unknown>;
}

export interface Release {
  /** The checkout. */
  root: string;
  version: string;
  /** Of the changelog, as 2026-01-31. */
  date: string;
  say(line: string): void;
}

/** `npm run release -- 0.2.0`: from a clean tree to a commit, a tag and the files of `release/`. Throws an Error that names what is wrong. */
export function release({ root, version, date, say }: Release): void {
  const git = (...args: string[]): string => output('git', args, root);
  check(git, root, version);
  say('npm test');
  execFileSync('npm', ['test'], { cwd: root, stdio: 'inherit' });
  try {
    say(`version ${version}`);
    setVersion(root, version, date);
    const files = packed(root, version);
    say('verifying the package in a fresh folder');
    verify(root, files.tarball, version);
    writeChecksums(files);
  } catch (error) {
    git('checkout', '--', ...VERSIONED);
    throw error;
  }
  git('commit', '--quiet', '--message', `Release ${version}`, '--', ...VERSIONED);
  git('tag', '--annotate', `v${version}`, '--message', `Version ${version}`);
  say(`Tagged v${version}. Push the commit and the tag, and publish the files of release/.`);
}

function check(git: (...args: string[]) => string, root: string, version: string): void {
  const { version: current } = manifestOf(root);
  if (!/^\d+\.\d+\.\d+$/.test(version))
    throw new Error(`"${version}" is no version: give one such as 0.2.0.`);
  if (!isLater(version, current)) throw new Error(`${version} is not later than ${current}.`);
  const changed = git('status', '--porcelain').trim();
  if (changed !== '') throw new Error(`The tree is not clean. Commit or remove these:\n${changed}`);
  if (git('tag', '--list', `v${version}`).trim() !== '')
    throw new Error(`The tag v${version} exists already.`);
  const [, unreleased = ''] =
    /^## \[Unreleased\]\n([\s\S]*?)(?=^## \[|(?![\s\S]))/m.exec(read(root, 'CHANGELOG.md')) ?? [];
  if (unreleased.trim() === '')
    throw new Error('CHANGELOG.md has nothing under [Unreleased]: say what is new.');
}

export function isLater(version: string, than: string): boolean {
  return version.localeCompare(than, 'en', { numeric: true }) > 0;
}

function setVersion(root: string, version: string, date: string): void {
  output('npm', ['version', version, '--no-git-tag-version'], root);
  const heading = `## [${version}] - ${date}`;
  writeFileSync(join(root, 'CHANGELOG.md'), read(root, 'CHANGELOG.md').replace('## [Unreleased]', heading));
}

interface Packed {
  tarball: string;
  sbom: string;
}

/** The package, and what is in it as CycloneDX. */
function packed(root: string, version: string): Packed {
  const folder = join(root, 'release');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const { name } = manifestOf(root);
  output('npm', ['pack', '--silent', '--pack-destination', folder], root);
  const sbom = join(folder, `${name}-${version}.cdx.json`);
  writeFileSync(sbom, sbomOf(root, name));
  return { tarball: join(folder, `${name}-${version}.tgz`), sbom };
}

/** From the lock file: node_modules also holds the runtime, which the package does not bring. npm takes the folder's name for the package's. */
function sbomOf(root: string, name: string): string {
  const flags = [
    '--sbom-format',
    'cyclonedx',
    '--sbom-type',
    'application',
    '--omit',
    'dev',
    '--package-lock-only',
  ];
  const sbom = JSON.parse(output('npm', ['sbom', ...flags], root)) as {
    metadata: { component: { name: string } };
  };
  sbom.metadata.component.name = name;
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

/** In the form of `sha256sum --check`. */
function writeChecksums({ tarball, sbom }: Packed): void {
  const line = (path: string): string =>
    `${createHash('sha256').update(readFileSync(path)).digest('hex')}  ${basename(path)}\n`;
  writeFileSync(join(tarball, '../SHA256SUMS'), [tarball, sbom].map(line).join(''));
}

/** As somebody else installs it: the program says its version, and everything that is exported can be imported. */
function verify(root: string, tarball: string, version: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    const { name, bin, exports = {} } = manifestOf(root);
    writeFileSync(join(folder, 'package.json'), '{"name":"fresh","version":"1.0.0","type":"module"}');
    output('npm', ['install', '--no-audit', '--no-fund', tarball], folder);
    const [program = ''] = Object.keys(bin);
    const shown = output(join(folder, 'node_modules/.bin', program), ['--version'], folder);
    if (!shown.startsWith(version)) throw new Error(`The installed program says that it is ${shown.trim()}.`);
    const imports = Object.keys(exports).map((path) => {
      const module = JSON.stringify(path.replace('.', name));
      return path.endsWith('.json')
        ? `await import(${module}, { with: { type: 'json' } });`
        : `await import(${module});`;
    });
    writeFileSync(join(folder, 'imports.js'), imports.join('\n'));
    output(process.execPath, ['imports.js'], folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function manifestOf(root: string): Manifest {
  return JSON.parse(read(root, 'package.json')) as Manifest;
}

function read(root: string, name: string): string {
  return readFileSync(join(root, name), 'utf8');
}

/** npm hands its settings on to the npm it starts, such as the prefix of the checkout. */
function output(command: string, args: string[], cwd: string): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  try {
    return execFileSync(command, args, {
      cwd,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 2 ** 26,
    });
  } catch (error) {
    const said = stripVTControlCharacters(String(Reflect.get(Object(error), 'stderr'))).trim();
    throw new Error(`${[basename(command), ...args].join(' ')} failed: ${said}`, { cause: error });
  }
}

if (import.meta.main) {
  const [version = ''] = process.argv.slice(2);
  const date = new Date().toISOString().slice(0, 10);
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  try {
    release({ root: resolve(import.meta.dirname, '..'), version, date, say });
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
