import { runQuery } from '../../src/query/run.ts';

/** Asks without end, in a process of its own that a test kills: `asker.ts <mirror>`. */
const sql = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n';
for await (const { kind } of runQuery({ path: process.argv[2] ?? '', sql, limitMs: 60_000 }))
  process.stdout.write(`${kind}\n`);
