import { type Compared, type Miss, missesOf, pageNumberOf, type Shown, type Way } from './miss.ts';

/**
 * Which rows of a list are gone? The upstream never tells: a deleted row only stops to show. A living row can be missed too, in several
 * ways (miss.ts), each with its chance. A living row that is missed again and again needs all of these chances at once. Where that is too
 * unlikely, the row counts as deleted. Any sighting begins from nothing. The rule does not know by what the list is sorted.
 */

/** A number for each way. A miss on unstable pages says nothing. */
type ByWay = Record<Exclude<Way, 'unstable'>, number>;

/** A row that the last complete sweep missed. */
export interface Missing {
  /** How many sweeps in a row missed it in each way. */
  misses: Partial<ByWay>;
  /** The way in which the last one did. */
  way: Way;
  /** The rows that the sweep showed before and after its place. */
  before: number | null;
  after: number | null;
  /** A pass has shown the row since then, the sweep that is judged included. */
  isSeen: boolean;
}

/** What a list has taught about its misses. Each sweep lets it fade. */
export interface Learned {
  /** The share of all rows that came back in one sweep after they were missed inside a page. */
  inside: number;
  /** How many sweeps there were. */
  sweeps: number;
  /** In how many of them a row came back that was missed at an edge. */
  edge: number;
  /** How many rows came back that were missed between pages. */
  back: number;
  /** How many rows came back that were missed in a frozen list. */
  frozen: number;
  /** How many rows were missed in one of these two ways until they counted as deleted. */
  gone: number;
  /** For how many more sweeps also rows that seem to be pushed down make their pages unstable. */
  distrusted: number;
}

export const NOTHING_LEARNED = { inside: 0, sweeps: 0, edge: 0, back: 0, frozen: 0, gone: 0, distrusted: 0 };

/** The chance that a sweep misses a living row in this way, before the list has taught anything. */
const PRIOR = {
  // One service in ten leaves out rows inside its pages. Its chance is divided by the rows of all watched sweeps, which came each time.
  inside: 0.1,
  // Rows slide over a page boundary while the list moves.
  between: 0.01,
  // Nothing moved, so nothing slid. But a service that loses a row where two pages meet loses it again.
  frozen: 1e-4,
  // A list can be cut short, and a replica can lack the newest rows.
  edge: 0.01,
};
/** The first sweep cannot know that it missed a row, nor the second that such a row came back: they tell nothing of a service's habits. */
const UNWATCHED_SWEEPS = 2;
/** At most one living row in this many sweeps is taken for deleted, if a service misses rows by chance. */
const SWEEPS_PER_MISTAKE = 100_000;
/** At this score a row counts as deleted: 1, less what a sum of fractions can lose. */
const FULL = 1 - 1e-9;
/** The reads of one sweep depend on each other (one replica, one cache), so one sweep is never enough. */
const MOST_PER_SWEEP = 0.5;
/** What one sweep leaves of the share of rows that came back inside pages, and of the other counts, which are rarer. */
const FADE = { inside: 0.9, rare: 0.98 };
/** A list whose order was unstable once shows it again within so many sweeps. */
const DISTRUSTED_SWEEPS = 20;

export interface AbsenceEvidence extends Compared {
  missing: ReadonlyMap<number, Missing>;
  /** How many deleted rows have shown since the last complete sweep. How they were missed is not kept, so they count for every way. */
  restored: number;
  learned: Learned;
}

export interface AbsenceVerdict {
  /** All missing rows, the deleted ones too, with their scores: the share of what is needed to count a row as deleted. */
  missing: Map<number, Missing & { score: number }>;
  deleted: number[];
  learned: Learned;
  /** Different rows that were shown, and rows that came again without having been pushed down. */
  rows: number;
  outOfPlace: number;
}

