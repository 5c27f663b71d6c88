import { randomUUID } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import type { StoredChange } from '../changes/change.ts';
import { takeLockOver } from '../postgres/lock.ts';
import { identifier, readCopyPosition, tableName, writePosition } from '../postgres/schema.ts';
import type { Session } from '../postgres/session.ts';
import type { Rebuild, Rebuilt } from './rebuild.ts';

export interface Restored extends Rebuilt {
  /** Of when the copy was, by the clock of the machine that wrote it. */
  readAt: string;
}

interface RestoreDeps {
  session: Session;
  schema: string;
  upstream: string;
  /** Makes the empty file, with the tables of that version. */
  begin(version: number): Rebuild;
  /** The newest version of the tables that this program knows. */
  knownVersion: number;
  signal: AbortSignal;
  /** The caller has the lease of the source: whoever still publishes there no longer has. */
  isOurs?: boolean;
  /** When the copy was read if it holds everything: handed over by a machine that had stopped. */
  whole?: string | null;
}

/**
 * Reads the whole copy as it is in one moment and makes a mirror of it. From then on the copy belongs to the new mirror: a machine that
 * was thought lost and comes back is refused by it.
 */
export async function restoreMirror(deps: RestoreDeps): Promise<Restored> {
  const { session, schema, upstream, begin, knownVersion, signal } = deps;
  if (deps.isOurs) await takeLockOver(session, schema);
  else if (!(await session.lock())) throw inUse(schema);
  return await session.transaction(async () => {
    const position = await readCopyPosition(session, schema);
    if (!position) throw noCopy(schema, session.place);
    if (position.upstream !== upstream) throw ofAnother(schema, position.upstream, upstream);
    if (position.version > knownVersion) throw tooNew(position.version, knownVersion);
    const rebuild = begin(position.version);
    try {
      for (const table of rebuild.tables) {
        signal.throwIfAborted();
        const columns = table.columns.map(({ name }) => identifier(name)).join(', ');
        const types = table.columns.map(({ type }) => type);
        const query = `SELECT ${columns} FROM ${tableName(schema, table.name)}`;
        await session.copyOut(query, types, rebuild.taker(table));
      }
      const { number, position: before, read_at: readAt } = position;
      const life = randomUUID();
      const rebuilt = rebuild.finish({
        readAt,
        number,
        change: position.change as StoredChange | null,
        life,
        isWhole: deps.whole === readAt,
      });
      await writePosition(session, schema, { before, after: { ...position, life } });
      return { ...rebuilt, readAt };
    } finally {
      rebuild.close();
    }
  }, 'ISOLATION LEVEL REPEATABLE READ');
}

function inUse(schema: string): AppError {
  return new AppError('busy', `a service publishes to the schema ${schema} just now; nothing was restored`, {
    hint: 'Stop it first. PostgreSQL notices within a minute that a machine is gone.',
  });
}

function noCopy(schema: string, place: string): AppError {
  return new AppError('usage', `there is no copy of a mirror in the schema ${schema} at ${place}`, {
    hint: 'Set PUBLISH_SCHEMA to the schema it is in.',
  });
}

function ofAnother(schema: string, theirs: string, ours: string): AppError {
  return new AppError(
    'usage',
    `the schema ${schema} holds a mirror of ${theirs}, and the settings are for ${ours}`,
    {
      hint: 'Set FEEDBACK_BASE_URL as it was, or PUBLISH_SCHEMA to the copy that is meant.',
    },
  );
}

function tooNew(version: number, known: number): AppError {
  return new AppError(
    'usage',
    `the copy was written by a newer version of this program (tables ${version}, this one knows ${known})`,
    {
      hint: 'Install that version, or a newer one.',
    },
  );
}
