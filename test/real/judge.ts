import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { RESOURCES, type Resource } from '../../src/contract/endpoints.ts';
import { inMirror } from '../chaos/invariants/file.ts';
import { type Row, readMirror } from '../mirror/mirror-rows.ts';

/** What the database of the service holds, in the words of the API. Nothing of the service's own code is in between. */
const TIME = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
const CREATOR = `json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'alias', u.alias,
  'registered', ${TIME('u.registered')}, 'is_admin', u.is_admin, 'is_team', u.is_team)`;
const POST_URL = `'/' || b.slug || '/posts/' || p.id || '/'`;

const ROWS: Record<Resource, string> = {
  posts: `
    SELECT json_build_object('id', p.id, 'title', p.title, 'content', p.content, 'url', ${POST_URL}, 'creator', ${CREATOR},
             'board', json_build_object('id', b.id, 'name', b.name, 'url', '/' || b.slug || '/'),
             'status', json_build_object('id', s.id, 'name', s.name, 'color', s.color), 'votes_count', p.votes_count,
             'created', ${TIME('p.created')},
             'comments_count', (SELECT count(*) FROM feedback_comment c WHERE c.post_id = p.id)) AS row
      FROM feedback_post p JOIN feedback_user u ON u.id = p.creator_id JOIN feedback_board b ON b.id = p.board_id
      JOIN feedback_status s ON s.id = p.status_id`,
  comments: `
    SELECT json_build_object('id', c.id, 'kind', c.kind, 'likes_count', c.likes_count, 'created', ${TIME('c.created')},
             'status', CASE WHEN s.id IS NOT NULL THEN json_build_object('id', s.id, 'name', s.name, 'color', s.color) END,
             'highlighted', c.highlighted, 'internal', c.internal, 'content', c.content, 'creator', ${CREATOR},
             'post', json_build_object('id', p.id, 'title', p.title, 'url', ${POST_URL})) AS row
      FROM feedback_comment c JOIN feedback_user u ON u.id = c.creator_id JOIN feedback_post p ON p.id = c.post_id
      JOIN feedback_board b ON b.id = p.board_id LEFT JOIN feedback_status s ON s.id = c.status_id`,
};

export interface Difference {
  rows: number;
  /** Alive in the service, not alive in the mirror. */
  missing: number;
  /** Alive in the mirror, gone from the service. */
  surplus: number;
  /** In both, but not equal. */
  unequal: number;
  /** The first one in words. */
  example: string;
}

/** Field by field and both ways. */
export async function compare(mirror: string, db: pg.Pool): Promise<Record<Resource, Difference>> {
  const mirrored = readMirror(mirror);
  const [posts, comments] = await Promise.all(
    RESOURCES.map((resource) => db.query<{ row: Row }>(ROWS[resource])),
  );
  return {
    posts: difference(mirrored.posts, posts?.rows ?? []),
    comments: difference(mirrored.comments, comments?.rows ?? []),
  };
}

function difference(mirrored: readonly Row[], rows: readonly { row: Row }[]): Difference {
  const ours = new Map(mirrored.map((row) => [row.id, withMicroseconds(row)]));
  const theirs = new Map(rows.map(({ row }) => [row.id, row]));
  const missing = [...theirs.keys()].filter((id) => !ours.has(id));
  const surplus = [...ours.keys()].filter((id) => !theirs.has(id));
  const unequal = [...theirs].filter(([id, row]) => ours.has(id) && !isDeepStrictEqual(ours.get(id), row));
  const [first] = unequal;
  const example = first
    ? `${JSON.stringify(ours.get(first[0]))} instead of ${JSON.stringify(first[1])}`
    : `missing ${missing.slice(0, 5)}, surplus ${surplus.slice(0, 5)}`;
  return {
    rows: rows.length,
    missing: missing.length,
    surplus: surplus.length,
    unequal: unequal.length,
    example,
  };
}

export function isExact({ missing, surplus, unequal }: Difference): boolean {
  return missing + surplus + unequal === 0;
}

/** The service leaves out a fraction of zero, the mirror writes milliseconds, PostgreSQL microseconds. */
function withMicroseconds(row: Row): Row {
  const text = JSON.stringify(row);
  const padded = text.replace(
    /"(created|registered)":"([\d-]+T[\d:]{8})(?:\.(\d+))?Z"/g,
    (_, name, seconds, fraction = '') => `"${name}":"${seconds}.${fraction.padEnd(6, '0')}Z"`,
  );
  return JSON.parse(padded) as Row;
}

export interface Deletion {
  resource: Resource;
  id: number;
  /** When the service had committed it, in milliseconds. */
  at: number;
}

/** Rows that the mirror once called deleted although the service never deleted them; restored ones too. */
export function falselyDeleted(mirror: string, deletions: readonly Deletion[]): number {
  const once = inMirror(mirror, (db) => ({
    posts: db
      .prepare<[], number>('SELECT DISTINCT post_id FROM post_history WHERE deleted = 1')
      .pluck()
      .all(),
    comments: db
      .prepare<[], number>('SELECT DISTINCT comment_id FROM comment_history WHERE deleted = 1')
      .pluck()
      .all(),
  }));
  const wrong = RESOURCES.map((resource) => {
    const right = new Set(deletions.filter((each) => each.resource === resource).map(({ id }) => id));
    return once[resource].filter((id) => !right.has(id)).length;
  });
  return wrong.reduce((sum, count) => sum + count, 0);
}

export interface SweepRun {
  id: number;
  resource: Resource;
  outcome: string;
  started_at: string;
  finished_at: string;
  rows: number;
}

/** Sweeps that reached the end of the list, the oldest first. */
export function sweepsOf(mirror: string): SweepRun[] {
  return inMirror(mirror, (db) =>
    db
      .prepare<[], SweepRun>(
        `SELECT id, resource, outcome, started_at, finished_at, rows FROM sync_runs
          WHERE mode = 'sweep' AND outcome IN ('complete', 'incomplete') ORDER BY id`,
      )
      .all(),
  );
}

/**
 * For each deletion of a row that the mirror knew: how many sweeps began after it until the mirror had it, or null where the mirror does not
 * have it yet. A sweep that was under way at the time may find it as well; that counts as one.
 */
export function sweepsUntilFound(mirror: string, deletions: readonly Deletion[]): (number | null)[] {
  const sweeps = sweepsOf(mirror);
  const rows = inMirror(mirror, (db) => ({
    posts: new Map(db.prepare<[], [number, string | null]>('SELECT id, deleted_at FROM posts').raw().all()),
    comments: new Map(
      db.prepare<[], [number, string | null]>('SELECT id, deleted_at FROM comments').raw().all(),
    ),
  }));
  const known = deletions.filter(({ resource, id }) => rows[resource].has(id));
  return known.map(({ resource, id, at }) => {
    const found = rows[resource].get(id) ?? null;
    if (found === null) return null;
    const needed = sweeps.filter(
      (sweep) =>
        sweep.resource === resource && Date.parse(sweep.started_at) >= at && sweep.started_at < found,
    );
    return Math.max(1, needed.length);
  });
}

/** The shares of deletions that the mirror had after so many sweeps: "81 / 99 / 100 / 100 %". */
export function shares(sweeps: readonly (number | null)[], after = [1, 2, 3, 5]): string {
  const share = (most: number): string => {
    const found = sweeps.filter((number) => number !== null && number <= most).length;
    return ((100 * found) / Math.max(1, sweeps.length)).toFixed(1).replace(/\.0$/, '');
  };
  return `${after.map(share).join(' / ')} %`;
}
