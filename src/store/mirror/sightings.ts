import { isDeepStrictEqual } from 'node:util';
import { RESOURCES, type Resource } from '../../contract/endpoints.ts';
import type { Db } from '../db.ts';
import { scalar } from '../sql.ts';
import { BEHIND_CACHE, type Conclusion, type Pass } from './types.ts';

/** Beyond this share of rows that were shown twice, every request has an order of its own, and a missing row says nothing. */
const MOST_REPEATED = 0.1;

/** Beyond this share of the rows that slid over a page boundary, a list moves in step with the reader, or shuffles rows of equal rank. */
const SAME_SLID = 0.2;

/** What the pages of a sweep showed, where the order of the list proves nothing and their ids were kept. */
interface Sightings {
  /** Live rows that no page showed. */
  unseen: number[];
  /** Nothing was shown twice but what the sweep before showed twice as well, as a pinned row is. */
  isStill: boolean;
  /** Two sweeps, and this one twice, showed the same rows in the same places. */
  isSame: boolean;
}

/**
 * Reads the pages of a sweep. Null where they say nothing about absence: too many rows were shown twice, or the same rows as in the
 * sweep before. Then it is always the same rows that are missed at a page boundary, and several sweeps say no more than one.
 */
export function sightingsOf(
  db: Db,
  { resource, runId, counts }: Pass,
  timed: Conclusion['timed'],
): Sightings | null {
  const pages = pagesOf(db, runId);
  const [walked, reread] = [pages.slice(0, counts.pages), pages.slice(counts.pages)];
  const before = pagesOf(db, lastSweepBefore(db, resource, runId));
  const [now, last] = [repeatsIn(walked), repeatsIn(before)];
  if (now.slid.size + now.apart.size > MOST_REPEATED * counts.rows) return null;
  const again = [...now.slid].filter((id) => last.slid.has(id)).length;
  if (again > SAME_SLID * now.slid.size) return null;
  const isStill = now.slid.size === 0 && [...now.apart].every((id) => last.apart.has(id));
  const [here, there, twice] = [walked, before, reread].map((list) => list.flat());
  return {
    unseen: unseenRows(db, resource, new Set(pages.flat()), timed && { pages: walked, timed }),
    isStill,
    isSame: isStill && isDeepStrictEqual(here, there) && isDeepStrictEqual(here, twice),
  };
}

/** A row that the mirror knows. */
export interface Known {
  id: number;
  first_seen_at: string;
}

export type Misses = (list: Resource, row: Known) => boolean;

/**
 * Which rows were not shown by this sweep, and by one before it nor since, on lists where no absence is noted because it would prove no
 * deletion: what such a row carries may be old all the same.
 */
export function missedBy(
  db: Db,
  { resource, runId }: Pick<Pass, 'resource' | 'runId'>,
): { now: Misses; before: Misses } {
  const [other = resource] = RESOURCES.filter((list) => list !== resource);
  const now = missesOf(db, resource, () => runId);
  const last = missesOf(db, resource, () => lastSweepBefore(db, resource, runId));
  const ofOther = missesOf(db, other, () => lastSweepBefore(db, other, Number.MAX_SAFE_INTEGER));
  return {
    now: (list, row) => list === resource && now(row),
    before: (list, row) => (list === resource ? now(row) && last(row) : ofOther(row)),
  };
}

/** Rows that were there before a sweep and that its pages did not show, as far as their ids are kept. Read when it is asked first. */
function missesOf(db: Db, list: Resource, runOf: () => number): (row: Known) => boolean {
  let found: Shown | null | undefined;
  return ({ id, first_seen_at }) => {
    if (found === undefined) found = isNoted(db, list) ? null : shownIn(db, runOf());
    return found !== null && !found.ids.has(id) && first_seen_at <= found.since;
  };
}

interface Shown {
  ids: ReadonlySet<number>;
  since: string;
}

function shownIn(db: Db, runId: number): Shown | null {
  const ids = new Set(pagesOf(db, runId).flat());
  const since = scalar(db)<[number], string>('SELECT started_at FROM sync_runs WHERE id = ?').get(runId);
  return ids.size === 0 || since === undefined ? null : { ids, since };
}

/** A list in strict order has its absences noted; and a sweep that read the copies of a cache tells nothing new. */
function isNoted(db: Db, list: Resource): boolean {
  const noted = scalar(db)<[string, string], number>(`
    SELECT rule = 'proof' OR rule_why = ? FROM sync_state WHERE resource = ?`);
  return noted.get(BEHIND_CACHE, list) === 1;
}

