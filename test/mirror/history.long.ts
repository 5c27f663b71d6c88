import fc from 'fast-check';
import { histories, play } from './history.ts';

const numRuns = Number(process.argv[2] ?? 1000);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
process.stdout.write(`${numRuns} histories, seed ${seed}\n`);
await fc.assert(
  fc.asyncProperty(histories, (history) => play(history)),
  { numRuns, seed, verbose: 1 },
);
process.stdout.write('all held\n');
