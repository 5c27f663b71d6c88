import { isThere } from '../../base/files.ts';
import type { Db, OpenOptions } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import { ENDED } from '../../mirror/decide/types.ts';
import { openMirrorReadOnly } from '../../mirror/file/open.ts';
import { peopleByEmail } from '../../mirror/store/people.ts';
import { suppressionList } from '../../mirror/suppression/list.ts';
import type { KnownBoard } from '../../text/boards.ts';
import { emailKey } from '../../text/email.ts';
import { canRevive, isCorrectable } from '../decide/identity.ts';
import type { NewRow, OutboxState } from '../decide/types.ts';
import { sourceReader } from './source.ts';

export type ImportReads = NonNullable<ReturnType<typeof openImportReads>>;

export interface KnownRow {
  id: number;
  state: OutboxState;
  post_id: number | null;
  url: string | null;
  last_error: string | null;
  /** False when the key is taken by a row with other text. */
  same: boolean;
  /** Rejected, and certainly not a post: a line with its key and other text replaces its text. */
  mendable: boolean;
  /** Cancelled before it was ever sent, and the file calls it so. */
  revivable: boolean;
}

/** A post of the mirror, to be compared with rows of a file. */
export interface ComparedPost {
  id: number;
  title: string;
  content: string;
}

/** What an import asks the file before and after it writes: what is in the outbox already, and what the mirror knows; null where there is no file yet. */
export function openImportReads(options: OpenOptions) {
  if (!isThere(options.path)) return null;
  const db = openMirrorReadOnly(options);
  // Rows are asked for once each and in no order of the file, so a large cache would only be filled.
  db.pragma('cache_size = -4000');
  const known = knownReader(db);
  const list = suppressionList(db, options);
  const batches = scalar(db)<[string], string>(`
    SELECT DISTINCT batch FROM outbox WHERE id IN (SELECT value FROM json_each(?)) ORDER BY batch`);
  const usersWith = peopleByEmail(db);
  const boards = boardReader(db);
  const swept = db.prepare(`
    SELECT 1 FROM sync_runs WHERE resource = 'posts' AND mode = 'sweep' AND ${ENDED} LIMIT 1`);
  const anyBoard = db.prepare('SELECT 1 FROM boards LIMIT 1');
  const hasSwept = (): boolean => swept.get() !== undefined;
  const otherSlugs = scalar(db)<[string, string, string], string>(`
    WITH names AS (SELECT id, slug FROM boards UNION SELECT board_id, slug FROM former_board_slugs)
    SELECT DISTINCT slug FROM names WHERE slug <> ? AND id IN (SELECT id FROM names WHERE slug = ? OR slug = ?)`);
  const posts = db.prepare<[], ComparedPost>(`
    SELECT id, title, content FROM posts WHERE deleted_at IS NULL ORDER BY id`);
  return {
    /** What the outbox holds under each row's source key, in the order of the rows. */
    known: (rows: readonly NewRow[]) => rows.map(known),
    /** For each row the outbox row that has its words under the same number with or without leading zeros; null where there is none, or the row is known. */
    zeroesApart(rows: readonly NewRow[]) {
      const keys = new Set(rows.map(({ source_key }) => source_key));
      // Where the file has both, its zeros are as they were.
      return rows
        .map(known.zeroesApart)
        .map((found) => (found && !keys.has(found.source_key) ? found : null));
    },
    /** The other short names of a board, of before it was renamed and of now. */
    otherSlugs: (slug: string) => otherSlugs.all(slug, slug, slug),
    /** The batches of these rows. */
    batchesOf: (ids: readonly number[]) => batches.all(JSON.stringify(ids)),
    boards,
    /** Only posts tell which boards there are: the first sweep of them may still be under way, and a new service has none. */
    knowsAllBoards: () => hasSwept() && anyBoard.get() !== undefined,
    /** Whether all posts were read once. */
    hasSwept,
    /** Those of the e-mails that belong to a user of the mirror, as their keys (base/email.ts). */
    customers: (emails: readonly string[]) =>
      new Set(emails.filter((email) => usersWith(email).length > 0).map(emailKey)),
    /** Those of the e-mails that belong to a person who was erased, as given. */
    suppressed(emails: readonly string[]): Set<string> {
      const current = list();
      return new Set(current ? emails.filter((email) => current.hashOf(email) !== undefined) : []);
    },
    /** All live posts, one by one. */
    livePosts: () => posts.iterate(),
    close: (): void => void db.close(),
  };
}

