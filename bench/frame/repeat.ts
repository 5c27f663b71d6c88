import { rounded } from './numbers.ts';
import type { Bench } from './set.ts';

export interface Turns {
  /** False for what the first time does not distort, such as the most memory a program takes. */
  warmUp?: boolean;
}

/** One of those that are compared. */
export interface Contender {
  name: string;
  /** Once through; gives what was measured. */
  run(): Promise<number>;
}

/**
 * Measures the contenders in turn, so that a machine that grows slow for a while grows slow for all of them. The first
 * round warms up (caches of files, of compiled code) and is not counted. Gives the measurements of each, in its order.
 */
export async function interleaved(
  bench: Pick<Bench, 'repeat' | 'say'>,
  contenders: readonly Contender[],
  { warmUp = true }: Turns = {},
): Promise<number[][]> {
  for (const { name, run } of warmUp ? contenders : [])
    bench.say(`${name}: warm-up, ${rounded(await run())}`);
  const measured = contenders.map((): number[] => []);
  for (let round = 1; round <= bench.repeat; round++)
    for (const [place, { name, run }] of contenders.entries()) {
      const value = await run();
      measured[place]?.push(value);
      bench.say(`${name}: ${round} of ${bench.repeat}, ${rounded(value)}`);
    }
  return measured;
}
