/** The rows of a CSV file into a table: node bench/floors/import.ts ideas.csv outbox.db */
import { createReadStream } from 'node:fs';
import Database from 'better-sqlite3';
import { parse } from 'csv-parse';

const [file = '', out = ''] = process.argv.slice(2);
const db = new Database(out);
db.pragma('journal_mode = WAL');
db.exec(`CREATE TABLE outbox (id INTEGER PRIMARY KEY, board TEXT NOT NULL, title TEXT NOT NULL, content TEXT NOT NULL,
                              email TEXT, full_name TEXT, state TEXT NOT NULL, created_at TEXT NOT NULL)`);
const insert = db.prepare(
  'INSERT INTO outbox (board, title, content, email, full_name, state, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
);
const at = new Date().toISOString();
let rows = 0;
db.exec('BEGIN');
for await (const row of createReadStream(file).pipe(parse({ columns: true }))) {
  const { board, title, content, email, full_name } = row as Record<string, string>;
  insert.run(board, title, content, email || null, full_name || null, 'ready', at);
  rows++;
}
db.exec('COMMIT');
db.close();
process.stdout.write(`${rows}\n`);
