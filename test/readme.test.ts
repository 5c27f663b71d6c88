import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { SETTINGS, type Setting } from '../config/schema.ts';
import { FIRST_WORDS, NAMES_OF_OTHER_PROGRAMS, SETTING_NAMES } from '../config/spelling.ts';
import { REJECTIONS } from '../src/api/create.ts';
import { LIMIT_DEFAULTS } from '../src/api/options.ts';
import { RETRY_DEFAULTS } from '../src/api/retry.ts';
import { EXIT_CODES } from '../src/cli/context.ts';
import { TRANSITIONS } from '../src/outbox/decide/states.ts';
import { PUBLIC_TABLES } from '../src/query/schema-words.ts';

const root = resolve(import.meta.dirname, '..');
const page = (path: string): string => readFileSync(resolve(root, path), 'utf8');
const architecture = page('docs/architecture.md');
const operations = page('docs/operations.md');
const docs = readdirSync(resolve(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'test/chaos/README.md',
  ...docs,
];
const all = PAGES.map(page).join('\n');
const manifest = JSON.parse(page('package.json')) as {
  scripts: Record<string, string>;
  allowScripts: Record<string, boolean>;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

describe('the documents', () => {
  it('draw every transition of the outbox, and no other', () => {
    const drawn = [...operations.matchAll(/^ {2}([a-z]+) --> ([a-z]+):/gm)].map(
      ([, from, to]) => `${from} -> ${to}`,
    );
    const transitions = Object.values(TRANSITIONS).flatMap(({ from, to }) =>
      from.map((state) => `${state} -> ${to}`),
    );
    assert.deepEqual(new Set(drawn), new Set(transitions));
  });

  it('name the answers that reject a create', () => {
    const codes = [...REJECTIONS];
    const last = codes.pop();
    assert.ok(operations.includes(`sending --> rejected: ${codes.join(' ')} ${last}\n`));
    assert.ok(page('docs/api.md').includes(`| ${codes.join(', ')} and ${last} reject a create;`));
    assert.ok(page('docs/promises.md').includes(`by ${codes.join(', ')} and ${last}, with JSON`));
  });

  it('have the limits of one request', () => {
    const table = page('docs/limits.md').split('## Limits of one request')[1] ?? '';
    const told = (limit: string): string =>
      new RegExp(`^\\| ${limit}.*? \\| (.*) \\|$`, 'm').exec(table)?.[1] ?? '';
    const { connectMs, idleMs, pageMs, createMs, maxBytes, maxExpansion, maxHeaderBytes, maxRows } =
      LIMIT_DEFAULTS;
    const values = {
      'time to connect': `${connectMs / 1000} s`,
      'time without a byte': `${idleMs / 1000} s`,
      'one page': `${pageMs / 1000} s`,
      'one create': `${createMs / 1000} s`,
      'one body': `${maxBytes / 2 ** 20} MiB, and ${maxExpansion} times its compressed size`,
      'the headers': `${maxHeaderBytes / 1024} KiB`,
      'rows of one page': maxRows.toLocaleString('en'),
    };
    assert.deepEqual(Object.fromEntries(Object.keys(values).map((limit) => [limit, told(limit)])), values);
    assert.ok(told('a `Retry-After`').includes(`over ${RETRY_DEFAULTS.maxWaitMs / 60_000} minutes`));
  });

  it('have the exit codes of the program', () => {
    const table = operations.slice(operations.indexOf('| exit |'));
    for (const code of new Set(Object.values(EXIT_CODES)))
      assert.match(table, new RegExp(`^\\| ${code} \\|`, 'm'));
  });

  it('name only npm scripts and settings that exist, and every setting once in its table with its default', () => {
    for (const [, script = ''] of all.matchAll(/npm run ([a-z:]+(?:-[a-z]+)*)/g))
      assert.ok(manifest.scripts[script], script);
    for (const [name] of all.matchAll(new RegExp(`\\b(?:${[...FIRST_WORDS].join('|')})_[A-Z_]+\\b`, 'g')))
      assert.ok(SETTING_NAMES.has(name) || NAMES_OF_OTHER_PROGRAMS.test(name), name);
    const rows = operations.split('\n').filter((line) => line.startsWith('| `'));
    for (const { env, fallback, parse } of Object.values<Setting<unknown>>(SETTINGS)) {
      const [row, second] = rows.filter((line) => line.split(' | ')[0]?.includes(`\`${env}\``));
      assert.ok(row && !second, env);
      const [names = [], defaults = []] = row
        .split(' | ')
        .map((cell) => [...cell.matchAll(/`([^`]*)`/g)].map(([, word = '']) => word));
      if (fallback !== null) assert.deepEqual(parse(defaults[names.indexOf(env)] ?? ''), fallback, env);
    }
  });

  it('describe every table and column that people may read', () => {
    const sections = page('docs/sql.md').split('\n### ');
    for (const { name, columns } of PUBLIC_TABLES) {
      const section = sections.find((text) => text.startsWith(`${name}\n`)) ?? '';
      for (const [column, words] of Object.entries(columns)) {
        const row = section.split('\n').find((line) => line.startsWith(`| \`${column}\` |`));
        assert.ok(row?.endsWith(`| ${words} |`), `${name}.${column}: ${words}`);
      }
    }
  });

  it('name only files that exist', () => {
    for (const [, path = ''] of all.matchAll(
      /`((?:src|jobs|config|test|docs|bench|examples|deploy|schemas|packages)\/[^`*\s#]*)[^`\s]*`/g,
    ))
      assert.ok(existsSync(resolve(root, path)), path);
    for (const [, path = ''] of page('test/README.md').matchAll(/`([a-z-]+\/[\w./-]*)`/g))
      if (!path.includes('NAME'))
        assert.ok(
          [path, `test/${path}`].some((name) => existsSync(resolve(root, name))),
          path,
        );
  });

  it('have a test that `npm test` runs for each promise', () => {
    const [, table = ''] = page('test/README.md').split('## Promises and their tests');
    for (const row of table.split('\n').filter((line) => line.startsWith('| ') && line.includes('`')))
      assert.match(row, /\/[\w-]+(\.e2e)?\.test\.ts`|\/`/, row);
  });

  it('link only to pages and headings that exist', () => {
    for (const name of PAGES)
      for (const [, path = '', anchor = ''] of page(name).matchAll(
        /\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g,
      )) {
        const target = path === '' ? resolve(root, name) : resolve(root, dirname(name), path);
        assert.ok(existsSync(target), `${name} links to ${path}`);
        if (anchor !== '')
          assert.ok(anchorsOf(readFileSync(target, 'utf8')).has(anchor), `${name}: ${path}#${anchor}`);
      }
  });

  it('name every optional package, and every path of HTTP that is for people and programs', () => {
    const install = operations.slice(operations.indexOf('## Install'), operations.indexOf('## Settings'));
    for (const name of Object.keys(manifest.peerDependencies))
      assert.ok(install.includes(`\`${name}\``), name);
    for (const path of [
      '/',
      '/api/v1/',
      '/api/v1/openapi.json',
      '/api/changes',
      '/api/changes/stream',
      '/mcp',
    ])
      assert.ok(install.includes(`| \`${path}\``) || install.includes(`, \`${path}\``), path);
    for (const path of ['/feeds/posts.atom', '/queues', '/webhooks', '/healthz', '/readyz', '/metrics'])
      assert.ok(install.includes(`\`${path}\``), path);
  });

  it('install packages in the version of the manifest', () => {
    const versions = { ...manifest.dependencies, ...manifest.peerDependencies };
    const told = [...all.matchAll(/(?<=\s)((?:@[a-z-]+\/)?[a-z-]+)@(\d+\.\d+\.\d+)/g)];
    assert.ok(told.length > 0);
    for (const [text, name = '', version] of told) assert.equal(version, versions[name], text);
  });

  it('say of every dependency what it is for', () => {
    const table = architecture.slice(architecture.indexOf('## Dependencies'));
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })) {
      if (!name.startsWith('@types/')) assert.ok(table.includes(name.replace('@biomejs/', '')), name);
    }
  });
});

/** Headings as GitHub names them, and anchors that are written out. */
function anchorsOf(markdown: string): Set<string> {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...headings, ...[...markdown.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)]);
}

describe('the manifest', () => {
  it('pins every dependency to one version, and lists install scripts by name', () => {
    const { dependencies, devDependencies } = manifest;
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      assert.match(version, /^\d+\.\d+\.\d+(-[a-z0-9.]+)?$/, name);
    const lock = JSON.parse(readFileSync(resolve(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<
        string,
        { hasInstallScript?: true; integrity?: string; link?: true; optionalDependencies?: object }
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
    for (const [path, { integrity, link }] of Object.entries(lock.packages))
      if (path.startsWith('node_modules/') && !link) assert.ok(integrity, path);
    // npm leaves out what it could not find for another platform, and then refuses the lock file on every one.
    for (const { optionalDependencies = {} } of Object.values(lock.packages))
      for (const name of Object.keys(optionalDependencies))
        assert.ok(lock.packages[`node_modules/${name}`], name);
  });
});
