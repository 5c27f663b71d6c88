import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, it } from 'node:test';

const root = resolve(import.meta.dirname, '..');

/** The house, top to bottom. An import may point to a lower floor or stay in its own room. */
const FLOORS: [level: number, rooms: string[]][] = [
  [10, ['src/main.ts', 'src/feedback-mirror.js', 'src/launch.js', 'src/cli', 'src/web']],
  [9, ['src/mcp']],
  [8, ['src/http']],
  [7, ['src/worker']],
  [6, ['jobs']],
  [5, ['src/app.ts']],
  [4, ['src/app']],
  [
    3,
    [
      'src/sync',
      'src/outbox',
      'src/export',
      'src/reports',
      'src/erasure',
      'src/query',
      'src/doctor',
      'src/webhooks',
      'src/publish',
    ],
  ],
  [2, ['src/api', 'src/store', 'src/queue', 'src/postgres', 'src/sandbox']],
  // Rules without reading or writing: the stores keep to them too.
  [1.5, ['src/mirror', 'src/outbox/decide']],
  [1, ['config', 'src/contract']],
  [0, ['src/base']],
];

/** Doors that stay shut although they would point down: settings are handed out in slices, not reached for. */
const CONFIG_READERS = ['src/app.ts', 'src/app', 'src/cli', 'config'];

const files = globSync(['src/**/*.{ts,js}', 'jobs/**/*.ts', 'config/**/*.ts'], { cwd: root }).sort();

function roomOf(file: string): { level: number; room: string } {
  const rooms = FLOORS.flatMap(([level, names]) => names.map((room) => ({ level, room })));
  const found = rooms.filter(({ room }) => file === room || file.startsWith(`${room}/`));
  const [innermost] = found.sort((a, b) => b.room.length - a.room.length);
  if (innermost) return innermost;
  throw new Error(`${file} stands in no room of the house: add its folder to FLOORS`);
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

  it('lets imports point down the layers, never up or sideways', () => {
    const wrong: string[] = [];
    for (const [file, imports] of graph) {
      const from = roomOf(file);
      for (const target of imports) {
        const to = roomOf(target);
        if (to.room !== from.room && to.level >= from.level && from.level !== 10)
          wrong.push(`${file} -> ${target}`);
        if (from.level === 10 && to.level === 10 && to.room !== from.room && !isEntry(file))
          wrong.push(`${file} -> ${target}`);
      }
    }
    assert.deepEqual(wrong, []);
  });

  it('shows settings to the composition root and the command line only', () => {
    const wrong = [...graph].flatMap(([file, imports]) =>
      CONFIG_READERS.includes(roomOf(file).room)
        ? []
        : imports.filter((t) => roomOf(t).room === 'config').map((t) => `${file} -> ${t}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('has no import cycles', () => {
    assert.deepEqual(findCycle(graph), null);
  });

  it('has no cycles among the folders of a room', () => {
    assert.deepEqual(findCycle(folderGraph()), null);
  });
});

/** Within its room a folder stands for its files. A folder's types.ts holds no code: whoever hands rows over may name them. */
function folderGraph(): Map<string, string[]> {
  const folders = new Map<string, Set<string>>();
  for (const [file, imports] of graph) {
    const from = folderOf(file);
    const targets = folders.get(from) ?? new Set();
    for (const target of imports)
      if (
        roomOf(target).room === roomOf(file).room &&
        folderOf(target) !== from &&
        !/\/types\.ts$/.test(target)
      )
        targets.add(folderOf(target));
    folders.set(from, targets);
  }
  return new Map([...folders].map(([folder, targets]) => [folder, [...targets]]));
}

function folderOf(file: string): string {
  const { room } = roomOf(file);
  const [folder = ''] = relative(room, file).split('/');
  return join(room, folder);
}

/** The entry files exist to hand over to another shell. */
function isEntry(file: string): boolean {
  return ['src/main.ts', 'src/feedback-mirror.js', 'src/launch.js'].includes(file);
}

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
