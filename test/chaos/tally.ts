import { appendFileSync } from 'node:fs';

/** What happened, in its order: on disk at once, so that it is there whatever becomes of the run. */
export interface Journal {
  note(event: string): void;
  readonly path: string;
}

export function openJournal(path: string, began = Date.now()): Journal {
  return {
    path,
    note(event) {
      const seconds = ((Date.now() - began) / 1000).toFixed(2).padStart(8);
      appendFileSync(path, `${seconds}  ${event}\n`);
    },
  };
}

export interface Invariant {
  name: string;
  checks: number;
  /** The first few, in words. */
  broken: string[];
  breaks: number;
}

/** Counts what was done to the program and what was seen to hold. */
export interface Tally {
  /** A fault that must fire before the run may pass. */
  expect(fault: string): void;
  fired(fault: string, times?: number): void;
  /** What this machine cannot do: said in the end, and no reason to fail. */
  leftOut(faults: readonly string[]): void;
  check(invariant: string, holds: boolean, detail?: () => string): void;
  /** Something measured in milliseconds, such as the time until it is ready again. */
  took(what: string, ms: number): void;
  readonly missing: readonly string[];
  readonly faults: ReadonlyMap<string, number>;
  readonly invariants: ReadonlyMap<string, Invariant>;
  readonly times: ReadonlyMap<string, number[]>;
}

const SHOWN = 5;

export function createTally(journal: Journal): Tally {
  const faults = new Map<string, number>();
  const invariants = new Map<string, Invariant>();
  const times = new Map<string, number[]>();
  const missing: string[] = [];
  return {
    missing,
    leftOut: (faults) => void missing.push(...faults),
    faults,
    invariants,
    times,
    expect: (fault) => void faults.set(fault, faults.get(fault) ?? 0),
    fired: (fault, n = 1) => void faults.set(fault, (faults.get(fault) ?? 0) + n),
    check(name, holds, detail = () => name) {
      const known = invariants.get(name) ?? { name, checks: 0, broken: [], breaks: 0 };
      invariants.set(name, known);
      known.checks++;
      if (holds) return;
      known.breaks++;
      const said = detail();
      if (known.broken.length >= SHOWN || known.broken.includes(said)) return;
      known.broken.push(said);
      journal.note(`BROKEN ${name}: ${said}`);
    },
    took(what, ms) {
      const known = times.get(what) ?? [];
      times.set(what, known);
      known.push(ms);
    },
  };
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
