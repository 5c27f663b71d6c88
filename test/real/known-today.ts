import type { KnownToday } from './report.ts';

/**
 * Checks that fail today, as `scenario: check`, with the reason. Whoever makes one hold removes its line: a mark whose check holds fails
 * the run.
 */
export const KNOWN_TODAY: KnownToday = {};
