import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { tell } from '../queue/psql.ts';
import { type Server, startPostgres, startRedis } from '../support/servers.ts';

export const QUEUE_KINDS = ['embedded', 'redis', 'postgres'] as const;
export type QueueKind = (typeof QUEUE_KINDS)[number];

/** Where the program keeps its queue, and what can be done to it. */
export interface QueueSite {
  kind: QueueKind;
  /** Null for the one in the data folder. */
  url: string | null;
  /** The files it wrote, to be searched for what must not be there. */
  files(): string[];
  /** Null for the one in the data folder. */
  server: Server | null;
  /** Loses everything it holds, while the service runs. */
  empty(): Promise<void>;
  stop(): Promise<void>;
}

export async function openQueueSite(kind: QueueKind, data: string): Promise<QueueSite> {
  if (kind === 'embedded') {
    const empty = async (): Promise<void> => {
      for (const path of embedded(data)) rmSync(path, { recursive: true, force: true });
    };
    const files = (): string[] => embedded(data).flatMap(filesIn);
    return { kind, url: null, files, server: null, empty, stop: async () => {} };
  }
  // Redis logs every write there was, so that its folder shows all that was ever in the queue.
  const server = kind === 'redis' ? await startRedis({ durable: true }) : await startPostgres();
  const { url, folder } = server;
  const empty = kind === 'redis' ? () => flushRedis(url) : () => truncateAll(url);
  return { kind, url, files: () => filesIn(folder), server, empty, stop: () => server.stop() };
}

/** `queue.db` with its side files, or the folder `queue` of earlier versions. */
function embedded(data: string): string[] {
  const names = existsSync(data) ? readdirSync(data) : [];
  return names.filter((name) => /^queue(\.db.*)?$/.test(name)).map((name) => join(data, name));
}

export function filesIn(place: string): string[] {
  if (!existsSync(place)) return [];
  if (statSync(place).isFile()) return [place];
  const entries = readdirSync(place, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function flushRedis(url: string): Promise<void> {
  const admin = new Redis(url);
  await admin.flushall();
  admin.disconnect();
}

/** The tables stay: a queue whose tables are gone is another version of it, and the service says so. */
async function truncateAll(url: string): Promise<void> {
  const tables = await tell(
    url,
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND tablename NOT LIKE '%migration%'`,
  );
  if (tables.length > 0) await tell(url, `TRUNCATE ${tables.map(({ name }) => String(name)).join(', ')}`);
}
