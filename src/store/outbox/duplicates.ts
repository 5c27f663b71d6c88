import type { Db } from '../db.ts';

/** A row of a file that looks like a post, as it is kept for a person who decides. */
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
  const counts = db.prepare<[string], { kind: KeptDuplicate['kind']; found: number; skipped: number }>(
    'SELECT kind, count(*) AS found, sum(skipped) AS skipped FROM import_duplicates WHERE import = ? GROUP BY kind',
  );
  const skip = db.prepare(`
    UPDATE import_duplicates SET skipped = $skipped
     WHERE import = $id AND ($kind IS NULL OR kind = $kind) AND ($line IS NULL OR line = $line)`);
  const lines = db
    .prepare<[string], number>('SELECT line FROM import_duplicates WHERE import = ? AND skipped = 1')
    .pluck();
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
