import type { BenchSet } from '../frame/set.ts';
import { headSet } from './head.ts';
import { latencySet } from './latency.ts';
import { memorySet } from './memory.ts';
import { sweepSet } from './sweep.ts';
import { unchangedSet } from './unchanged.ts';

/** Every set, in the order in which they run and stand in RESULTS.md. */
export const SETS: readonly BenchSet[] = [sweepSet, unchangedSet, latencySet, headSet, memorySet];
