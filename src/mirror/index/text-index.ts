import { type Db, noteLeftWords } from '../../db/open.ts';
import { chunkEnd, countRows, immediate, scalar } from '../../db/sql.ts';
import { searchable } from '../../text/words.ts';

/** Rows a step: under a tenth of a second, so that nothing else in the process waits long. As many as are packed for reports at once. */
const CHUNK = 8192;
/** Bytes of index held in memory; a chunk takes less. With FTS5's own megabyte it is written in pieces, and merging those takes a third more time. */
const HASH_BYTES = 8 * 1024 * 1024;
/**
 * So many pieces of the index may stand side by side before all are merged at once. FTS5's own 16 are there after 160,000 posts: in a
 * million every such merge held up everything for over a second and took 50 MB. A hundred pieces are searched as fast, and later
 * writes merge a few at a time.
 */
const MOST_PIECES = 1000;
/** Everything is indexed: from now on each new row goes in with its page. */
const ALL = Number.MAX_SAFE_INTEGER;

/** One of the two full-text indexes: its table, the table it is of, and the mark up to which rows are in it. */
const INDEXES = {
  posts: { table: 'posts_text', columns: ['title', 'content'], mark: 'text_indexed_to' },
  comments: { table: 'comments_text', columns: ['content'], mark: 'comments_indexed_to' },
} as const;

/** The texts of a row are given in the order of the columns. */
export type RowIndex = Pick<ReturnType<typeof rowIndex>, 'added' | 'changed'>;

/**
 * The full-text indexes of posts and comments. A new mirror is filled first and indexed afterwards, in id order, a chunk a transaction:
 * several times faster than row by row. A mark says how far that came; rows above it are not in the index yet and need no upkeep.
 */
export function textIndex(db: Db) {
  // Null where the words are the text itself, as most English is: nothing has to be copied back.
  db.function('other_words', { deterministic: true }, (text) => {
    const words = searchable(String(text));
    return words === text ? null : words;
  });
  const [posts, comments] = [rowIndex(db, 'posts'), rowIndex(db, 'comments')];
  const refresh = (): void => {
    posts.refresh();
    comments.refresh();
  };
  return {
    posts,
    comments,
    refresh,
    /** Indexes the next chunk; false when there was nothing left. */
    step: immediate(db, (): boolean => {
      refresh();
      return posts.step() || comments.step();
    }),
  };
}

/** Posts that the full-text index does not have yet. */
export function unindexedPosts(db: Db): number {
  return countRows(
    db,
    `posts WHERE id > CAST((SELECT value FROM meta WHERE key = '${INDEXES.posts.mark}') AS INTEGER)`,
  );
}

function rowIndex(db: Db, source: keyof typeof INDEXES) {
  const { mark: key } = INDEXES[source];
  const sql = indexStatements(db, source);
  let mark = Number(sql.readMark.get(key));
  let isNoted = false;
  /**
   * FTS5 writes what it holds before every statement that could fail halfway, such as an insert into a table with a trigger: with words
   * that go in between the rows, instead of after them, a sweep takes half as long again.
   */
  let pending: (() => void)[] = [];
  const replace = (id: number, old: readonly string[], next: readonly string[]): void => {
    sql.drop.run(id, ...old.map(searchable));
    sql.add.run(id, ...next.map(searchable));
  };

  return {
    /** To be called when a transaction begins: another process may have moved the mark. */
    refresh(): void {
      mark = Number(sql.readMark.get(key));
      isNoted = false;
      pending = [];
    },
    /** Whether no row was ever indexed, as in a mirror before its first sweep has ended. */
    isNew: (): boolean => Number(sql.readMark.get(key)) < 0,
    /** To be called once the rows of a transaction are written: their words go in together. */
    write(): void {
      for (const one of pending) one();
      pending = [];
    },
    step(): boolean {
      if (mark === ALL) return false;
      if (mark < 0) sql.wholeChunks.run();
      const end = sql.ends.get(mark, CHUNK) ?? null;
      if (end !== null) sql.addChunk.run(mark, end);
      else sql.mergeFromNowOn.run();
      mark = end ?? ALL;
      sql.writeMark.run(String(mark), key);
      return end !== null;
    },
    added(id: number, texts: () => string[]): void {
      if (id <= mark) pending.push(() => sql.add.run(id, ...texts().map(searchable)));
    },
    /** Old words are marked as gone, and stay in the file until it is rewritten. */
    changed(id: number, old: readonly string[], next: readonly string[]): void {
      if (id > mark) return;
      if (!isNoted) noteLeftWords(db);
      isNoted = true;
      pending.push(() => replace(id, old, next));
    },
    /** Old words are taken out of the file, which takes twenty times as long. */
    erased(id: number, old: readonly string[], next: readonly string[]): void {
      if (id > mark) return;
      sql.secureFrom.run();
      replace(id, old, next);
      sql.secureTo.run();
    },
  };
}

function indexStatements(db: Db, source: keyof typeof INDEXES) {
  const { table, columns } = INDEXES[source];
  const names = columns.join(', ');
  const places = columns.map(() => '?').join(', ');
  return {
    readMark: scalar(db)<[string], string>('SELECT value FROM meta WHERE key = ?'),
    writeMark: db.prepare('UPDATE meta SET value = ? WHERE key = ?'),
    add: db.prepare(`INSERT INTO ${table} (rowid, ${names}) VALUES (?, ${places})`),
    drop: db.prepare(`INSERT INTO ${table} (${table}, rowid, ${names}) VALUES ('delete', ?, ${places})`),
    ends: chunkEnd(db, source),
    addChunk: db.prepare(`
    INSERT INTO ${table} (rowid, ${names})
    SELECT id, ${columns.map((name) => `coalesce(other_words(${name}), ${name})`).join(', ')} FROM ${source} WHERE id > ? AND id <= ? ORDER BY id`),
    wholeChunks: db.prepare(`
    INSERT INTO ${table} (${table}, rank) VALUES ('hashsize', ${HASH_BYTES}), ('crisismerge', ${MOST_PIECES})`),
    // Off until then: merging while the first rows come in would do the same work several times over.
    mergeFromNowOn: db.prepare(`INSERT INTO ${table} (${table}, rank) VALUES ('automerge', 4)`),
    secureFrom: db.prepare(`INSERT INTO ${table} (${table}, rank) VALUES ('secure-delete', 1)`),
    secureTo: db.prepare(`INSERT INTO ${table} (${table}, rank) VALUES ('secure-delete', 0)`),
  };
}
