import { readFileSync } from 'node:fs';
import { shiftDate } from '../../support/clock.ts';

/** Loaded before the program: its wall clock is the machine's plus what the file says. */
const path = process.env.CHAOS_CLOCK;

if (path !== undefined) {
  const date = shiftDate();
  const reread = (): void => {
    try {
      date.shift(Number(readFileSync(path, 'utf8')) || 0);
    } catch {
      // Just being written.
    }
  };
  reread();
  setInterval(reread, 50).unref();
}
