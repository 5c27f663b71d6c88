import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, it } from 'node:test';

const root = resolve(import.meta.dirname, '..');

/**
 * The house from the ground up. A room is a folder without the folders in it, or one file. An import stays in its room or points to a
 * room that comes earlier. A new room gets the lowest place where its imports allow it.
 */
const ROOMS = `
  packages/bullmq-sqlite/src  src/base  src/text  src/contract  config
  src/mirror/decide  src/outbox/decide  src/rules/decide  src/fleet/decide
  src/db  src/mirror/log  src/mirror/index  src/mirror/suppression  src/mirror/file  src/mirror/store
  src/segments
  src/outbox/store  src/state
  src/api  src/queue  src/postgres  src/sandbox
  src/changes  src/search/browse  src/search  src/replica  src/webhooks  src/reports  src/rules  src/query  src/upkeep  src/doctor
  src/export/store  src/export  src/erasure/store  src/erasure  src/publish  src/restore  src/fleet
  src/mirror/sweep  src/outbox/send  src/outbox/import/csv  src/outbox/import  src/outbox
  src/app  src/app.ts
  jobs  src/service
  src/http/server  src/http/dashboard  src/http/replica  src/http  src/mcp  src/sources
  src/library  src/cli  src/web  src/web/parts  src/web/shell  src/web/pages  src/web/main.ts  src/web/all.ts  src/main.ts  src/launch.js  src/feedback-mirror.js
`
  .trim()
  .split(/\s+/);

/** Doors that stay shut although they would point down: settings are handed out in slices, not reached for. */
const CONFIG_READERS = ['src/app.ts', 'src/app', 'src/cli', 'config'];

const files = globSync(['src/**/*.{ts,js}', 'jobs/**/*.ts', 'config/**/*.ts', 'packages/*/src/**/*.ts'], {
  cwd: root,
}).sort();

function roomOf(file: string): string {
  const room = [file, dirname(file)].find((name) => ROOMS.includes(name));
  if (room) return room;
  throw new Error(`${file} is in no room of the house: add its folder to ROOMS`);
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const specifiers = text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g);
  return [...specifiers].map(([, path = '']) => relative(root, resolve(root, dirname(file), path)));
}

const graph = new Map(files.map((file) => [file, importsOf(file)]));

describe('the house', () => {
  it('has every source file in a room', () => {
    assert.ok(files.length > 10);
    for (const file of files) roomOf(file);
  });

  it('lets imports point down, never up or sideways', () => {
    const wrong = [...graph].flatMap(([file, imports]) =>
      imports
        .filter((target) => ROOMS.indexOf(roomOf(target)) > ROOMS.indexOf(roomOf(file)))
        .map((target) => `${file} -> ${target}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('has no room that is empty', () => {
    const used = new Set(files.map(roomOf));
    assert.deepEqual(
      ROOMS.filter((room) => !used.has(room)),
      [],
    );
  });

  it('shows settings to the composition root and the command line only', () => {
    const wrong = [...graph].flatMap(([file, imports]) =>
      CONFIG_READERS.includes(roomOf(file))
        ? []
        : imports.filter((t) => roomOf(t) === 'config').map((t) => `${file} -> ${t}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('has no import cycles', () => {
    assert.deepEqual(findCycle(graph), null);
  });
});

function findCycle(edges: Map<string, string[]>): string[] | null {
  const done = new Set<string>();
  const visit = (file: string, path: string[]): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return null;
    done.add(file);
    for (const target of edges.get(file) ?? []) {
      const cycle = visit(target, [...path, file]);
      if (cycle) return cycle;
    }
    return null;
  };
  for (const file of edges.keys()) {
    const cycle = visit(file, []);
    if (cycle) return cycle;
  }
  return null;
}
