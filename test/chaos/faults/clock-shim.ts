import { readFileSync } from 'node:fs';

/**
 * Loaded before the program: its wall clock is the machine's plus what the file says, as if somebody had set it. Timers are left alone,
 * as they are when a real clock is set.
 */
const path = process.env.TORTURE_CLOCK;
const RealDate = Date;
let offset = 0;

function reread(): void {
  try {
    offset = Number(readFileSync(path ?? '', 'utf8')) || 0;
  } catch {
    // Just being written.
  }
}

class ShiftedDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(RealDate.now() + offset);
    else super(...(given as [number]));
  }

  static override now(): number {
    return RealDate.now() + offset;
  }
}

if (path !== undefined) {
  reread();
  setInterval(reread, 50).unref();
  globalThis.Date = ShiftedDate as DateConstructor;
}
