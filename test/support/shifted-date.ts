/** The wall clock of this process as if somebody had set it: `Date` tells the machine's time plus an offset. Timers are left alone, as they are when a real clock is set. */
export interface ShiftedDate {
  shift(ms: number): void;
  restore(): void;
}

export function shiftDate(): ShiftedDate {
  const RealDate = Date;
  let offset = 0;
  globalThis.Date = class extends RealDate {
    constructor(...given: unknown[]) {
      if (given.length === 0) super(RealDate.now() + offset);
      else super(...(given as [number]));
    }

    static override now(): number {
      return RealDate.now() + offset;
    }
  } as DateConstructor;
  return {
    shift(ms) {
      offset = ms;
    },
    restore() {
      globalThis.Date = RealDate;
    },
  };
}
