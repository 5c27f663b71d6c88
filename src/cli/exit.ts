import type { ErrorCode } from '../base/errors.ts';

/** What a shell or a scheduler learns from each failure. */
export const EXIT_CODES: Record<ErrorCode, number> = {
  internal: 1,
  usage: 2,
  unauthorised: 3,
  unreachable: 4,
  throttled: 4,
  refused: 4,
  protocol: 4,
  partial: 5,
  busy: 6,
  storage: 7,
  interrupted: 130,
};
