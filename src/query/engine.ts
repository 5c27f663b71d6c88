import { createRequire } from 'node:module';
import * as builtIn from 'node:sqlite';
import { NO_ENGINE } from './wire.ts';

/**
 * An SQLite that asks before it does anything, and has limits: Node's own from 24.15 on. Before that the same as a package, which a
 * plain install leaves out; without it no statement of a person runs.
 */
const engine: typeof builtIn = hasLimits() ? builtIn : substitute();

export const { DatabaseSync, constants } = engine;

/** What SQLite took as the first statement of a text; the package keeps the whole text as the source. */
export function takenBy(statement: builtIn.StatementSync): string {
  return engine === builtIn ? statement.sourceSQL : statement.expandedSQL;
}

/** They came last, after the authorizer and the defensive mode. */
function hasLimits(): boolean {
  const db = new builtIn.DatabaseSync(':memory:');
  const found = 'limits' in db;
  db.close();
  return found;
}

function substitute(): typeof builtIn {
  try {
    return createRequire(import.meta.url)('@photostructure/sqlite') as typeof builtIn;
  } catch {
    process.exit(NO_ENGINE);
  }
}
