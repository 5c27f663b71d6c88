import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { AppError } from '../base/errors.ts';
import { PUBLIC_TABLES } from './schema-words.ts';

/** The mirror of one source. */
export interface SourceFile {
  name: string;
  path: string;
}

/** SQLite is built with this limit; one more is refused by ATTACH. */
const MOST_FILES = 10;

/** An index of words answers MATCH under its own name only. */
const WITHOUT_VIEW = ['posts_text', 'comments_text'];

/** What can be asked of several sources at once. */
const TABLES = PUBLIC_TABLES.map(({ name }) => name).filter((name) => !WITHOUT_VIEW.includes(name));

/**
 * The mirrors of several sources in one connection that has nothing else, for reading only. Each table is a view over all of them with the
 * name of the source in front. The file of acme is `source_acme`; its index of words is `source_acme.posts_text`.
 */
export function attachSources(db: DatabaseSync, sources: readonly SourceFile[]): void {
  for (const { name, path } of sources) {
    const url = pathToFileURL(path);
    url.search = '?mode=ro';
    db.prepare(`ATTACH ? AS ${schemaNameOf(name)}`).run(url.href);
  }
  for (const table of TABLES) {
    const parts = sources.map(
      ({ name }) => `SELECT '${name}' AS source, * FROM ${schemaNameOf(name)}.${table}`,
    );
    db.exec(`CREATE TEMP VIEW ${table} AS ${parts.join(' UNION ALL ')}`);
  }
}

/** Names of sources are small letters, digits and hyphens. */
export function schemaNameOf(name: string): string {
  return `"source_${name}"`;
}

/** Before anything is opened. */
export function refuseTooManySources(sources: readonly unknown[]): void {
  if (sources.length <= MOST_FILES) return;
  throw new AppError(
    'usage',
    `SQLite reads at most ${MOST_FILES} files in one statement, and there are ${sources.length} sources`,
    {
      hint: 'Name fewer with --source a,b. Or ask the copy in PostgreSQL (PUBLISH_URL): its schema feedback_all has views over all sources.',
    },
  );
}
