/** Lets so many callers in at the same time. The others wait in order, and callers beyond a limit are refused. */
export interface WaitingLine {
  /** Fails with the signal's reason for a caller that gives up while it waits: it leaves the line, and no place is lost. */
  enter(signal?: AbortSignal): Promise<void>;
  leave(): void;
}

export function createLine(
  atOnce: number,
  mostWaiting: number,
  refusal: (under: number) => Error,
): WaitingLine {
  let free = atOnce;
  const waiting = new Set<() => void>();
  return {
    async enter(signal) {
      signal?.throwIfAborted();
      if (free > 0) free -= 1;
      else if (waiting.size >= mostWaiting) throw refusal(atOnce + waiting.size);
      else await turn(waiting, signal);
    },
    leave() {
      const [next] = waiting;
      if (!next) free += 1;
      else if (waiting.delete(next)) next();
    },
  };
}

function turn(waiting: Set<() => void>, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      waiting.delete(enter);
      reject(signal?.reason);
    };
    const enter = (): void => {
      signal?.removeEventListener('abort', giveUp);
      resolve();
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    waiting.add(enter);
  });
}
