import { durationText, grouped } from '../text/text.ts';
import type { Context } from './context.ts';

export interface ProgressBars {
  /** Begins a bar and returns how to move it: how far it is, and the numbers to show beside it. */
  start(look: BarLook): (value: number, numbers: Record<string, number>) => void;
  stop(): void;
}

interface BarLook {
  name: string;
  /** The likely last `value`. With 0 the progress shows numbers and no bar. */
  total: number;
  /** The numbers, each by its name in braces; `{rate}` is the value a second. */
  text: string;
  /** What was done before this process began: it counts for the bar, not for the rate. */
  from?: number;
}

const SILENT: ProgressBars = { start: () => () => {}, stop: () => {} };

/** Bars on stderr, only where a person can see them. */
export async function openProgress({ json }: Pick<Context, 'json'>): Promise<ProgressBars> {
  if (json || !process.stderr.isTTY) return SILENT;
  const { default: cli } = await import('cli-progress');
  const style = { hideCursor: true, clearOnComplete: true, stream: process.stderr, barsize: 24 };
  const bars = new cli.MultiBar({ ...style, format: '{name}' }, cli.Presets.shades_classic);
  return {
    start({ name, total, text, from = 0 }) {
      const began = Date.now();
      const format = total > 0 ? `{name} {bar} ${text}  {left} left` : `{name} ${text}`;
      const names = [...text.matchAll(/\{(\w+)\}/g)].map(([, key = '']) => key);
      const zeros = Object.fromEntries(names.map((key) => [key, '0']));
      const blank = { name: name.padEnd(8), left: '?', ...zeros };
      const bar = bars.create(Math.max(total, 1), from, blank, { format });
      return (value, numbers) => {
        const perMs = (value - from) / Math.max(Date.now() - began, 1);
        const rate = Math.round(perMs * 1000);
        if (value > bar.getTotal()) bar.setTotal(value);
        const left = durationText((bar.getTotal() - value) / perMs);
        const shown = Object.entries({ rate, ...numbers }).map(([key, n]) => [key, grouped(n)]);
        bar.update(value, { ...Object.fromEntries(shown), left });
      };
    },
    stop: () => bars.stop(),
  };
}
