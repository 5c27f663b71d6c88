import type { Db } from '../db/open.ts';
import { scalar } from '../db/sql.ts';
import { rowText, type Term } from '../mirror/index/terms.ts';
import { distance } from '../text/text.ts';
import { fold } from '../text/words.ts';

/**
 * How long a person waits for a suggestion at most, and the words that are worth one: nobody types a longer one, and each place at which
 * it could be parted is a question to the index. 10,000 letters took 1.4 s.
 */
const SUGGEST_MS = 60;
const CORRECTABLE = /^\p{L}{4,40}$/u;

/** Of words that are equally near, so many are tried until one is in a post or comment that can be found. */
const MOST_TRIED = 20;

type Suggest = (text: string, unknown: readonly Term[], isInternal: boolean) => string | null;

/** The text with each word that no post has replaced by the nearest one that posts or comments have; null where there is none. */
export function suggester(db: Db): Suggest {
  let words: ReturnType<typeof vocabulary> | undefined;
  const isSaid = finder(db);
  return (text, unknown, isInternal) => {
    const wrong = unknown.map(rowText).filter((word) => CORRECTABLE.test(word));
    if (wrong.length === 0) return null;
    words ??= vocabulary(db);
    const isFound = (word: string): boolean => isSaid(word, isInternal);
    let better = fold(text).trim();
    let isBetter = false;
    for (const word of wrong.filter((one) => !isFound(one))) {
      const right = nearestWords(words, word).find(isFound) ?? halvesOf(word).find(isFound);
      if (right === undefined) continue;
      better = better.replace(word, right);
      isBetter = true;
    }
    return isBetter ? better : null;
  };
}

/** The words of both indexes with how often they are said, by how they begin. The tables hold nothing: they show what the indexes have. */
function vocabulary(db: Db) {
  // The file is open for reading only; a temporary table is not in it.
  db.pragma('query_only = 0');
  for (const name of ['posts', 'comments'])
    db.exec(
      `CREATE VIRTUAL TABLE IF NOT EXISTS temp.${name}_words USING fts5vocab('main', '${name}_text', 'row')`,
    );
  db.pragma('query_only = 1');
  return db.prepare<{ from: string; to: string }, { term: string; doc: number }>(`
    SELECT term, doc FROM temp.posts_words WHERE term >= $from AND term < $to
    UNION ALL SELECT term, doc FROM temp.comments_words WHERE term >= $from AND term < $to`);
}

interface Near {
  term: string;
  edits: number;
  doc: number;
}

/** At most one letter in four is wrong; of equally near words the most frequent first. Both first letters are seldom wrong at once. */
function nearestWords(words: ReturnType<typeof vocabulary>, word: string): string[] {
  const most = word.length < 6 ? 1 : 2;
  const [a = '', b = '', c = ''] = word;
  const until = performance.now() + SUGGEST_MS;
  const near: Near[] = [];
  for (const from of new Set([a + b, b + a, a + c, b + c])) {
    for (const { term, doc } of words.iterate({ from, to: `${from}\u{10ffff}` })) {
      if (performance.now() > until) break;
      if (Math.abs(term.length - word.length) > most || term === word) continue;
      const edits = distance(word, term);
      if (edits <= most + Number(isSwap(word, term))) near.push({ term, edits, doc });
    }
  }
  return near
    .sort((x, y) => x.edits - y.edits || y.doc - x.doc)
    .slice(0, MOST_TRIED)
    .map(({ term }) => term);
}

/** Two letters in the wrong order are one slip, although it takes two edits to undo. */
function isSwap(a: string, b: string): boolean {
  const at = [...a].findIndex((letter, i) => letter !== b[i]);
  return (
    a.length === b.length && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2)
  );
}

/** `dark mode` for darkmode. */
function halvesOf(word: string): string[] {
  return Array.from({ length: Math.max(0, word.length - 5) }, (_, i) => i + 3).map(
    (at) => `${word.slice(0, at)} ${word.slice(at)}`,
  );
}

/** Whether a live post or comment has these words side by side: the indexes keep those of deleted ones, and some comments are for the team. */
function finder(db: Db): (words: string, isInternal: boolean) => boolean {
  const has = scalar(db)<{ match: string; internal: number }, number>(`
    SELECT EXISTS (SELECT 1 FROM posts_text CROSS JOIN posts p ON p.id = posts_text.rowid
                    WHERE posts_text MATCH $match AND p.deleted_at IS NULL)
        OR EXISTS (SELECT 1 FROM comments_text CROSS JOIN comments c ON c.id = comments_text.rowid
                                 CROSS JOIN posts p ON p.id = c.post_id
                    WHERE comments_text MATCH $match AND c.deleted_at IS NULL AND c.internal <= $internal
                      AND p.deleted_at IS NULL)`);
  return (words, isInternal) => has.get({ match: `"${words}"`, internal: Number(isInternal) }) === 1;
}
