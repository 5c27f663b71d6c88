/** What a set is given. */
export interface Bench {
  repeat: number;
  /** A size of the set, multiplied by the scale of the run and never below one. */
  scale(size: number): number;
  /** Temporary, removed at the end of the run. */
  folder: string;
  /** Progress for the person who waits, on standard error. */
  say(line: string): void;
}

/** Several measurements of one thing, in the order they were made (warm-up not among them). */
export interface Series {
  name: string;
  /** What ran, as one could type it. */
  command: string;
  unit: 'rows/s' | 's' | 'ms' | 'MB' | 'requests' | '%';
  values: number[];
}

/** What a figure has to reach. */
export interface Bound {
  is: 'at least' | 'at most';
  value: number;
  unit: '' | 'x' | 'ms' | 's' | 'MB' | '%';
}

/**
 * One row of the table. The figure is what the bound speaks about: a ratio of medians of ours to
 * the peer, or ours alone where there is no peer.
 */
export interface Row {
  row: string;
  ours: Series;
  peer: Series | null;
  figure: number;
  bound: Bound | null;
  note?: string;
}

/** One question the bench answers, with everything it takes to answer it. */
export interface BenchSet {
  name: string;
  about: string;
  /** The sizes measured, in words. */
  sizes: string;
  run(bench: Bench): Promise<Row[]>;
}
