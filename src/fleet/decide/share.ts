/** A machine as the others see it. */
export interface Machine {
  name: string;
  /** Its heartbeat has moved within `SILENT_MS`. */
  isAlive: boolean;
  /** It was told to stop, and hands over what it holds. */
  isLeaving: boolean;
}

/** By source: the machine that took it last. */
export type Holders = ReadonlyMap<string, string>;

/**
 * Which machine is to run which source. Everybody counts the same from the same table, so nobody has to be asked. A machine keeps what it
 * holds up to its even share; what nobody holds goes to the machines with free places. Where every machine has its share, nothing moves.
 */
export function shareOut(
  sources: readonly string[],
  machines: readonly Machine[],
  holders: Holders,
): Map<string, string> {
  const open = machines.filter(({ isAlive, isLeaving }) => isAlive && !isLeaving).map(({ name }) => name);
  const held = new Map(open.map((name) => [name, heldBy(name, sources, holders)]));
  const shares = sharesOf(held, sources.length);
  const kept = new Map([...held].map(([name, own]) => [name, own.slice(0, shares.get(name))]));
  const placed = new Set([...kept.values()].flat());
  for (const source of sources.toSorted()) {
    const next = placed.has(source) ? null : emptiest(kept, shares);
    if (next !== null) kept.get(next)?.push(source);
  }
  return new Map([...kept].flatMap(([name, own]) => own.map((source) => [source, name] as const)));
}

function heldBy(name: string, sources: readonly string[], holders: Holders): string[] {
  return sources.filter((source) => holders.get(source) === name).toSorted();
}

/** Those that hold most have the larger shares, where the number does not divide: so the fewest sources move. */
function sharesOf(held: ReadonlyMap<string, readonly string[]>, sources: number): Map<string, number> {
  const most = [...held].toSorted(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
  const least = Math.floor(sources / Math.max(1, held.size));
  const larger = sources - least * held.size;
  return new Map(most.map(([name], n) => [name, n < larger ? least + 1 : least]));
}

function emptiest(
  kept: ReadonlyMap<string, readonly string[]>,
  shares: ReadonlyMap<string, number>,
): string | null {
  const free = [...kept].filter(([name, own]) => own.length < (shares.get(name) ?? 0));
  const [first] = free.toSorted(([a, x], [b, y]) => x.length - y.length || (a < b ? -1 : 1));
  return first?.[0] ?? null;
}

/** What a machine does about its share. It takes only what no living machine holds: that one hands it over first. */
export function stepOf(
  me: string,
  share: ReadonlyMap<string, string>,
  held: ReadonlySet<string>,
): { take: string[]; keep: string[]; handOver: string[] } {
  const mine = [...share].filter(([, machine]) => machine === me).map(([source]) => source);
  return {
    take: mine.filter((source) => !held.has(source)),
    keep: [...held].filter((source) => share.get(source) === me || !share.has(source)),
    handOver: [...held].filter((source) => share.has(source) && share.get(source) !== me),
  };
}