function lastSweepBefore(db: Db, resource: Resource, runId: number): number {
  const last = db.prepare<[string, number], number>(`
    SELECT max(p.run_id) FROM sweep_pages p JOIN sync_runs r ON r.id = p.run_id
     WHERE r.resource = ? AND r.id < ? AND r.outcome = 'complete'`);
  return last.pluck().get(resource, runId) ?? -1;
}

function pagesOf(db: Db, runId: number): number[][] {
  const pages = db.prepare<[number], Buffer>('SELECT ids FROM sweep_pages WHERE run_id = ? ORDER BY n');
  return pages
    .pluck()
    .all(runId)
    .map((ids) => [...unpackIds(ids)]);
}

/** Rows that stood on two pages: within a page's length, as when rows slide over a boundary, or further apart. */
function repeatsIn(pages: readonly number[][]): { slid: Set<number>; apart: Set<number> } {
  const [seen, slid, apart] = [new Set<number>(), new Set<number>(), new Set<number>()];
  // A place for each row that stands twice, not for each of a million.
  const places = new Map<number, { page?: number[]; at?: number }>();
  for (const id of pages.flat())
    if (seen.has(id)) places.set(id, {});
    else seen.add(id);
  let at = 0;
  for (const page of pages)
    for (const id of page) {
      const place = places.get(id);
      if (place?.page && place.page !== page) (at - (place.at ?? 0) < page.length ? slid : apart).add(id);
      if (place) Object.assign(place, { page, at });
      at++;
    }
  return { slid, apart };
}

/**
 * Live rows that are not among those seen. Where pages go on after a time, rows may have been skipped that are of the second of the last
 * one of a page, unless the next page begins with that very moment.
 */
function unseenRows(
  db: Db,
  resource: Resource,
  seen: ReadonlySet<number>,
  walk: { pages: readonly number[][]; timed: 'exact' | 'finer' } | null,
): number[] {
  const live = scalar(db)<[], number>(`SELECT id FROM ${resource} WHERE deleted_at IS NULL`);
  const unseen = live.all().filter((id) => !seen.has(id));
  if (unseen.length === 0 || !walk) return unseen;
  const created = scalar(db)<[number], string>(`SELECT created FROM ${resource} WHERE id = ?`);
  const momentOf = (id = -1): string => created.get(id) ?? '';
  const secondOf = (moment: string): string => moment.slice(0, 19);
  const skipped = new Set<string>();
  for (const [n, page] of walk.pages.entries()) {
    const last = momentOf(page.at(-1));
    const goesOn = walk.timed === 'exact' && last === momentOf(walk.pages[n + 1]?.[0] ?? page.at(-1));
    if (!goesOn) skipped.add(secondOf(last));
  }
  return unseen.filter((id) => !skipped.has(secondOf(momentOf(id))));
}

/**
 * Ids of a page as bytes: sign and size of the difference to the id before, seven bits a byte. A page of a hundred neighbouring
 * ids takes about a hundred bytes. Plain arithmetic instead of bit operators, which would cut ids to 32 bits; and the sign has a
 * bit of its own in the first byte, because folding it into the number makes odd numbers beyond 2^53, which a double rounds.
 * Ids are never negative.
 */
export function packIds(ids: readonly number[]): Buffer {
  const bytes: number[] = [];
  let last = 0;
  for (const id of ids) {
    const size = Math.abs(id - last);
    let byte = (size % 64) * 2 + (id < last ? 1 : 0);
    let rest = Math.floor(size / 64);
    for (; rest > 0; rest = Math.floor(rest / 128)) {
      bytes.push(byte + 128);
      byte = rest % 128;
    }
    bytes.push(byte);
    last = id;
  }
  return Buffer.from(bytes);
}

export function* unpackIds(bytes: Uint8Array): Generator<number> {
  let last = 0;
  let size = 0;
  let scale = 1;
  let sign = 1;
  for (const byte of bytes) {
    const bits = byte % 128;
    if (scale === 1) {
      sign = bits % 2 === 1 ? -1 : 1;
      size = Math.floor(bits / 2);
      scale = 64;
    } else {
      size += bits * scale;
      scale *= 128;
    }
    if (byte >= 128) continue;
    last += sign * size;
    yield last;
    scale = 1;
  }
}
