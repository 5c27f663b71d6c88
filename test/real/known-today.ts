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
    'only rows that were once unclear are checked for second posts',
  'import through limit_req answers 503: every row comes to an end':
    'a 503 makes a row unclear, and the sender keeps its pace',
  'import through limit_req answers 503: at most 1 in 20 unclear rows is left to a person':
    'four unclear attempts go to a person',
  'import through kill -9 of gunicorn workers: at most 1 in 20 unclear rows is left to a person':
    'a post that the owner wrote by hand holds up unclear rows',
  'import through restart of the database: at most 1 in 20 unclear rows is left to a person':
    'a post that the owner wrote by hand holds up unclear rows',
};
