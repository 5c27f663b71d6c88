import {
  type AbsenceVerdict,
  judgeAbsences,
  type Learned,
  type Missing,
  NOTHING_LEARNED,
} from '../../src/mirror/decide/absence.ts';
import { indexOf } from '../../src/mirror/decide/ids.ts';
import type { Way } from '../../src/mirror/decide/miss.ts';

/** The pages of a list as one sweep shows them. */
export type Pages = readonly (readonly number[])[];

export interface Judged {
  deleted: number[];
  missing: AbsenceVerdict['missing'];
  learned: Learned;
  outOfPlace: number;
}

/** What a mirror concludes from sweeps, one after the other, kept in plain sets instead of a store. */
export function judge(sweeps: readonly Pages[], before: Learned = NOTHING_LEARNED): Judged[] {
  const [live, gone] = [new Set<number>(), new Set<number>()];
  let last = new Float64Array();
  let missing = new Map<number, Missing>();
  let learned = before;
  return sweeps.map((pages) => {
    const ids = pages.flat();
    const restored = new Set(ids.filter((id) => gone.delete(id))).size;
    for (const id of ids) {
      live.add(id);
      const missed = missing.get(id);
      if (missed) missed.isSeen = true;
    }
    const absent = new Set([...live].filter((id) => !ids.includes(id)));
    const shown = {
      ids: Float64Array.from(ids),
      index: indexOf(Float64Array.from(ids)),
      starts: startsOf(pages),
    };
    const verdict = judgeAbsences({ last, shown, absent, missing, restored, learned });
    learned = verdict.learned;
    missing = new Map(verdict.missing);
    for (const id of verdict.deleted) {
      gone.add(id);
      live.delete(id);
    }
    const { deleted, outOfPlace } = verdict;
    const judged = { deleted, outOfPlace, learned, missing: verdict.missing };
    for (const id of deleted) missing.delete(id);
    last = shown.ids;
    return judged;
  });
}

function startsOf(pages: Pages): Uint32Array {
  return Uint32Array.from(pages, (_, n) => pages.slice(0, n).flat().length);
}

/** The sweep that deleted a row, counted from the first; null where none did. */
export function deletedBy(judged: readonly Judged[], id: number): number | null {
  const at = judged.findIndex(({ deleted }) => deleted.includes(id));
  return at < 0 ? null : at;
}

export function waysOf(judged: readonly Judged[], id: number): (Way | null)[] {
  return judged.map(({ missing }) => missing.get(id)?.way ?? null);
}
