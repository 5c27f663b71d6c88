import { describe } from 'node:test';
import { skipUnless } from '../support/programs.ts';
import { startPostgres } from '../support/servers.ts';
import { onServer } from './conformance/on-server.ts';
import { queueConformance } from './conformance.ts';
import { tell } from './psql.ts';

describe('a queue on PostgreSQL', skipUnless('initdb', 'postgres'), () => {
  queueConformance(onServer(() => startPostgres({ durable: true }), flush));
});

const TABLES = `SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') AS names FROM pg_tables
  WHERE schemaname = 'feedback_mirror_queue' AND tablename <> 'migration'`;

async function flush(url: string): Promise<void> {
  const [row] = await tell(url, TABLES);
  await tell(url, `TRUNCATE ${String(row?.names)}`);
}
