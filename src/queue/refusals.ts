import { AppError } from '../base/errors.ts';

/** How long a server may take to come up at the start: two services started together need not be started in order. */
export const PATIENCE_MS = 8000;

export function awayAtStart(place: string, last: Error | undefined): AppError {
  const why = last ? ` (${(last as NodeJS.ErrnoException).code ?? last.message})` : '';
  return new AppError('unreachable', `the queue at ${place} could not be reached${why}`, {
    cause: last,
    hint: 'Start that server or correct QUEUE_URL; with an empty QUEUE_URL the queue lives in the data folder.',
  });
}
