import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import type { Answer, Question, ThreadOptions } from './pglite-messages.ts';

/** PostgreSQL's defaults are for a server: these bring the memory of a warm start from 360 to 232 MB. */
const SMALL = ['shared_buffers = 8MB', 'wal_buffers = 1MB', 'max_connections = 10'];

/**
 * How much a function of the database runs before it is compiled a second time, and better. With V8's own 13 million the background
 * threads do so for most of a start: from opening a folder to the first job done takes 1.8 s of processor time instead of 0.95.
 */
const TIERING_BUDGET = 1_000_000_000;

/** The other end of pglite-session.ts. */
async function serve({ folder }: ThreadOptions): Promise<void> {
  setFlagsFromString(`--wasm-tiering-budget=${TIERING_BUDGET}`);
  const db = await PGlite.create({ dataDir: folder, postgresqlconf: SMALL });
  db.onNotification((channel, payload) => tell({ channel, payload }));
  parentPort?.on('message', (question: Question) => void reply(db, question));
}

async function reply(db: PGlite, { id, text, params }: Question): Promise<void> {
  try {
    if (text === null) {
      await db.close();
      tell({ id, rows: [], rowCount: 0 });
      return;
    }
    // Migrations are many statements in one text, which only the simple protocol takes.
    const result = params ? await db.query(text, params) : (await db.exec(text)).at(-1);
    tell({ id, rows: result?.rows ?? [], rowCount: result?.affectedRows ?? 0 });
  } catch (error) {
    // A copied error keeps its message only; BullMQ also looks at PostgreSQL's code.
    const { message, ...facts } = error as Error;
    tell({ id, message, isCrash: isCrash(error), facts: JSON.parse(JSON.stringify(facts)) as object });
  }
}

/** What WebAssembly and its C library throw. */
function isCrash(error: unknown): boolean {
  return error instanceof Error && /^(RuntimeError|ExitStatus)$/.test(error.name);
}

function tell(answer: Answer): void {
  parentPort?.postMessage(answer);
}

await serve(workerData as ThreadOptions);
tell({ id: 0, rows: [], rowCount: 0 });
// A thread that is ended does not do so by itself.
flushCompileCache();
