import { RESOURCES, type Resource } from '../../contract/endpoints.ts';
import type { Db, OpenOptions } from '../db.ts';
import { olderCopyOf } from '../older-copy.ts';
import type { MirrorStatus, ResourceStatus, Rule, RunRow } from './types.ts';

const RECENT_RUNS = 10;

export interface Size {
  live: number;
  deleted: number;
}

/** Both counts come from small indexes: asking each row whether it lives would read the whole mirror. */
export function rowCounter(db: Db): (resource: Resource) => Size {
  const statements = {
    posts: db.prepare<[], { total: number; deleted: number }>(`
      SELECT (SELECT count(*) FROM posts) AS total, (SELECT count(*) FROM posts WHERE deleted_at IS NOT NULL) AS deleted`),
    comments: db.prepare<[], { total: number; deleted: number }>(`
      SELECT (SELECT count(*) FROM comments) AS total,
             (SELECT count(*) FROM comments WHERE deleted_at IS NOT NULL) AS deleted`),
  };
  return (resource) => {
    const { total, deleted } = statements[resource].get() ?? { total: 0, deleted: 0 };
    return { live: total - deleted, deleted };
  };
}

/** How the mirror stands, from a read-only handle. */
export function readStatus(db: Db, options: OpenOptions, recentRuns = RECENT_RUNS): MirrorStatus {
  const sizes = rowCounter(db);
  const upstream =
    db.prepare<[], string>("SELECT value FROM meta WHERE key = 'upstream'").pluck().get() ?? '';
  const people = db
    .prepare<[], MirrorStatus['people']>(
      `SELECT (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM boards) AS boards,
              (SELECT count(*) FROM statuses) AS statuses`,
    )
    .get() ?? { users: 0, boards: 0, statuses: 0 };
  const runs = db
    .prepare<[number], RunRow>(
      `SELECT id, resource, mode, started_at, finished_at, outcome, pages, rows, inserted, updated, unchanged, deleted, held,
              suspects, quarantined, error
         FROM sync_runs ORDER BY id DESC LIMIT ?`,
    )
    .all(recentRuns);
  return {
    upstream,
    olderCopy: olderCopyOf(db, options),
    resources: RESOURCES.map((resource) => ({ ...passesOf(db, resource), ...sizes(resource) })),
    people,
    runs,
  };
}

interface PassFacts {
  lastSweepAt: string | null;
  lastHeadAt: string | null;
  unfinished: number;
  suspects: number;
  held: number;
  quarantined: number;
  rule: Rule | null;
  ruleWhy: string | null;
}

function passesOf(db: Db, resource: Resource): Omit<ResourceStatus, 'live' | 'deleted'> {
  const facts = db
    .prepare<{ resource: string }, PassFacts>(
      `SELECT (SELECT finished_at FROM sync_runs WHERE resource = $resource AND mode = 'sweep'
                  AND outcome = 'complete' ORDER BY id DESC LIMIT 1) AS lastSweepAt,
              (SELECT finished_at FROM sync_runs WHERE resource = $resource AND mode = 'head'
                  AND outcome = 'complete' ORDER BY id DESC LIMIT 1) AS lastHeadAt,
              (SELECT count(*) FROM sync_state WHERE resource = $resource AND state IS NOT NULL) AS unfinished,
              (SELECT count(*) FROM absences WHERE resource = $resource AND held = 0) AS suspects,
              (SELECT count(*) FROM absences WHERE resource = $resource AND held = 1) AS held,
              (SELECT count(*) FROM quarantine WHERE resource = $resource) AS quarantined,
              (SELECT rule FROM sync_state WHERE resource = $resource) AS rule,
              (SELECT rule_why FROM sync_state WHERE resource = $resource) AS ruleWhy`,
    )
    .get({ resource });
  if (!facts) throw new Error('a query of counts always answers');
  return { resource, ...facts, unfinished: facts.unfinished > 0 };
}
