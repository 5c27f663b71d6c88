import type { Pass } from '../store/seam.ts';
import type { Context } from './context.ts';

export interface Progress {
  /** Begins a bar; `expected` is how many rows are likely, 0 where nobody knows. */
  start(name: string, expected: number): (pass: Pass) => void;
  stop(): void;
}

const SILENT: Progress = { start: () => () => {}, stop: () => {} };
const KNOWN = '{name} {bar} {pages} pages  {rows} rows  {rate} rows/s  {eta_formatted} left';
const UNKNOWN = '{name} {pages} pages  {rows} rows  {rate} rows/s';

/** A bar on stderr, only where a person can see it. */
export async function openProgress({ json }: Context): Promise<Progress> {
  if (json || !process.stderr.isTTY) return SILENT;
  const { default: cli } = await import('cli-progress');
  const style = {
    hideCursor: true,
    clearOnComplete: true,
    stream: process.stderr,
    etaBuffer: 50,
    barsize: 24,
  };
  const bars = new cli.MultiBar({ ...style, format: KNOWN }, cli.Presets.shades_classic);
  return {
    start(name, expected) {
      const began = Date.now();
      const payload = { name: name.padEnd(8), pages: '0', rows: '0', rate: '0' };
      const bar = bars.create(Math.max(expected, 1), 0, payload, { format: expected > 0 ? KNOWN : UNKNOWN });
      return ({ counts }) => {
        const rate = Math.round((counts.rows * 1000) / Math.max(Date.now() - began, 1));
        if (counts.rows > bar.getTotal()) bar.setTotal(counts.rows);
        const numbers = { pages: counts.pages, rows: counts.rows, rate };
        bar.update(
          counts.rows,
          Object.fromEntries(Object.entries(numbers).map(([key, n]) => [key, n.toLocaleString('en')])),
        );
      };
    },
    stop: () => bars.stop(),
  };
}
