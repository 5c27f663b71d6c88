import type { KnownToday } from './report.ts';

/**
 * Checks that fail today, as `scenario: check`, with the reason. Whoever makes one hold removes its line: a mark whose check holds fails
 * the run.
 */
export const KNOWN_TODAY: KnownToday = {
  'equal dates: a sweep that left out rows ends as incomplete, exit 5': 'the sweep is called complete',
  'next names another host: next is followed at the configured address, exit 0': 'next is refused',
  'next names another host: the mirror equals the database': 'next is refused',
  'import through a proxy that repeats requests: nothing is doubled in silence':
    'a second post of a row that was never unclear is not named',
  'import through limit_req answers 503: at most 1 in 20 unclear rows is left to a person':
    'a 503 makes a row unclear, and the program says that several posts could be it',
  'import through kill -9 of gunicorn workers: at most 1 in 20 unclear rows is left to a person':
    'the program says that several posts could be the row',
  'import through restart of the database: at most 1 in 20 unclear rows is left to a person':
    'the program says that several posts could be the row',
};
