import { type QueryPart, type QueryRequest, runQuery } from './run.ts';

export type RunQuery = (
  request: QueryRequest,
  signal?: AbortSignal,
) => AsyncGenerator<QueryPart, void, undefined>;

/** At most so many statements at the same time, for whoever lets many people ask; the others wait in order. */
export function limitQueries(atOnce: number): RunQuery {
  let free = atOnce;
  const waiting = new Set<() => void>();
  const leave = (): void => {
    const [next] = waiting;
    if (!next) free += 1;
    else if (waiting.delete(next)) next();
  };
  return async function* (request, signal) {
    if (free > 0) free -= 1;
    else await turn(waiting, signal);
    try {
      yield* runQuery(request, signal);
    } finally {
      leave();
    }
  };
}

/** Whoever gives up while waiting leaves the queue, and no place is lost. */
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
    if (signal?.aborted) return giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
    waiting.add(enter);
  });
}
