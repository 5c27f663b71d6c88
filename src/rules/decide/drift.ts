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
    if (hasSameKind(old, field)) return [];
    return [{ ...nameOf(field), change: 'kind', before: old.kinds, after: field.kinds }];
  });
  const vanished = before.flatMap((old): Drift[] => {
    const isUsual = old.rows >= LEAST_ROWS && old.seen >= USUAL * old.rows;
    const isGone = (now.get(keyOf(old))?.seen ?? 0) === 0 && (rowsOf.get(old.resource) ?? 0) >= LEAST_ROWS;
    return isUsual && isGone ? [{ ...nameOf(old), change: 'vanished', before: old.kinds, after: null }] : [];
  });
  return [...appeared, ...vanished];
}

/**
 * What the next look is compared with. A pass may have read only some of the rows again: then a look shows both kinds, or fewer rows with a
 * field. So the kinds stay as they were until a look shows none of them, and of the looks the one counts in which most rows had the field.
 */
export function baselineAfter(before: readonly DriftField[], after: readonly DriftField[]): DriftField[] {
  const known = new Map(before.map((field) => [keyOf(field), field]));
  return after.map((field) => {
    const old = known.get(keyOf(field));
    if (!old || !hasSameKind(old, field)) return field;
    const { seen, rows } = old.seen * field.rows > field.seen * old.rows ? old : field;
    return { ...field, kinds: old.kinds, seen, rows };
  });
}

function hasSameKind(a: DriftField, b: DriftField): boolean {
  const kinds = b.kinds.split('|');
  return a.kinds.split('|').some((kind) => kinds.includes(kind));
}

function keyOf({ resource, path }: Pick<DriftField, 'resource' | 'path'>): string {
  return `${resource} ${path}`;
}

function nameOf({ resource, path }: DriftField): Pick<Drift, 'resource' | 'path'> {
  return { resource, path };
}
