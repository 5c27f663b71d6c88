import { parseArgs } from 'node:util';
import type { BenchSet } from './set.ts';

/** Fewer do not make a median one could rely on. */
export const ENOUGH = 5;

/** What the person asked for. */
export interface Request {
  sets: BenchSet[];
  repeat: number;
  scale: number;
}

/** Something to read instead of a run; `ok` when that is what was asked for. */
export interface Instead {
  ok: boolean;
  text: string;
}

export function readRequest(args: string[], known: readonly BenchSet[]): Request | Instead {
  try {
    const options = { repeat: TEXT, scale: TEXT, help: { type: 'boolean' } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (values.help) return { ok: true, text: help(known) };
    return {
      sets: chosen(positionals, known),
      repeat: positive('--repeat', values.repeat ?? String(ENOUGH), /^\d+$/),
      scale: positive('--scale', values.scale ?? '1', /^\d*\.?\d+$/),
    };
  } catch (error) {
    return { ok: false, text: `${error instanceof Error ? error.message : error}\n\n${help(known)}` };
  }
}

const TEXT = { type: 'string' } as const;

function chosen(names: string[], known: readonly BenchSet[]): BenchSet[] {
  const unknown = names.find((name) => !known.some((set) => set.name === name));
  if (unknown !== undefined) throw new Error(`There is no set "${unknown}".`);
  return known.filter(({ name }) => names.length === 0 || names.includes(name));
}

function positive(flag: string, text: string, form: RegExp): number {
  const value = Number(text);
  if (!form.test(text) || value <= 0) throw new Error(`${flag} needs a number above 0, not "${text}".`);
  return value;
}

function help(known: readonly BenchSet[]): string {
  const width = Math.max(...known.map(({ name }) => name.length));
  const list = known.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`);
  return `npm run bench [-- NAME...] [--repeat N] [--scale S]

Measures the sets named, or all: what this program does beside the floor and the peers, on the same data in turns.
The table goes to stdout, progress to stderr, and the sections of bench/RESULTS.md are replaced. Data is kept in the
temporary folder (TMPDIR) until the end; a run of all sets needs about 5 GB there and an hour.
BENCH_PAIRS names folders of public duplicate reports for the set similar, as bench/sets/similar.ts says.
BENCH_MIRRORS names a folder that keeps the large mirrors for later runs. BENCH_ANSWERS is a pattern of the addresses that the
set answers asks for.

  --repeat N   repetitions of each measurement (default ${ENOUGH}; with fewer, RESULTS.md stays as it is)
  --scale S    every size times S, to try the machinery: 0.01 takes minutes (RESULTS.md stays as it is)

Sets:
${list.join('\n')}

Exit code: 0 when every figure is within its bound, 1 when one is short of it or a set failed, 2 for a wrong request.

Examples:
  npm run bench -- sweep unchanged
  npm run bench -- --scale 0.01 --repeat 1`;
}
