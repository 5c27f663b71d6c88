import Database from 'better-sqlite3';
import { createRandom, type Random } from '../../../src/sandbox/random.ts';
import { zipfLanguage } from '../../words.ts';

/** Searches of one kind. */
export interface Kind {
  kind: string;
  texts: string[];
}

export interface Texts {
  /** One word each, in 0.05 % to 1 % of the posts. */
  middling: string[];
  others: Kind[];
}

/** What is searched for in this mirror. Words are chosen by the share of posts that have them, counted in the index itself. */
export function drawTexts(path: string): Texts {
  const db = new Database(path, { readonly: true });
  const random = createRandom(7);
  const wordsWith = frequencies(db, random);
  const middling = wordsWith(0.0005, 0.01, 200);
  const frequent = wordsWith(0.08, 0.12, 20);
  const several = (words: readonly string[], count: number): string[] =>
    words.map(() => Array.from({ length: count }, () => random.pick(words)).join(' '));
  const beginnings = (letters: number): string[] =>
    middling.slice(0, 40).map((word) => `${word.slice(0, letters)}*`);
  const others = [
    { kind: 'two middling words', texts: several(middling, 2) },
    { kind: 'three middling words', texts: several(middling, 3) },
    { kind: 'one frequent word (a tenth of all posts)', texts: frequent },
    { kind: 'two frequent words', texts: several(frequent, 2) },
    {
      kind: 'a frequent and a middling word',
      texts: frequent.map((word) => `${word} ${random.pick(middling)}`),
    },
    { kind: 'the beginning of a word, three letters', texts: beginnings(3) },
    { kind: 'the beginning of a word, five letters', texts: beginnings(5) },
    { kind: 'two words side by side, from a post', texts: phrases(db, random) },
  ];
  db.close();
  return { middling, others };
}

type Db = Database.Database;

/** Draws words whose share of the posts lies between two, about as many as asked for. */
function frequencies(db: Db, random: Random): (least: number, most: number, wanted: number) => string[] {
  const { words } = zipfLanguage();
  const total = db.prepare<[], number>('SELECT count(*) FROM posts').pluck().get() ?? 0;
  const having = db
    .prepare<[string], number>('SELECT count(*) FROM posts_text WHERE posts_text MATCH ?')
    .pluck();
  return (least, most, wanted) => {
    const found: string[] = [];
    for (let tries = 0; found.length < wanted && tries < 5_000; tries++) {
      const word = words[Math.floor(random.next() ** 3 * words.length)] ?? '';
      const share = (having.get(`"${word}"`) ?? 0) / total;
      if (share >= least && share <= most) found.push(word);
    }
    return found;
  };
}

function phrases(db: Db, random: Random): string[] {
  const text = db.prepare<[number], string>('SELECT content FROM posts WHERE id = ?').pluck();
  const last = db.prepare<[], number>('SELECT max(id) FROM posts').pluck().get() ?? 1;
  return Array.from({ length: 100 }, () => {
    const words = (text.get(1 + random.int(last)) ?? '').split(' ');
    const at = random.int(words.length - 1);
    return `"${words[at]} ${words[at + 1]}"`;
  });
}