/** All boards that can be named: those of mirrored posts, and those that a post was sent to and that nobody has listed yet. */
export function boardReader(db: Db): () => KnownBoard[] {
  // The board of a deleted post may be gone too, but a board is never shown on its own: better one too many.
  const boards = db.prepare<[], KnownBoard>(`
    SELECT id, slug, name FROM boards
    UNION ALL SELECT NULL, slug, slug FROM sent_boards WHERE slug NOT IN (SELECT slug FROM boards) ORDER BY 2`);
  return () => boards.all();
}

interface KnownReader {
  (row: NewRow): KnownRow | null;
  zeroesApart(row: NewRow): { id: number; source_key: string } | null;
}

function knownReader(db: Db): KnownReader {
  const find = sourceReader(db);
  const known = (row: NewRow): KnownRow | null => {
    const found = find(row);
    if (!found) return null;
    const { id, state, post_id, url, last_error } = found;
    return {
      ...{ id, state, post_id, url, last_error },
      same: find.isSame(found, row),
      mendable: isCorrectable(found),
      revivable: canRevive(found, row),
    };
  };
  return Object.assign(known, { zeroesApart: find.zeroesApart });
}

/** A row of a file that looks like a post. A person decides about it. */
export interface KeptDuplicate {
  line: number;
  kind: 'same' | 'title' | 'content';
  score: number;
  post_id: number;
  /** Its title now; null where the mirror has lost the post since. */
  post_title: string | null;
  skipped: 0 | 1;
}

export interface DuplicatePage {
  kind: KeptDuplicate['kind'] | null;
  /** The line that the page begins after. */
  after: number;
  limit: number;
}

/** What was found in a file that is not imported yet, by the id of its upload. Each function is the inside of one transaction. */
export function duplicateTable(db: Db) {
  const add = db.prepare(`
    INSERT INTO import_duplicates (import, line, kind, score, post_id) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (import, line) DO UPDATE SET kind = excluded.kind, score = excluded.score, post_id = excluded.post_id`);
  const page = db.prepare<DuplicatePage & { id: string }, KeptDuplicate>(`
    SELECT d.line, d.kind, d.score, d.post_id, p.title AS post_title, d.skipped
      FROM import_duplicates d LEFT JOIN posts p ON p.id = d.post_id
     WHERE d.import = $id AND d.line > $after AND ($kind IS NULL OR d.kind = $kind) ORDER BY d.line LIMIT $limit`);
  const counts = db.prepare<[string], { kind: KeptDuplicate['kind']; found: number; skipped: number }>(`
    SELECT kind, count(*) AS found, sum(skipped) AS skipped FROM import_duplicates WHERE import = ? GROUP BY kind`);
  const skip = db.prepare(`
    UPDATE import_duplicates SET skipped = $skipped
     WHERE import = $id AND ($kind IS NULL OR kind = $kind) AND ($line IS NULL OR line = $line)`);
  const lines = scalar(db)<[string], number>(`
    SELECT line FROM import_duplicates WHERE import = ? AND skipped = 1`);
  const forget = db.prepare('DELETE FROM import_duplicates WHERE import = ?');
  return {
    keep(id: string, found: readonly Omit<KeptDuplicate, 'post_title' | 'skipped'>[]): void {
      for (const { line, kind, score, post_id } of found) add.run(id, line, kind, score, post_id);
    },
    page: (id: string, wanted: DuplicatePage): KeptDuplicate[] => page.all({ id, ...wanted }),
    counts: (id: string) => counts.all(id),
    /** One row, all of a kind, or all; returns how many. */
    skip(id: string, which: { line?: number; kind?: KeptDuplicate['kind'] }, skipped: boolean): number {
      const { line = null, kind = null } = which;
      return skip.run({ id, line, kind, skipped: skipped ? 1 : 0 }).changes;
    },
    skippedLines: (id: string): Set<number> => new Set(lines.all(id)),
    forget: (id: string): void => void forget.run(id),
  };
}
