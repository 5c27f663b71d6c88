/** A wait is cut into as many parts, each of which the process must have lived through. */
const PARTS = 4;

export interface Silence {
  /** From now on a word is due within that time; null when nothing is waited for. */
  expect(ms: number | null): void;
}

/**
 * Calls when nothing was heard for the time that was given. It counts parts of it and does not compare clocks: a process that was
 * stopped for a minute, or a machine that slept, has an answer lying there which it could not read yet.
 */
export function watchSilence(onSilence: (ms: number) => void): Silence {
  let timer: NodeJS.Timeout | undefined;
  return {
    expect(ms) {
      clearInterval(timer);
      if (ms === null) return;
      let parts = 0;
      timer = setInterval(() => {
        if (++parts < PARTS) return;
        clearInterval(timer);
        onSilence(ms);
      }, ms / PARTS);
    },
  };
}
