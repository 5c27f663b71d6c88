import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { openTestPublisher } from '../../test/publish/copy.ts';
import { requireProgram } from '../../test/support/programs.ts';
import { type Server, startPostgres } from '../../test/support/servers.ts';
import { feedbackMirror, measured } from '../frame/child.ts';
import { median, ratio } from '../frame/numbers.ts';
import { interleaved } from '../frame/repeat.ts';
import type { Bench, BenchSet, Row } from '../frame/set.ts';
import { type LargeMirror, largeMirror } from '../large-mirror.ts';

const POSTS = 100_000;

/** The copy in PostgreSQL, and the way back. */
export const publishSet: BenchSet = {
  name: 'publish',
  about:
    'The first copy of a mirror in PostgreSQL, beside psql copying the same rows from files, and the way back.',
  sizes: '100,000 posts and as many comments, with a year of history',
  run,
};

interface Place {
  server: Server;
  mirror: LargeMirror;
  folder: string;
  /** By table. */
  rows: Map<string, number>;
}

async function run(bench: Bench): Promise<Row[]> {
  const posts = bench.scale(POSTS);
  const mirror = await largeMirror(bench, posts);
  const server = await startPostgres();
  try {
    const place = await prepare({ server, mirror, folder: bench.folder, rows: new Map() });
    const [ours = [], peer = [], back = []] = await interleaved(bench, [
      { name: 'first copy', run: () => firstCopy(place) },
      { name: 'psql \\copy', run: () => psqlCopy(place) },
      { name: 'restore', run: () => restore(bench, place) },
    ]);
    const copied = {
      name: 'first copy',
      command: 'PUBLISH_URL=... feedback-mirror start',
      unit: 'rows/s',
      values: ours,
    } as const;
    const beside = {
      name: 'psql',
      command: 'psql -c "\\copy posts FROM posts.txt" ...',
      unit: 'rows/s',
      values: peer,
    } as const;
    const restored = {
      name: 'restore',
      command: 'feedback-mirror restore --from postgres://...',
      unit: 's',
      values: back,
    } as const;
    const size = `${posts.toLocaleString('en')} posts`;
    return [
      {
        row: `first copy, ${size}`,
        ours: copied,
        peer: beside,
        figure: ratio(copied, beside),
        bound: { is: 'at least', value: 0.5, unit: '' },
        note: 'Ours also makes tables, indexes, views and comments; psql finds the same tables made, with the same indexes.',
      },
      {
        row: `restore, ${size}`,
        ours: restored,
        peer: null,
        figure: median(back),
        bound: { is: 'at most', value: 60, unit: 's' },
      },
    ];
  } finally {
    await server.stop();
  }
}

/** The same rows as files, from a copy that stays. */
async function prepare(place: Place): Promise<Place> {
  await publishTo(place, 'origin');
  await told(place, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relnamespace = 'origin'::regnamespace AND relkind = 'r' AND relname <> 'mirror_position'",
    );
    for (const { name } of rows) {
      const counted = await client.query<{ n: string }>(`SELECT count(*) AS n FROM origin.${name}`);
      place.rows.set(name, Number(counted.rows[0]?.n));
    }
  });
  await psql(
    place,
    [...place.rows.keys()].map((name) => `\\copy origin.${name} TO '${fileOf(place, name)}'`),
  );
  return place;
}

function rowsIn({ rows }: Place): number {
  return [...rows.values()].reduce((sum, n) => sum + n, 0);
}

function fileOf({ folder }: Place, name: string): string {
  return join(folder, `${name}.txt`);
}

async function publishTo({ server, mirror }: Place, schema: string): Promise<void> {
  const publisher = openTestPublisher(server.url, { path: mirror.path, upstream: mirror.upstream }, schema);
  try {
    await publisher.step();
  } finally {
    await publisher.close();
  }
}

async function firstCopy(place: Place): Promise<number> {
  const begun = performance.now();
  await publishTo(place, 'ours');
  const seconds = (performance.now() - begun) / 1000;
  await told(place, (client) => client.query('DROP SCHEMA ours CASCADE'));
  return rowsIn(place) / seconds;
}

async function psqlCopy(place: Place): Promise<number> {
  const names = [...place.rows.keys()];
  await told(place, async (client) => {
    await client.query('CREATE SCHEMA peer');
    for (const name of names)
      await client.query(`CREATE TABLE peer.${name} (LIKE origin.${name} INCLUDING ALL)`);
  });
  const seconds = await psql(
    place,
    names.map((name) => `\\copy peer.${name} FROM '${fileOf(place, name)}'`),
  );
  await told(place, (client) => client.query('DROP SCHEMA peer CASCADE'));
  return rowsIn(place) / seconds;
}

async function psql({ server }: Place, commands: string[]): Promise<number> {
  const args = [
    '-X',
    '-q',
    '-v',
    'ON_ERROR_STOP=1',
    server.url,
    ...commands.flatMap((command) => ['-c', command]),
  ];
  return (await measured({ command: requireProgram('psql'), args })).seconds;
}

async function restore(bench: Bench, { server, mirror }: Place): Promise<number> {
  const folder = join(bench.folder, 'restored');
  const env = {
    ...mirror.env,
    DATA_DIR: folder,
    MIRROR_PATH: join(folder, 'mirror.db'),
    PUBLISH_SCHEMA: 'origin',
  };
  const { seconds } = await measured(feedbackMirror(['restore', '--from', server.url], env));
  rmSync(folder, { recursive: true });
  return seconds;
}

async function told<T>({ server }: Place, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(server.url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
