/**
 * Every failure this program can name. One code per thing a caller would do differently;
 * each edge (exit code, HTTP status, job verdict) answers all of them in a typed table.
 */
export const ERROR_CODES = [
  'usage', // a flag, setting or input file is wrong; the person can fix it
  'unauthorised', // the upstream refused the token
  'unreachable', // the upstream could not be reached or kept failing
  'throttled', // the upstream asked us to slow down for longer than we may wait
  'refused', // the upstream understood and said no
  'protocol', // the upstream answered something its contract does not allow
  'partial', // done, but some rows were rejected, quarantined or held back
  'busy', // another process holds what this one needs
  'interrupted', // a person or the system asked us to stop
  'internal', // a defect of ours
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface AppErrorOptions {
  cause?: unknown;
  /** What the person can do about it, as a sentence. */
  hint?: string;
}

export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
  }
}

/** The code of anything thrown: ours, an abort (which says why in its cause), or a defect. */
export function codeOf(error: unknown): ErrorCode {
  if (error instanceof AppError) return error.code;
  if (error instanceof Error && error.name === 'AbortError')
    return error.cause instanceof AppError ? error.cause.code : 'interrupted';
  return 'internal';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
