import { createRandom, type Random } from '../../src/sandbox/random.ts';

/** One fault of a lane: does it, waits until it is over, and says nothing; the tally knows whether it fired. */
export interface Incident {
  name: string;
  run(): Promise<void>;
}

/** A stream of its own for each lane, so that what one draws does not depend on how fast another is. */
export function streamOf(seed: number, lane: string): Random {
  let mixed = seed;
  for (const letter of lane) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193) >>> 0;
  return createRandom(mixed);
}

export function shuffled<T>(list: readonly T[], random: Random): T[] {
  const deck = [...list];
  for (let last = deck.length - 1; last > 0; last--) {
    const other = random.int(last + 1);
    const [a, b] = [deck[last] as T, deck[other] as T];
    deck[last] = b;
    deck[other] = a;
  }
  return deck;
}

/** Every card once, then every card again in another order: all of them fire, and each in many surroundings. Low ranks come first. */
export function* rounds<T>(
  list: readonly T[],
  random: Random,
  rankOf: (card: T) => number = () => 0,
): Generator<{ round: number; card: T }> {
  for (let round = 1; ; round++)
    for (const card of shuffled(list, random).sort((a, b) => rankOf(a) - rankOf(b))) yield { round, card };
}
