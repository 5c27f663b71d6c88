import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { openForWriting } from '../../src/db/open.ts';
import { openMirrorStore } from '../../src/mirror/store/store.ts';
import { openSearchReads } from '../../src/search/search.ts';
import type { Bench, BenchSet, Row, Series } from '../frame/set.ts';
import { LABELLED, type Labelled } from './search/labelled.ts';

export const UPSTREAM = 'http://127.0.0.1:9';
/** Posts of one language have numbers of one hundred. */
const STEP = 100;

/** What searches find of what they should, and what of it they should: in ten languages, beside what SQLite brings along. */
export const recallSet: BenchSet = {
  name: 'recall',
  about:
    'How many of the posts that people mean a search finds, and how many of the first ten it shows are meant.',
  sizes: `${LABELLED.reduce((sum, { questions }) => sum + questions.length, 0)} questions in ${LABELLED.length} languages, written for this`,
  run,
};

type Find = (text: string) => Promise<number[]>;

interface Quality {
  recall: number;
  precision: number;
}

async function run(bench: Bench): Promise<Row[]> {
  const path = join(bench.folder, 'recall.db');
  await mirrorOf(path, labelledPosts());
  const search = openSearchReads({ path, upstream: UPSTREAM });
  const db = new Database(path);
  try {
    // Where nothing is found and something suggested, a person takes that.
    const ours: Find = async (text) => {
      const { hits, suggestion } = await search.find(text, { limit: 10 });
      if (hits.length > 0 || suggestion === null) return hits.map(({ id }) => id);
      return (await search.find(suggestion, { limit: 10 })).hits.map(({ id }) => id);
    };
    const [fts, like] = [plainFts(db), scan(db)];
    const rows: Row[] = [];
    for (const one of [...LABELLED.map((language) => [language]), [...LABELLED]])
      rows.push(...(await rowsOf(one, ours, { fts, like })));
    return rows;
  } finally {
    await search.close();
    db.close();
    rmSync(path);
  }
}

function labelledPosts(): BenchPost[] {
  return LABELLED.flatMap(({ posts }, n) =>
    posts.map(([title, content], i) => ({ id: n * STEP + i + 1, title, content })),
  );
}

export interface BenchPost {
  id: number;
  title: string;
  content: string;
}

/** A mirror with these posts, indexed. */
export async function mirrorOf(path: string, posts: readonly BenchPost[]): Promise<void> {
  const db = openForWriting({ path, upstream: UPSTREAM });
  const at = new Date(0).toISOString();
  db.exec(`
    INSERT INTO boards (id, name, url, slug, first_seen_at, changed_at) VALUES (1, 'Ideas', '/b/ideas/', 'ideas', '${at}', '${at}');
    INSERT INTO statuses (id, name, color, first_seen_at, changed_at) VALUES (1, 'Open', '#000000', '${at}', '${at}');
    INSERT INTO users (id, is_admin, is_team, first_seen_at, changed_at) VALUES (1, 0, 0, '${at}', '${at}')`);
  const insert = db.prepare(`
    INSERT INTO posts (id, title, content, url, creator_id, board_id, status_id, votes_count, comments_count, created,
                       first_seen_at, changed_at, version_at)
    VALUES (?, ?, ?, '/p/', 1, 1, 1, 0, 0, ?, ?, ?, ?)`);
  db.transaction(() => {
    for (const { id, title, content } of posts) insert.run(id, title, content, at, at, at, at);
  })();
  db.close();
  const store = openMirrorStore({ path, upstream: UPSTREAM, holder: 'bench' });
  while (await store.index());
  await store.close();
}

/** The words of the text in the index that SQLite makes by itself. */
function plainFts(db: Database.Database): Find {
  db.exec(`CREATE VIRTUAL TABLE temp.plain USING fts5 (title, content, tokenize = 'unicode61');
           INSERT INTO temp.plain (rowid, title, content) SELECT id, title, content FROM posts`);
  const find = db
    .prepare<[string], number>('SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT 10')
    .pluck();
  return async (text) => {
    const words = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
    return find.all(words.map((word) => `"${word}"`).join(' AND '));
  };
}

function scan(db: Database.Database): Find {
  const find = db
    .prepare<[string, string], number>('SELECT id FROM posts WHERE title LIKE ? OR content LIKE ? LIMIT 10')
    .pluck();
  return async (text) => find.all(`%${text}%`, `%${text}%`);
}

async function quality(languages: readonly Labelled[], find: Find): Promise<Quality> {
  let [recall, precision, asked] = [0, 0, 0];
  for (const { language, questions } of languages)
    for (const [text, places] of questions) {
      const base = LABELLED.findIndex((one) => one.language === language) * STEP;
      const meant = new Set(places.map((place) => base + place));
      const found = await find(text);
      const right = found.filter((id) => meant.has(id)).length;
      recall += right / meant.size;
      precision += found.length === 0 ? 0 : right / found.length;
      asked++;
    }
  return { recall: (100 * recall) / asked, precision: (100 * precision) / asked };
}

async function rowsOf(
  languages: readonly Labelled[],
  ours: Find,
  others: { fts: Find; like: Find },
): Promise<Row[]> {
  const isAll = languages.length > 1;
  const name = isAll ? 'all languages' : (languages[0]?.language ?? '');
  const own = await quality(languages, ours);
  const [fts, like] = [await quality(languages, others.fts), await quality(languages, others.like)];
  const series = (of: string, command: string, value: number): Series => ({
    name: of,
    command,
    unit: '%',
    values: [value],
  });
  const row = (what: keyof Quality, peer: Series): Row => ({
    row: `${what}, ${name}`,
    ours: series('search', "openSearchReads(mirror).find('text')", own[what]),
    peer,
    figure: own[what],
    bound: { is: 'at least', value: LEAST[what], unit: '%' },
  });
  const measures = isAll ? (['recall', 'precision'] as const) : (['recall'] as const);
  return measures.flatMap((what) => [
    row(what, series('FTS5 unicode61', 'MATCH every word', fts[what])),
    row(what, series('LIKE', "LIKE '%text%'", like[what])),
  ]);
}

/** Of every language alone as well. */
const LEAST = { recall: 90, precision: 80 };
