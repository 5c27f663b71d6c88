/** The definitions of reports over time, worked out the long way: for the tests that compare. */

export interface Time {
  entered: number;
  left: number;
  ended: boolean;
}

/** Kaplan and Meier by their definition: at every age at which some end, those who are watched then are counted one by one. */
export function survivalByHand(given: readonly Time[]) {
  const posts = given.length;
  if (posts < 5) return { posts, median: null, p90: null, atLeast: null };
  const isFew = given.filter(({ entered }) => entered === 0).length < 5;
  const watched = ({ entered, left, ended }: Time): Time => ({
    entered: 0,
    left: left - entered,
    ended: ended && entered === 0,
  });
  const times = isFew ? given.map(watched) : given;
  const ages = [...new Set(times.filter(({ ended }) => ended).map(({ left }) => left))].sort((a, b) => a - b);
  const knownAt = (age: number): Time[] =>
    times.filter((time) => (time.ended && time.left < age) || isWatchedAt(time, age));
  const isThin = (age: number): boolean =>
    times.filter((time) => isWatchedAt(time, age)).length < 5 &&
    times.some(({ entered }) => entered > 0 && entered >= age);
  const thin = ages.find((age) => knownAt(age).length < 5 || isThin(age));
  let share = 1;
  const reached = (least: number): number | null => {
    share = 1;
    for (const age of ages) {
      if (age === thin) return null;
      const there = times.filter((time) => isWatchedAt(time, age)).length;
      share *= 1 - times.filter(({ left, ended }) => ended && left === age).length / there;
      if (share <= least + 1e-9) return age;
    }
    return null;
  };
  const median = reached(0.5);
  const ends = times.map(({ left }) => left).sort((a, b) => b - a);
  const last = ends.find((age) => times.filter((time) => time.ended || time.left >= age).length >= 5) ?? null;
  const until = thin !== undefined && isThin(thin) ? thin : last;
  return { posts, median, p90: reached(0.1), atLeast: median === null ? until : null };
}

function isWatchedAt({ entered, left }: Time, age: number): boolean {
  return (entered < age || entered === 0) && left >= age;
}
