import type { Db } from '../db.ts';

/** Rows a step: under a tenth of a second, so that nothing else in the process waits long. */
const CHUNK = 10_000;
/**
 * Bytes of index a chunk may take in memory before they are written out; a chunk takes less. With FTS5's own megabyte each one is
 * written in several pieces that are merged later: a third more time.
 */
const HASH_BYTES = 8 * 1024 * 1024;
/**
 * So many pieces of the index may stand side by side before all are merged at once. FTS5's own 16 are there after 160,000 posts: in a
 * million every such merge held up everything for over a second and took 50 MB. A hundred pieces are searched as fast, and later
 * writes merge a few at a time.
 */
const MOST_PIECES = 1000;
/** Everything is indexed: from now on each new row goes in with its page. */
const ALL = Number.MAX_SAFE_INTEGER;

interface Texts {
  title: string;
  content: string;
}

/**
 * The full-text index of posts. A new mirror is filled first and indexed afterwards, in id order, a chunk a transaction:
 * several times faster than row by row. The mark `text_indexed_to` says how far that came; rows above it are not in the
 * index yet and need no upkeep.
 */
export interface TextIndex {
  added(id: number, title: string, content: string): void;
  changed(id: number, old: Texts, next: Texts): void;
  /** To be called when a transaction begins: another process may have moved the mark. */
  refresh(): void;
  /** Indexes the next chunk; false when there was nothing left. */
  step(): boolean;
}

export function textIndex(db: Db): TextIndex {
  const readMark = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'text_indexed_to'").pluck();
  const writeMark = db.prepare("UPDATE meta SET value = ? WHERE key = 'text_indexed_to'");
  const add = db.prepare('INSERT INTO posts_text (rowid, title, content) VALUES (?, ?, ?)');
  const drop = db.prepare(
    "INSERT INTO posts_text (posts_text, rowid, title, content) VALUES ('delete', ?, ?, ?)",
  );
  const chunkEnd = db
    .prepare<[number, number], number | null>(
      'SELECT max(id) FROM (SELECT id FROM posts WHERE id > ? ORDER BY id LIMIT ?)',
    )
    .pluck();
  const addChunk = db.prepare(
    'INSERT INTO posts_text (rowid, title, content) SELECT id, title, content FROM posts WHERE id > ? AND id <= ? ORDER BY id',
  );
  const wholeChunks = db.prepare(`
    INSERT INTO posts_text (posts_text, rank) VALUES ('hashsize', ${HASH_BYTES}), ('crisismerge', ${MOST_PIECES})`);
  // Off until then: merging while the first rows come in would do the same work several times over.
  const mergeFromNowOn = db.prepare("INSERT INTO posts_text (posts_text, rank) VALUES ('automerge', 4)");
  let mark = Number(readMark.get());

  const refresh = (): void => {
    mark = Number(readMark.get());
  };
  const step = db.transaction((): boolean => {
    refresh();
    if (mark === ALL) return false;
    if (mark < 0) wholeChunks.run();
    const end = chunkEnd.get(mark, CHUNK) ?? null;
    if (end !== null) addChunk.run(mark, end);
    else mergeFromNowOn.run();
    mark = end ?? ALL;
    writeMark.run(String(mark));
    return end !== null;
  });

  return {
    refresh,
    added(id, title, content) {
      if (id <= mark) add.run(id, title, content);
    },
    changed(id, old, next) {
      if (id > mark) return;
      drop.run(id, old.title, old.content);
      add.run(id, next.title, next.content);
    },
    step: () => step.immediate(),
  };
}
