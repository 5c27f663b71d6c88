import { chmodSync, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { AppError, messageOf, storageError } from '../base/errors.ts';

export type SandboxDb = Database.Database;

/** 'FMSB': tells a data file of the sandbox from any other SQLite file. */
const APPLICATION_ID = 0x464d5342;

const TABLES = `
  CREATE TABLE users (
    id INTEGER PRIMARY KEY, email TEXT NOT NULL, email_key TEXT NOT NULL, name TEXT NOT NULL, alias TEXT NOT NULL,
    registered TEXT NOT NULL, is_admin INTEGER NOT NULL, is_team INTEGER NOT NULL, extra TEXT
  );
  CREATE TABLE boards (id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
  CREATE TABLE statuses (id INTEGER PRIMARY KEY, name TEXT NOT NULL, color TEXT NOT NULL);
  -- AUTOINCREMENT: an id is never given twice, not even after the newest post was deleted.
  CREATE TABLE posts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, board_id INTEGER NOT NULL, status_id INTEGER NOT NULL,
    creator_id INTEGER NOT NULL, votes_count INTEGER NOT NULL, created TEXT NOT NULL,
    title TEXT NOT NULL, content TEXT NOT NULL, extra TEXT, activity INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE comments (
    id INTEGER PRIMARY KEY AUTOINCREMENT, post_id INTEGER NOT NULL, creator_id INTEGER NOT NULL,
    kind TEXT NOT NULL, status TEXT, likes_count INTEGER NOT NULL, created TEXT NOT NULL,
    highlighted INTEGER NOT NULL, internal INTEGER NOT NULL, content TEXT NOT NULL, extra TEXT,
    activity INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
`;

/**
 * Made after the rows: filling first and indexing once is several times faster than keeping indexes up a row at a time.
 * The indexes on id alone are narrow: a deep page by offset walks them instead of the texts.
 */
const INDEXES = `
  CREATE UNIQUE INDEX users_by_email ON users (email_key);
  CREATE INDEX posts_by_id ON posts (id, board_id);
  CREATE INDEX posts_by_votes ON posts (votes_count, id, board_id);
  CREATE INDEX comments_by_id ON comments (id, post_id);
  CREATE INDEX comments_by_likes ON comments (likes_count, id, post_id);
  CREATE INDEX comments_by_post ON comments (post_id);
  CREATE VIRTUAL TABLE posts_text USING fts5 (
    title, content, content = 'posts', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2'
  );
  INSERT INTO posts_text (posts_text) VALUES ('rebuild');
  CREATE TRIGGER posts_text_insert AFTER INSERT ON posts BEGIN
    INSERT INTO posts_text (rowid, title, content) VALUES (new.id, new.title, new.content);
  END;
  CREATE TRIGGER posts_text_delete AFTER DELETE ON posts BEGIN
    INSERT INTO posts_text (posts_text, rowid, title, content) VALUES ('delete', old.id, old.title, old.content);
  END;
  CREATE TRIGGER posts_text_update AFTER UPDATE OF title, content ON posts BEGIN
    INSERT INTO posts_text (posts_text, rowid, title, content) VALUES ('delete', old.id, old.title, old.content);
    INSERT INTO posts_text (rowid, title, content) VALUES (new.id, new.title, new.content);
  END;
`;

/**
 * Activity is a count: whatever is voted, commented or edited gets the next number. Rows that nothing has happened to have 0 and go by
 * their id, so that such a list looks newest-first until somebody votes.
 */
const ACTIVITY = `
  CREATE INDEX posts_by_activity ON posts (activity, id, board_id);
  CREATE INDEX comments_by_activity ON comments (activity, id, post_id);
  ${touching('posts_made', 'INSERT ON posts', 'posts', 'new.id')}
  ${touching('posts_changed', 'UPDATE OF votes_count, title, content, board_id, status_id ON posts', 'posts', 'new.id')}
  ${touching('posts_commented', 'INSERT ON comments', 'posts', 'new.post_id')}
  ${touching('comments_made', 'INSERT ON comments', 'comments', 'new.id')}
  ${touching('comments_changed', 'UPDATE OF likes_count, content ON comments', 'comments', 'new.id')}
`;

function touching(name: string, event: string, table: string, id: string): string {
  return `CREATE TRIGGER ${name} AFTER ${event} BEGIN
    UPDATE ${table} SET activity = (SELECT max(activity) + 1 FROM ${table}) WHERE id = ${id};
  END;`;
}

/** Opens a data file, made and filled by `fill` when there is none yet. */
export function openDataFile(file: string, fill: Fill): SandboxDb {
  if (!existsSync(file) || statSync(file).size === 0) buildFile(file, fill);
  const db = connect(file);
  if (!isOurs(db)) {
    db.close();
    throw new AppError('usage', `${file} is not a data file of the sandbox`);
  }
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  return db;
}

export function openMemory(fill: Fill): SandboxDb {
  return build(':memory:', fill);
}

/** A database in memory with the bytes of another one. */
export function openBytes(bytes: Buffer): SandboxDb {
  return new Database(Buffer.from(bytes));
}

type Fill = (empty: SandboxDb) => void;

/** Filled under another name first, so that a start that is interrupted leaves no half-filled file behind. */
function buildFile(file: string, fill: Fill): void {
  const draft = `${file}.filling`;
  rmSync(draft, { force: true });
  build(draft, fill).close();
  // Whatever people write into it is theirs; SQLite gives its side files the same mode.
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}

function connect(file: string): SandboxDb {
  try {
    return new Database(file);
  } catch (error) {
    const other = new AppError('usage', `cannot open ${file}: ${messageOf(error)}`, { cause: error });
    throw storageError(error, file) ?? other;
  }
}

function build(file: string, fill: Fill): SandboxDb {
  const db = connect(file);
  db.pragma('journal_mode = OFF');
  db.pragma('synchronous = OFF');
  db.pragma(`application_id = ${APPLICATION_ID}`);
  db.exec(`BEGIN; ${TABLES} COMMIT;`);
  db.transaction(() => fill(db))();
  db.exec(`BEGIN; ${INDEXES} ${ACTIVITY} COMMIT;`);
  // With the journal off a failed statement could not be undone.
  if (file === ':memory:') db.pragma('journal_mode = MEMORY');
  return db;
}

function isOurs(db: SandboxDb): boolean {
  try {
    return db.pragma('application_id', { simple: true }) === APPLICATION_ID;
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code === 'SQLITE_NOTADB') return false;
    throw error;
  }
}
