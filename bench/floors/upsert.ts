/**
 * The least one could write to have the posts in SQLite: fetch, parse, upsert, one transaction a page. No history, no
 * deletions, no resuming, no index, no check of what arrives; of boards and statuses only the ids, of people too unless
 * told otherwise.
 *   node bench/floors/upsert.ts BASE_URL TOKEN FILE [--people]
 */
import Database from 'better-sqlite3';
import { Pool } from 'undici';

const [base = '', token = '', file = '', people = ''] = process.argv.slice(2);
const { origin } = new URL(base);
const db = new Database(file);
db.pragma('journal_mode = WAL');
db.exec(`CREATE TABLE IF NOT EXISTS posts (
  id INTEGER PRIMARY KEY, title TEXT, content TEXT, url TEXT, creator INTEGER, board INTEGER, status INTEGER,
  votes_count INTEGER, comments_count INTEGER, created TEXT)`);
const upsert = db.prepare(`
  INSERT INTO posts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET title = excluded.title, content = excluded.content, url = excluded.url,
    creator = excluded.creator, board = excluded.board, status = excluded.status, votes_count = excluded.votes_count,
    comments_count = excluded.comments_count, created = excluded.created`);
db.exec(
  'CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, email TEXT, name TEXT, alias TEXT, registered TEXT)',
);
const upsertUser = db.prepare(`
  INSERT INTO users VALUES (?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET email = excluded.email, name = excluded.name, alias = excluded.alias,
    registered = excluded.registered`);

interface Post {
  id: number;
  title: string;
  content: string;
  url: string;
  creator: { id: number; email: string; name: string; alias: string; registered: string };
  board: { id: number };
  status: { id: number };
  votes_count: number;
  comments_count: number;
  created: string;
}

const save = db.transaction((posts: Post[]) => {
  for (const p of posts) {
    const { id, email, name, alias, registered } = p.creator;
    if (people) upsertUser.run(id, email, name, alias, registered);
    const links = [p.creator.id, p.board.id, p.status.id];
    upsert.run(p.id, p.title, p.content, p.url, ...links, p.votes_count, p.comments_count, p.created);
  }
});

const pool = new Pool(origin, { connections: 1 });
let next: string | null = `${base}/api/v1/posts/`;
while (next !== null) {
  const path: string = next.slice(origin.length);
  const { body } = await pool.request({ path, method: 'GET', headers: { authorization: `Bearer ${token}` } });
  const page = JSON.parse(await body.text()) as { next: string | null; results: Post[] };
  save(page.results);
  next = page.next;
}
await pool.close();
db.close();
