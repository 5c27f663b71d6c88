import { AppError } from '../base/errors.ts';

/** How long a server may take to come up at the start: two services started together need not be started in order. */
export const PATIENCE_MS = 8000;

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)_/;

/** A server whose certificate this machine does not trust will not be trusted a second later either. */
export function certificateTrouble(error: Error, place: string): AppError | null {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (!CERTIFICATE.test(code)) return null;
  return new AppError('usage', `the certificate of the queue at ${place} is not trusted (${code})`, {
    cause: error,
    hint: 'Name the file of its authority in NODE_EXTRA_CA_CERTS before the program starts.',
  });
}

export function awayAtStart(place: string, last: Error | undefined): AppError {
  const why = last ? ` (${(last as NodeJS.ErrnoException).code ?? last.message})` : '';
  return new AppError('unreachable', `the queue at ${place} could not be reached${why}`, {
    cause: last,
    hint: 'Start that server or correct QUEUE_URL; with an empty QUEUE_URL the queue lives in the data folder.',
  });
}
