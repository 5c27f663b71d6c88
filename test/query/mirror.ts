import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { openForWriting } from '../../src/db/open.ts';
import { CHECKOUT } from '../support/cli.ts';
import { temporaryFolder } from '../support/folder.ts';
import { placeNewMirror } from '../support/mirror.ts';

// As the program does at its start: a child that compiles everything anew takes three times as long.
enableCompileCache(join(CHECKOUT, 'node_modules/.cache/feedback-mirror'));

/** A small mirror in a folder of its own, closed: nobody writes to it any more. */
export function makeMirror(): { folder: string; path: string; remove(): void } {
  const folder = temporaryFolder('query');
  const path = join(folder, 'mirror.db');
  placeNewMirror(path);
  const db = openForWriting({ path, upstream: 'http://127.0.0.1:9' });
  const at = '2026-01-01T00:00:00.000Z';
  db.exec(`
    INSERT INTO users (id, email, name, is_admin, is_team, first_seen_at, changed_at)
    VALUES (1, 'ada@example.com', 'Ada', 0, 0, '${at}', '${at}');
    INSERT INTO boards (id, name, url, slug, first_seen_at, changed_at)
    VALUES (1, 'Bugs', 'https://example.com/bugs', 'bugs', '${at}', '${at}');
    INSERT INTO statuses (id, name, color, first_seen_at, changed_at) VALUES (1, 'Open', '#00ff00', '${at}', '${at}');
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50)
    INSERT INTO posts (id, title, content, url, creator_id, board_id, status_id, votes_count, comments_count, created,
                       first_seen_at, changed_at, version_at)
    SELECT i, 'Title ' || i, 'dark mode please ' || i, 'https://example.com/p/' || i, 1, 1, 1, i, 0, '${at}',
           '${at}', '${at}', '${at}' FROM n;
    INSERT INTO posts_text (posts_text) VALUES ('rebuild');`);
  db.close();
  return { folder, path, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }) };
}

/** The processes a process has started and that still run; Linux tells them in its own file system. */
export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** One that was killed and not yet waited for has no memory any more: it counts as gone. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

export const onLinux = { skip: process.platform === 'linux' ? false : 'processes are looked up in /proc' };
