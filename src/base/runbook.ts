/**
 * What an operator can see go wrong. Each name is the anchor of a row in the runbook of docs/operations.md, which a test compares.
 * Names stay as they are: alerts and notes of operators point to them.
 */
export const SYMPTOMS = [
  'service-down',
  'service-busy',
  'service-token',
  'port-taken',
  'not-ready',
  'token-refused',
  'board-refused',
  'upstream-away',
  'throttled',
  'bad-answers',
  'api-changed',
  'sweeps-fail',
  'sweep-stuck',
  'mirror-old',
  'first-sweep',
  'list-incomplete',
  'deletions-held',
  'quarantine',
  'decision-needed',
  'posts-rejected',
  'second-post',
  'not-listed',
  'outbox-stuck',
  'queue-away',
  'queue-damaged',
  'no-ticks',
  'disk-full',
  'data-folder',
  'open-to-others',
  'no-mirror',
  'mirror-damaged',
  'mirror-removed',
  'locked',
  'large-log',
  'search-index',
  'wrong-sums',
  'restored-copy',
  'suppression-key',
  'backup-old',
  'copy-behind',
  'copy-other',
  'webhook-failing',
  'webhook-disabled',
  'fleet-unconfirmed',
  'clocks-differ',
  'weak-token',
  'unknown-setting',
  'wrong-setting',
  'metrics-missing',
  'defect',
] as const;

export type Symptom = (typeof SYMPTOMS)[number];

/** Where the runbook says what to do, as the program prints it. The package holds that file. */
export function runbookOf(symptom: Symptom): string {
  return `docs/operations.md#${symptom}`;
}
