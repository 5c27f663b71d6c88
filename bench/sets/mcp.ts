import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import Database from 'better-sqlite3';
import { ENTRY } from '../../test/support/cli.ts';
import { median } from '../frame/numbers.ts';
import type { BenchSet, Bound, Row, Series } from '../frame/set.ts';
import { type LargeMirror, largeMirror } from '../large-mirror.ts';
import { drawTexts } from './search/texts.ts';

const POSTS = 100_000;
/** A process may be called 120 times a minute, and each repetition has a process of its own. */
const CALLS = 50;

export const mcpSet: BenchSet = {
  name: 'mcp',
  about:
    'Calls of an agent over stdio, from the request of the official client to its answer, and the memory of the process.',
  sizes: '100,000 posts in words of Zipf frequency, 50 searches and 50 looks for similar posts a repetition',
  async run(bench) {
    const mirror = await largeMirror(bench, bench.scale(POSTS));
    const runs: Figures[] = [];
    for (let n = 0; n < bench.repeat; n++) runs.push(await oneRun(mirror, n));
    const row = (
      name: string,
      of: keyof Figures,
      unit: Series['unit'] & Bound['unit'],
      most: number,
    ): Row => {
      const values = runs.map((run) => run[of]);
      const ours: Series = { name: 'mcp', command: 'feedback-mirror mcp', unit, values };
      return {
        row: name,
        ours,
        peer: null,
        figure: median(values),
        bound: { is: 'at most', value: most, unit },
      };
    };
    return [
      row('search over stdio, p95', 'search', 'ms', 100),
      row('similar_posts over stdio, p95', 'similar', 'ms', 100),
      {
        ...row('memory of mcp', 'memory', 'MB', 120),
        note: 'The high-water mark of resident memory after those calls, six reports, and a call of every other tool. Statements of sql run in a process of their own.',
      },
    ];
  },
};

interface Figures {
  search: number;
  similar: number;
  memory: number;
}

async function oneRun(mirror: LargeMirror, n: number): Promise<Figures> {
  const { middling, others } = drawTexts(mirror.path);
  const texts = mixed([middling, ...others.map(({ texts }) => texts)], n);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [ENTRY, 'mcp'],
    env: { PATH: process.env.PATH ?? '', ...mirror.env },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(transport);
  const timed = async (name: string, args: object): Promise<number> => {
    const began = performance.now();
    const { isError, content } = await client.callTool({ name, arguments: { ...args } });
    if (isError) throw new Error(`${name}: ${JSON.stringify(content)}`);
    return performance.now() - began;
  };
  try {
    const [search, similar]: [number[], number[]] = [[], []];
    for (const text of texts) search.push(await timed('search', { text }));
    for (const id of someIds(mirror.path, n)) similar.push(await timed('similar_posts', { id }));
    for (const [name, args] of OTHERS) await timed(name, args);
    return { search: p95(search), similar: p95(similar), memory: peakMb(transport.pid ?? 0) };
  } finally {
    await client.close();
  }
}

const OTHERS: readonly [name: string, args: object][] = [
  ...['overview', 'top-posts', 'gaining-posts', 'new-by-week', 'boards', 'unanswered'].map(
    (name): [string, object] => ['report', { name }],
  ),
  ['boards', {}],
  ['changes', {}],
  ['get_post', { id: 1 }],
  ['search', { sort: 'votes' }],
  ['sql', { sql: 'SELECT status, count(*) FROM live_posts GROUP BY 1' }],
];

/** Some of every kind, others in each run. */
function mixed(kinds: readonly (readonly string[])[], n: number): string[] {
  const each = Math.ceil(CALLS / kinds.length);
  return kinds.flatMap((texts) =>
    Array.from({ length: each }, (_, i) => texts[(n * each + i) % texts.length] ?? ''),
  );
}

function someIds(path: string, n: number): number[] {
  const db = new Database(path, { readonly: true });
  const most = db.prepare('SELECT max(id) FROM posts').pluck().get() as number;
  const find = db
    .prepare<[number], number>('SELECT id FROM posts WHERE id >= ? AND deleted_at IS NULL LIMIT 1')
    .pluck();
  const ids = Array.from(
    { length: CALLS },
    (_, i) => find.get(Math.floor((most * (i + n / 10)) / CALLS)) ?? 1,
  );
  db.close();
  return ids;
}

function p95(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(0.95 * times.length)] ?? Number.NaN;
}

function peakMb(pid: number): number {
  const [, kb = ''] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kb) * 1024) / 1e6;
}
