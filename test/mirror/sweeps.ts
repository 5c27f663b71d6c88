import {
  judgeAbsences,
  type Learned,
  type Missing,
  NOTHING_LEARNED,
} from '../../src/mirror/decide/absence.ts';
import type { Way } from '../../src/mirror/decide/miss.ts';

/** The pages of a list as one sweep shows them. */
export type Pages = readonly (readonly number[])[];

export interface Judged {
  deleted: number[];
  missing: Map<number, Missing>;
  learned: Learned;
  outOfPlace: number;
}

/** What a mirror concludes from sweeps, one after the other, kept in plain sets instead of a store. */
export function judge(sweeps: readonly Pages[]): Judged[] {
  const [live, gone] = [new Set<number>(), new Set<number>()];
  let last: number[] = [];
  let missing = new Map<number, Missing>();
  let learned = NOTHING_LEARNED;
  return sweeps.map((pages) => {
    const ids = pages.flat();
    const restored = new Set(ids.filter((id) => gone.delete(id))).size;
    for (const id of ids) {
      live.add(id);
      const missed = missing.get(id);
      if (missed) missed.isSeen = true;
    }
    const absent = new Set([...live].filter((id) => !ids.includes(id)));
    const former = Float64Array.from(withMissing(last, missing, absent));
    const shown = {
      ids: Float64Array.from(ids),
      page: Uint32Array.from(pages.flatMap((page, n) => page.map(() => n))),
    };
    const verdict = judgeAbsences({ former, shown, absent, missing, restored, learned });
    ({ learned, missing } = verdict);
    for (const id of verdict.deleted) {
      gone.add(id);
      live.delete(id);
    }
    const { deleted, outOfPlace } = verdict;
    const judged = { deleted, outOfPlace, learned, missing: new Map(missing) };
    for (const id of deleted) missing.delete(id);
    last = ids;
    return judged;
  });
}

/** The last list with the rows that it missed in their places; rows without a place come first. */
function withMissing(
  last: readonly number[],
  missing: ReadonlyMap<number, Missing>,
  absent: ReadonlySet<number>,
): number[] {
  const former = [...last];
  for (const id of new Set([...missing.keys(), ...absent])) {
    if (last.includes(id)) continue;
    const { before = null, after = null } = missing.get(id) ?? {};
    const at =
      after !== null && last.includes(after) ? former.indexOf(after) : former.indexOf(before ?? -1) + 1;
    former.splice(at, 0, id);
  }
  return former;
}

/** The sweep that deleted a row, counted from the first; null where none did. */
export function deletedBy(judged: readonly Judged[], id: number): number | null {
  const at = judged.findIndex(({ deleted }) => deleted.includes(id));
  return at < 0 ? null : at;
}

export function waysOf(judged: readonly Judged[], id: number): (Way | null)[] {
  return judged.map(({ missing }) => missing.get(id)?.way ?? null);
}
