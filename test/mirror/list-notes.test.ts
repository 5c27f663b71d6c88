import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NOTHING_LEARNED } from '../../src/mirror/decide/absence.ts';
import type { ListFacts } from '../../src/mirror/decide/list-facts.ts';
import { type ListState, listNotes, type MissingGroup } from '../../src/mirror/decide/list-notes.ts';

const FACTS: ListFacts = { absences: { ...NOTHING_LEARNED, sweeps: 20 }, readAt: 1, newRows: 'start' };
const LIST: ListState = { resource: 'posts', rows: 1000, facts: FACTS, missing: [], lacks: null };

function missing(changes: Partial<MissingGroup> = {}): MissingGroup {
  return { way: 'inside', rows: 3, score: 0.5, since: '2026-01-02T10:05:33.000Z', ...changes };
}

const NOTES: [what: string, changes: Partial<ListState>, expected: string[]][] = [
  ['nothing about an ordinary list', {}, []],
  [
    'rows that are missing, since when and for how long',
    { missing: [missing()] },
    [
      '3 posts are missing since 2026-01-02 10:05 UTC; they count as deleted after one more sweep without them.',
    ],
  ],
  [
    'one comment that is missing',
    { resource: 'comments', missing: [missing({ rows: 1 })] },
    [
      '1 comment is missing since 2026-01-02 10:05 UTC; it counts as deleted after one more sweep without it.',
    ],
  ],
  [
    'rows that were missed in several ways, by the one that takes longest and the first moment',
    { missing: [missing(), missing({ way: 'edge', score: 0.3, since: '2026-01-01T00:00:00.000Z' })] },
    [
      '6 posts are missing since 2026-01-01 00:00 UTC; they count as deleted after at most 3 more sweeps without them.',
    ],
  ],
  [
    'rows that are missing where the order changes',
    { missing: [missing({ way: 'unstable', score: 0, rows: 1 })] },
    [
      '1 post is missing since 2026-01-02 10:05 UTC on pages whose order changes; it counts as deleted only once the order is stable.',
    ],
  ],
  [
    'what the last sweep lacks, and what the operator of the service can do',
    { lacks: '4 rows came on two pages, so as many others may be left out' },
    [
      'The last sweep of posts was incomplete: 4 rows came on two pages, so as many others may be left out. ' +
        'Ask the operator of the service to sort the list by something unique, for example date and then id.',
    ],
  ],
  [
    'an order that was unstable lately',
    { facts: { ...FACTS, absences: { ...FACTS.absences, distrusted: 7 } } },
    [
      'The order of posts changed from one page to the next in one of the last 20 sweeps. ' +
        'Rows that are missing on such pages do not count as deleted.',
    ],
  ],
  [
    'how often a list leaves out rows, and what that costs',
    { facts: { ...FACTS, absences: { ...FACTS.absences, inside: 0.05 } } },
    [
      'Sweeps of posts miss up to 5.0 % of the rows and show them again later. So a deletion takes 7 sweeps instead of 2.',
    ],
  ],
  [
    'a list whose new rows do not come at its start',
    { facts: { ...FACTS, newRows: 'elsewhere' } },
    ['New posts do not come at the start of the list. Head passes are left out, and each sweep brings them.'],
  ],
];

describe('the notes about a list tell', () => {
  for (const [what, changes, expected] of NOTES)
    it(what, () => assert.deepEqual(listNotes({ ...LIST, ...changes }), expected));
});