export function judgeAbsences(evidence: AbsenceEvidence): AbsenceVerdict {
  const { shown, absent, missing } = evidence;
  const { misses, rows, outOfPlace } = missesOf(evidence);
  // The list teaches first: rows that come back lower what all misses of the others are worth.
  const learned = learn(evidence, rows, outOfPlace);
  const worth = worthOf(learned, rows + absent.size, lostAtBoundaries(misses, shown));
  const verdict: AbsenceVerdict = { missing: new Map(), deleted: [], learned, rows, outOfPlace };
  for (const { id, before, after, way } of misses) {
    const row = missedAgain(missing.get(id), way, learned);
    const { inside = 0, between = 0, frozen = 0, edge = 0 } = row.misses;
    const score = inside * worth.inside + between * worth.between + frozen * worth.frozen + edge * worth.edge;
    const [idBefore = null, idAfter = null] = [shown.ids[before], shown.ids[after]];
    verdict.missing.set(id, { ...row, score, before: idBefore, after: idAfter, isSeen: false });
    if (score < FULL) continue;
    verdict.deleted.push(id);
    if (row.way === 'between' || row.way === 'frozen') learned.gone++;
  }
  return verdict;
}

/** A row that was missed on unstable pages has lost its place until it shows again, or the list is trusted again. */
function missedAgain(last: Missing | undefined, way: Way, learned: Learned): Pick<Missing, 'misses' | 'way'> {
  const before = last?.isSeen === false ? last : null;
  const wasUnstable = before?.way === 'unstable' && learned.distrusted > 0;
  if (way === 'unstable' || wasUnstable) return { misses: {}, way: 'unstable' };
  return { misses: { ...before?.misses, [way]: (before?.misses[way] ?? 0) + 1 }, way };
}

/** What one miss adds to a score, in a list of so many rows. `lost`: the share of page boundaries that lost rows in this sweep. */
export function worthOf(learned: Learned, rows: number, lost = 0): ByWay {
  const { inside, sweeps, edge, back, frozen, gone } = learned;
  const need = Math.log(Math.max(1, rows) * SWEEPS_PER_MISTAKE);
  // A service that leaves out rows inside its pages does so at every place. One that loses them at page boundaries does so only there.
  const worth = (...chances: number[]): number =>
    Math.min(MOST_PER_SWEEP, -Math.log(Math.max(inside, ...chances)) / need);
  const share = (returned: number): number => Math.max(lost, returned / (returned + gone + 1));
  return {
    inside: worth(PRIOR.inside / (Math.max(1, rows) * Math.max(1, sweeps - UNWATCHED_SWEEPS))),
    between: worth(PRIOR.between, share(back)),
    frozen: worth(PRIOR.frozen, share(frozen)),
    edge: worth(PRIOR.edge, edge / (sweeps + 1)),
  };
}

/** A service that loses rows where two pages meet loses them at many places at once; one deleted row is at one place. */
function lostAtBoundaries(misses: readonly Miss[], shown: Shown): number {
  const page = (at: number): number => pageNumberOf(shown, at);
  const apart = misses.filter(({ before, after }) => before >= 0 && page(after) === page(before) + 1);
  const places = new Set(apart.map(({ after }) => page(after)));
  return Math.max(0, places.size - 1) / Math.max(1, shown.starts.length - 1);
}

function learn({ missing, restored, learned }: AbsenceEvidence, rows: number, outOfPlace: number): Learned {
  const seen = [...missing.values()].filter(({ isSeen }) => isSeen);
  const cameBack = (missed: Way): number => seen.filter(({ way }) => way === missed).length + restored;
  return {
    inside: Math.max(FADE.inside * learned.inside, Math.min(1, cameBack('inside') / Math.max(1, rows))),
    sweeps: FADE.rare * learned.sweeps + 1,
    edge: FADE.rare * learned.edge + Math.min(1, cameBack('edge')),
    back: FADE.rare * learned.back + cameBack('between'),
    frozen: FADE.rare * learned.frozen + cameBack('frozen'),
    gone: FADE.rare * learned.gone,
    distrusted: outOfPlace > 0 ? DISTRUSTED_SWEEPS : Math.max(0, learned.distrusted - 1),
  };
}
