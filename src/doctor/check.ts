import { AppError, codeOf, type ErrorCode, messageOf, storageError } from '../base/errors.ts';
import { runbookOf, type Symptom } from '../base/runbook.ts';

export interface Check {
  name: string;
  state: 'ok' | 'warn' | 'fail';
  detail: string;
  advice: string | null;
  code: ErrorCode | null;
  /** Where the runbook says more. */
  runbook: readonly string[];
}

export type Finding = Omit<Check, 'name'>;

export function fine(detail: string): Finding {
  return { state: 'ok', detail, advice: null, code: null, runbook: [] };
}

export function warning(detail: string, advice: string, ...runbook: [Symptom, ...Symptom[]]): Finding {
  return { state: 'warn', detail, advice, code: null, runbook: runbook.map(runbookOf) };
}

export function fault(
  detail: string,
  advice: string | null,
  symptom: Symptom,
  code: ErrorCode = 'usage',
): Finding {
  return { state: 'fail', detail, advice, code, runbook: [runbookOf(symptom)] };
}

/** Where to read on about an error that no check has named. */
const SYMPTOM_OF: Record<ErrorCode, Symptom> = {
  usage: 'wrong-setting',
  unauthorised: 'token-refused',
  unreachable: 'upstream-away',
  throttled: 'throttled',
  refused: 'bad-answers',
  protocol: 'bad-answers',
  partial: 'defect',
  gone: 'defect',
  busy: 'locked',
  storage: 'disk-full',
  interrupted: 'defect',
  internal: 'defect',
};

/** A check that throws has failed; only being asked to stop is passed on. */
export async function check(
  name: string,
  work: () => Finding | Promise<Finding>,
  symptom?: Symptom,
): Promise<Check> {
  try {
    return { name, ...(await work()) };
  } catch (error) {
    const code = codeOf(error);
    if (code === 'interrupted') throw error;
    const known = error instanceof AppError ? error : storageError(error);
    const finding = fault(messageOf(known ?? error), known?.hint ?? null, symptom ?? SYMPTOM_OF[code], code);
    return { name, ...finding };
  }
}
