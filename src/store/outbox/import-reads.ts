import { emailKey } from '../../base/email.ts';
import { isThere } from '../../base/files.ts';
import type { Db, OpenOptions } from '../db.ts';
import { suppressionList } from '../erasure/list.ts';
import { openMirrorReadOnly } from '../open.ts';
import { peopleByEmail } from '../people.ts';
import type { OutboxState, PostText } from './types.ts';

export type ImportReads = NonNullable<ReturnType<typeof openImportReads>>;

export interface KeyedText extends PostText {
  source_key: string;
}

export interface KnownRow {
  id: number;
  state: OutboxState;
  post_id: number | null;
  url: string | null;
  last_error: string | null;
  /** False when the key is taken by a row with other text. */
  same: boolean;
}

export interface KnownBoard {
  slug: string;
  name: string;
}

export interface KnownTitle {
  id: number;
  title: string;
}

/** What an import asks the file before and after it writes: what is in the outbox already, and what the mirror knows; null where there is no file yet. */
export function openImportReads(options: OpenOptions) {
  if (!isThere(options.path)) return null;
  const db = openMirrorReadOnly(options);
  // Rows are asked for once each and in no order of the file, so a large cache would only be filled.
  db.pragma('cache_size = -4000');
  const known = knownReader(db);
  const list = suppressionList(db, options);
  const batches = db
    .prepare<[string], string>(
      'SELECT DISTINCT batch FROM outbox WHERE id IN (SELECT value FROM json_each(?)) ORDER BY batch',
    )
    .pluck();
  const usersWith = peopleByEmail(db);
  // The board of a deleted post may be gone too, but a board is never shown on its own: better one too many.
  const boards = db.prepare<[], KnownBoard>('SELECT slug, name FROM boards ORDER BY slug');
  const titles = db.prepare<[string, number], KnownTitle>(`
    SELECT p.id, p.title FROM posts_text t JOIN posts p ON p.id = t.rowid
     WHERE posts_text MATCH ? AND p.deleted_at IS NULL ORDER BY t.rank LIMIT ?`);
  return {
    /** What the outbox holds under each row's source key, in the order of the rows. */
    known: (rows: readonly KeyedText[]) => rows.map(known),
    /** The batches of these rows. */
    batchesOf: (ids: readonly number[]) => batches.all(JSON.stringify(ids)),
    boards: () => boards.all(),
    /** Those of the e-mails that belong to a user of the mirror, as their keys (base/email.ts). */
    customers: (emails: readonly string[]) =>
      new Set(emails.filter((email) => usersWith(email).length > 0).map(emailKey)),
    /** Those of the e-mails that belong to a person who was erased, as given. */
    suppressed(emails: readonly string[]): Set<string> {
      const current = list();
      return new Set(current ? emails.filter((email) => current.hashOf(email) !== undefined) : []);
    },
    /** Live posts whose title has some of these words, the most relevant first. */
    titlesWith: (words: readonly string[], limit: number) => titles.all(anyOf(words), limit),
    close: (): void => void db.close(),
  };
}

function knownReader(db: Db): (row: KeyedText) => KnownRow | null {
  const byKey = db.prepare<KeyedText, Omit<KnownRow, 'same'> & { same: number }>(`
    SELECT id, state, post_id, url, last_error,
           erased_at IS NOT NULL OR (board = $board AND title = $title AND content = $content AND email IS $email
                                     AND full_name IS $full_name) AS same
      FROM outbox WHERE source_key = $source_key`);
  return ({ source_key, board, title, content, email, full_name }) => {
    const row = byKey.get({ source_key, board, title, content, email, full_name });
    return row ? { ...row, same: row.same === 1 } : null;
  };
}

/** Words come from people: in quotes nothing of them is read as a sign of the query language. */
function anyOf(words: readonly string[]): string {
  return `title : (${words.map((word) => `"${word.replaceAll('"', '""')}"`).join(' OR ')})`;
}
