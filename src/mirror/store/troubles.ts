import type { ErrorCode } from '../../base/errors.ts';
import { RESOURCES, type Resource } from '../../contract/endpoints.ts';
import type { Db } from '../../db/open.ts';
import { dropMeta, readMeta, scalar, writeMeta } from '../../db/sql.ts';
import type { PassFailure, TroubleFacts } from '../decide/troubles.ts';
import { ENDED, type PassMode } from '../decide/types.ts';

const PASS_MODES: readonly PassMode[] = ['sweep', 'head'];

type ListFact = TroubleFacts['lists'][number];

function keyOf(resource: Resource, mode: PassMode): string {
  return `pass_failure:${resource}:${mode}`;
}

/** The troubles that one answer of the service ends. The operation does not matter. */
const OF_REACHING: readonly ErrorCode[] = ['unauthorised', 'unreachable', 'throttled'];

/** Notes how a pass over a list failed, or that one did not: a head pass shows that the service answers, and nothing about later pages. */
export function notePass(
  db: Db,
  { resource, mode }: { resource: Resource; mode: PassMode },
  failed: Pick<PassFailure, 'code' | 'at' | 'error'> | null,
): void {
  const before = failureOf(db, resource, mode);
  if (failed !== null) {
    const since = before?.code === failed.code ? before.since : failed.at;
    writeMeta(db, keyOf(resource, mode), JSON.stringify({ ...failed, since } satisfies PassFailure));
    return;
  }
  for (const each of PASS_MODES) if (each === mode || mode === 'sweep') dropMeta(db, keyOf(resource, each));
  endOfReaching(db, resource);
}

/** The service took a post, so it is there and takes the token. */
export function noteCreate(db: Db): void {
  for (const resource of RESOURCES) endOfReaching(db, resource);
}

function endOfReaching(db: Db, resource: Resource): void {
  for (const mode of PASS_MODES) {
    const found = failureOf(db, resource, mode);
    if (found && OF_REACHING.includes(found.code)) dropMeta(db, keyOf(resource, mode));
  }
}

function failureOf(db: Db, resource: Resource, mode: PassMode): PassFailure | null {
  const text = readMeta(db, keyOf(resource, mode));
  return text === undefined ? null : (JSON.parse(text) as PassFailure);
}

/** The troubles in the file of the mirror, of every process. */
export function troubleReader(db: Db): () => TroubleFacts {
  const list = db.prepare<{ resource: Resource }, Omit<ListFact, 'resource'>>(`
    SELECT iif(last.outcome = 'incomplete', last.error, NULL) AS lacks, last.finished_at AS lastSweepAt,
           (SELECT count(*) FROM absences WHERE resource = $resource AND held = 1) AS held,
           (SELECT min(since) FROM absences WHERE resource = $resource AND held = 1) AS heldSince
      FROM (SELECT 1) LEFT JOIN (SELECT outcome, error, finished_at FROM sync_runs
                                  WHERE resource = $resource AND mode = 'sweep' AND ${ENDED}
                                  ORDER BY id DESC LIMIT 1) last`);
  const note = scalar(db)<[string], string>('SELECT value FROM meta WHERE key = ?');
  return () => ({
    failures: RESOURCES.flatMap((resource) =>
      PASS_MODES.flatMap((mode) => {
        const failure = failureOf(db, resource, mode);
        return failure ? [{ resource, ...failure }] : [];
      }),
    ),
    paused: note.get('push_paused') ?? null,
    closed: closingOf(note.get('upstream_closed_reads') ?? note.get('upstream_closed')),
    lists: RESOURCES.flatMap((resource) => {
      const found = list.get({ resource });
      return found ? [{ resource, ...found }] : [];
    }),
    disk: null,
    newToken: null,
  });
}

function closingOf(text: string | undefined): TroubleFacts['closed'] {
  if (text === undefined) return null;
  const { askedAt, until } = JSON.parse(text) as { askedAt: number; until: number };
  return { since: new Date(askedAt).toISOString(), until: new Date(until).toISOString() };
}
