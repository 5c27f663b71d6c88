import { distance } from '../../base/text.ts';
import { fold } from '../../base/words.ts';
import type { Db } from '../db.ts';
import { type Term, textOf } from '../index/terms.ts';
import { scalar } from '../sql.ts';

/** How long a person waits for a suggestion at most, and the words that are worth one. */
const SUGGEST_MS = 150;
const CORRECTABLE = /^\p{L}{4,}$/u;

/** The text with each word that no post has replaced by the nearest one that some have; null where there is none. */
export function suggester(db: Db): (text: string, unknown: readonly Term[]) => string | null {
  let words: ReturnType<typeof vocabulary> | undefined;
  const halves = halver(db);
  return (text, unknown) => {
    const wrong = unknown.map(textOf).filter((word) => CORRECTABLE.test(word));
    if (wrong.length === 0) return null;
    words ??= vocabulary(db);
    let better = fold(text).trim();
    let isBetter = false;
    for (const word of wrong) {
      const right = nearestWord(words, word) ?? halves(word);
      if (right === null) continue;
      better = better.replace(word, right);
      isBetter = true;
    }
    return isBetter ? better : null;
  };
}

/** The words of the index with the posts that have them, by how they begin. The table holds nothing: it shows what the index has. */
function vocabulary(db: Db) {
  // The file is open for reading only; a temporary table is not in it.
  db.pragma('query_only = 0');
  db.exec("CREATE VIRTUAL TABLE IF NOT EXISTS temp.posts_words USING fts5vocab('main', 'posts_text', 'row')");
  db.pragma('query_only = 1');
  return db.prepare<[string, string], { term: string; doc: number }>(`
    SELECT term, doc FROM temp.posts_words WHERE term >= ? AND term < ?`);
}

/** At most one letter in four is wrong; of equally near words the most frequent. Both first letters are seldom wrong at once. */
function nearestWord(words: ReturnType<typeof vocabulary>, word: string): string | null {
  const most = word.length < 6 ? 1 : 2;
  const [a = '', b = '', c = ''] = word;
  const until = performance.now() + SUGGEST_MS;
  let best: { term: string; edits: number; doc: number } | null = null;
  for (const start of new Set([a + b, b + a, a + c, b + c])) {
    for (const { term, doc } of words.iterate(start, `${start}\u{10ffff}`)) {
      if (performance.now() > until) break;
      if (Math.abs(term.length - word.length) > most || term === word) continue;
      const edits = distance(word, term);
      if (edits > most + Number(isSwap(word, term))) continue;
      if (best === null || edits < best.edits || (edits === best.edits && doc > best.doc))
        best = { term, edits, doc };
    }
  }
  return best?.term ?? null;
}

/** Two letters in the wrong order are one slip, although it takes two edits to undo. */
function isSwap(a: string, b: string): boolean {
  const at = [...a].findIndex((letter, i) => letter !== b[i]);
  return (
    a.length === b.length && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2)
  );
}

/** `darkmode` for posts that say dark mode. */
function halver(db: Db): (word: string) => string | null {
  const has = scalar(db)<[string], number>('SELECT 1 FROM posts_text WHERE posts_text MATCH ? LIMIT 1');
  return (word) => {
    for (let at = 3; at <= word.length - 3; at++)
      if (has.get(`"${word.slice(0, at)} ${word.slice(at)}"`) === 1)
        return `${word.slice(0, at)} ${word.slice(at)}`;
    return null;
  };
}
