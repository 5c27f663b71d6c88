import { AppError } from '../base/errors.ts';
import { type QueryPart, type QueryRequest, runQuery } from './run.ts';

export type RunQuery = (
  request: QueryRequest,
  signal?: AbortSignal,
) => AsyncGenerator<QueryPart, void, undefined>;

/** Statements that wait for a slot; each is a request that is kept open. */
const MOST_WAITING = 20;

/** Runs at most `atOnce` statements at the same time; the others wait in order, and those beyond a limit are refused. */
export function limitQueries(atOnce: number, mostWaiting = MOST_WAITING): RunQuery {
  let free = atOnce;
  const waiting = new Set<() => void>();
  const leave = (): void => {
    const [next] = waiting;
    if (!next) free += 1;
    else if (waiting.delete(next)) next();
  };
  return async function* (request, signal) {
    if (free > 0) free -= 1;
    else if (waiting.size >= mostWaiting) throw tooManyWaiting(mostWaiting);
    else await turn(waiting, signal);
    try {
      yield* runQuery(request, signal);
    } finally {
      leave();
    }
  };
}

function tooManyWaiting(most: number): AppError {
  return new AppError('busy', `${most} statements are waiting already`, {
    hint: 'Try again in a few seconds.',
  });
}

/** A caller that gives up while it waits leaves the line, and no slot is lost. */
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
