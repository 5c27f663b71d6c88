/** What rows of a list look like in one field: which kinds of values, and in how many of the rows. */
export interface DriftField {
  resource: string;
  path: string;
  /** In order, with `|` between. */
  kinds: string;
  seen: number;
  rows: number;
}

export interface Drift {
  resource: string;
  path: string;
  change: 'appeared' | 'vanished' | 'kind';
  before: string | null;
  after: string | null;
}

/** With fewer rows a field that is rare may be missing by chance. */
const LEAST_ROWS = 30;
/** A field that so many rows had does not vanish by chance. */
const USUAL = 0.5;

/** What changed between two looks at the same lists. The first look at a list tells nothing. */
export function driftsBetween(before: readonly DriftField[], after: readonly DriftField[]): Drift[] {
  const known = new Map(before.map((field) => [keyOf(field), field]));
  const now = new Map(after.map((field) => [keyOf(field), field]));
  const lists = new Set(before.map(({ resource }) => resource));
  const rowsOf = new Map(after.map(({ resource, rows }) => [resource, rows]));
  const appeared = after.flatMap((field): Drift[] => {
    const old = known.get(keyOf(field));
    if (!lists.has(field.resource) || field.seen === 0) return [];
    if (!old || old.seen === 0)
      return [{ ...nameOf(field), change: 'appeared', before: null, after: field.kinds }];
    if (old.kinds.split('|').some((kind) => field.kinds.split('|').includes(kind))) return [];
    return [{ ...nameOf(field), change: 'kind', before: old.kinds, after: field.kinds }];
  });
  const vanished = before.flatMap((old): Drift[] => {
    const isUsual = old.rows >= LEAST_ROWS && old.seen >= USUAL * old.rows;
    const isGone = (now.get(keyOf(old))?.seen ?? 0) === 0 && (rowsOf.get(old.resource) ?? 0) >= LEAST_ROWS;
    return isUsual && isGone ? [{ ...nameOf(old), change: 'vanished', before: old.kinds, after: null }] : [];
  });
  return [...appeared, ...vanished];
}

function keyOf({ resource, path }: Pick<DriftField, 'resource' | 'path'>): string {
  return `${resource} ${path}`;
}

function nameOf({ resource, path }: DriftField): Pick<Drift, 'resource' | 'path'> {
  return { resource, path };
}
