import { AppError, codeOf, type ErrorCode, messageOf, storageError } from '../base/errors.ts';

/** What the doctor found out about one thing. */
export interface Check {
  name: string;
  state: 'ok' | 'warn' | 'fail';
  detail: string;
  /** What to do about it. */
  advice: string | null;
  /** What kind of failure it is. */
  code: ErrorCode | null;
}

export type Finding = Omit<Check, 'name'>;

export function fine(detail: string): Finding {
  return { state: 'ok', detail, advice: null, code: null };
}

export function warning(detail: string, advice: string): Finding {
  return { state: 'warn', detail, advice, code: null };
}

export function fault(detail: string, advice: string | null, code: ErrorCode = 'usage'): Finding {
  return { state: 'fail', detail, advice, code };
}

/** A check that throws has failed; only being told to stop is passed on. */
export async function check(name: string, work: () => Finding | Promise<Finding>): Promise<Check> {
  try {
    return { name, ...(await work()) };
  } catch (error) {
    if (codeOf(error) === 'interrupted') throw error;
    const told = error instanceof AppError ? error : storageError(error);
    return { name, ...fault(messageOf(told ?? error), told?.hint ?? null, codeOf(error)) };
  }
}
