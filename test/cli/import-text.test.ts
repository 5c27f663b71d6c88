import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Context } from '../../src/cli/context.ts';
import { mappingText, printIntake, printPreview, printStates } from '../../src/cli/import-text.ts';
import { NO_ROWS } from '../../src/cli/outbox-text.ts';
import type { FileFacts } from '../../src/outbox/import/import.ts';
import type { Tally } from '../../src/outbox/import/intake.ts';
import type { Preview } from '../../src/outbox/import/preview.ts';

const TALLY: Tally = {
  ...{ rows: 10, accepted: 4, already: 3, skipped: 2, refused: 1, alreadyBy: { confirmed: 2, cancelled: 1 } },
  ...{ refusals: [{ line: 7, reason: 'title is blank' }], notes: [] },
  ...{ held: { rows: 0, examples: [] }, workStates: [], titles: { rows: 7, repeated: 0, most: null } },
};
const ESTIMATE = { rows: 4, perMinute: 60, ms: 4000, until: Date.parse('2026-01-01T12:00:00.000Z') };

/** What is printed, line by line, with single spaces. */
function printed(work: (context: Context) => void): string[] {
  const texts: string[] = [];
  work({ print: (text: string) => void texts.push(text) } as Context);
  return texts
    .join('\n')
    .split('\n')
    .map((line) => line.trim().replace(/ +/g, ' '))
    .filter(Boolean);
}

describe('what an import says', () => {
  const outcome = {
    batch: 'b2',
    batches: ['b1', 'b2'],
    inBatch: 4,
    results: null,
    estimate: ESTIMATE,
    open: [],
  };
  const said = (tally: Partial<Tally> = {}, more: Partial<typeof outcome> = {}, waits = false) =>
    printed((context) => printIntake(context, { ...TALLY, ...tally }, { ...outcome, ...more }, waits));

  it('is how many rows went where, what those before came to, and which were refused', () => {
    assert.deepEqual(said().slice(0, 7), [
      'ROWS ACCEPTED ALREADY IMPORTED LEFT OUT REFUSED',
      '10 4 3 2 1',
      'Already imported: 2 sent, 1 cancelled.',
      'Cancelled rows are sent after all by "feedback-mirror outbox retry --batch B --state cancelled".',
      'Refused:',
      'LINE REASON',
      '7 title is blank',
    ]);
    assert.deepEqual(said({ skipped: 0 }).slice(0, 2), [
      'ROWS ACCEPTED ALREADY IMPORTED REFUSED',
      '10 4 3 1',
    ]);
    const quiet = said({ alreadyBy: { confirmed: 3 }, refused: 0, refusals: [] });
    assert.ok(!quiet.some((line) => /Cancelled|Refused/.test(line)));
  });

  it('is where the rows are, and how they are sent unless they are waited for', () => {
    const where = (lines: string[]) =>
      lines.filter((line) => /^Batch|^Corrected|^They are|^Nothing/.test(line));
    const start = 'They are sent by "feedback-mirror start", or now by the same command with --wait.';
    assert.deepEqual(where(said()), ['Batch b2: 4 rows in the outbox.', start]);
    assert.deepEqual(where(said({}, {}, true)), ['Batch b2: 4 rows in the outbox.']);
    assert.deepEqual(where(said({}, { inBatch: 3 })), [
      'Batch b2: 3 rows in the outbox.',
      'Corrected in an earlier import: 1 row (batch b1).',
      start,
    ]);
    assert.deepEqual(where(said({ accepted: 1 }, { batches: ['b1'], inBatch: 0 })), [
      'Corrected in an earlier import: 1 row (batch b1).',
      start,
    ]);
    assert.deepEqual(where(said({ accepted: 0 }, { batches: [], inBatch: 0 })), [
      'Nothing in this file is new.',
    ]);
    assert.deepEqual(where(said({ accepted: 0 }, { batches: ['b1'], inBatch: 0 })), [
      'Nothing in this file is new.',
      start,
    ]);
  });

  it('shows twenty refused rows, and says where the others are', () => {
    const refusals = Array.from({ length: 25 }, (_, n) => ({ line: n + 2, reason: 'is empty' }));
    const more = (results: string | null) => {
      const lines = said({ refused: 1030, refusals }, { results } as Partial<typeof outcome>);
      return [
        lines.filter((line) => line.endsWith('is empty')).length,
        lines.find((line) => / more/.test(line)),
      ];
    };
    assert.deepEqual(more(null), [20, 'and 1,010 more; use --results to see all']);
    assert.deepEqual(more('out.csv'), [20, 'and 1,010 more; all are in out.csv']);
  });

  it('has each note once, with its first lines', () => {
    const notes = [
      { text: 'title is long', rows: 7, lines: [2, 3, 4, 5, 6, 7, 8] },
      { text: 'odd', rows: 9, lines: [2] },
      { text: 'fine', rows: 1, lines: [3] },
    ];
    assert.deepEqual(
      said({ notes }).filter((line) => line.startsWith('Note')),
      [
        'Note: title is long (7 rows: line 2, 3, 4, 5, 6 and 2 more).',
        'Note: odd (9 rows: line 2, ...).',
        'Note: fine (1 row: line 3).',
      ],
    );
  });

  it('is at the end what became of all, and what to do about those that did not arrive', () => {
    const ended = (counts: object, more: Partial<typeof outcome> = {}) =>
      printed((context) => printStates(context, { ...outcome, ...more }, { ...NO_ROWS, ...counts }));
    assert.deepEqual(ended({ confirmed: 3, rejected: 1, uncertain: 2 }, { batches: ['b2'] }), [
      '3 sent, 1 rejected, 2 needs a decision',
      'See why: feedback-mirror outbox list --batch b2 --state rejected',
      'Decide: feedback-mirror outbox list --batch b2 --state uncertain',
    ]);
    assert.deepEqual(ended({ confirmed: 3 }), ['3 sent']);
    assert.deepEqual(ended({}, { batches: [] }), ['Nothing had to be sent.']);
  });
});

describe('what a dry run says', () => {
  const PREVIEW: Preview = {
    mirror: 'filled',
    ...{ asOwner: 1, asKnownCustomer: 2, asNewCustomer: 3, knownCustomers: 2, newCustomers: 1 },
    ...{ unknownBoards: [], moreUnknownBoards: 0, duplicates: null, first: [] },
  };
  const OPEN = { estimate: ESTIMATE, questions: [], lost: null, mark: null };
  const said = (preview: Partial<Preview> = {}, tally: Partial<Tally> = {}) =>
    printed((context) => printPreview(context, { ...TALLY, ...tally }, { ...PREVIEW, ...preview }, OPEN));

  it('is as whom the rows would go, and who may hear of it', () => {
    const lines = said();
    assert.deepEqual(lines.slice(0, 6), [
      'ROWS WOULD BE ACCEPTED ALREADY IMPORTED LEFT OUT REFUSED',
      '10 4 3 2 1',
      'GOES OUT AS ROWS PEOPLE',
      'the owner of the token 1',
      'a customer the mirror knows 2 2',
      'a new customer 3 1',
    ]);
    const board = { board: 'Ideas', alsoWritten: [], rows: 1, line: 2, suggestions: [] };
    const [head] = said({ unknownBoards: [board] });
    assert.match(head ?? '', /ACCEPTED AFTER THE ANSWERS BELOW/, 'an import would stop before');
    assert.ok(lines.includes('3 customers may be told by the service about posts made in their name.'));
    assert.equal(lines.at(-1), 'This was a dry run: nothing was written.');
    assert.ok(!said({ knownCustomers: 0, newCustomers: 0 }).some((line) => /may be told/.test(line)));
    assert.ok(said({ mirror: 'empty' }).includes('a customer, new or not 3 1'));
    const missing = (preview: Partial<Preview>) =>
      said(preview).filter((line) => /no mirror yet|no posts yet/.test(line)).length;
    assert.deepEqual([missing({ mirror: 'empty' }), missing({ mirror: 'no posts' }), missing({})], [1, 1, 0]);
  });

  it('names the unknown boards', () => {
    const board = { board: 'Ideen', alsoWritten: ['ideen'], rows: 3, line: 4, suggestions: ['ideas'] };
    const lines = said({ unknownBoards: [board], moreUnknownBoards: 2 });
    assert.ok(lines.includes('Ideen, ideen 3 4 ideas'));
    assert.ok(lines.includes('and 2 rows with further unknown boards'));
    assert.ok(lines.some((line) => line.startsWith('An import stops at boards')));
    assert.ok(!said().some((line) => /boards/.test(line)));
  });

  it('names the rows that look like existing posts, or says that none does', () => {
    const example = { line: 2, title: 'Dark', kind: 'same', postId: 7, postTitle: 'Dark' } as const;
    const byKind = { same: 1200, title: 3, content: 0 };
    const found = said({
      duplicates: { found: 1203, byKind, examples: [example] } as unknown as NonNullable<
        Preview['duplicates']
      >,
    });
    assert.ok(found.includes('2 Dark title and text #7 Dark'));
    assert.ok(found.includes('and 1,202 more'));
    assert.ok(
      found.some((line) =>
        line.startsWith('1,203 likely duplicates: 1,200 by same, 3 by title. --skip-duplicates'),
      ),
    );
    const none = 'None of the new rows looks like a post that is there already.';
    const looked = { found: 0, byKind: {}, examples: [] } as unknown as NonNullable<Preview['duplicates']>;
    const says = (...given: Parameters<typeof said>) => said(...given).includes(none);
    assert.deepEqual(
      [
        says({ duplicates: looked }),
        says(),
        says({ duplicates: looked }, { accepted: 0 }),
        says({ duplicates: looked, mirror: 'empty' }),
      ],
      [true, false, false, false],
    );
  });
});

describe('how a file is read', () => {
  it('is told column by column', () => {
    const facts = {
      ...{
        encoding: 'utf-8',
        delimiter: ';',
        layout: 'Asana',
        ignored: Array.from({ length: 12 }, (_, n) => `c${n}`),
      },
      mapping: [
        { field: 'title', header: 'Name', index: 0, how: 'layout' },
        { field: 'content', header: 'Notes', index: 1, how: 'asked' },
      ],
    } as unknown as FileFacts;
    const lines = mappingText(facts, 'ideas')
      .split('\n')
      .map((line) => line.trim().replace(/ +/g, ' '));
    assert.deepEqual(
      [lines[0], ...lines.slice(2)],
      [
        'This looks like an Asana export.',
        'FIELD COLUMN',
        'board ideas (--board, for all rows)',
        'title Name (recognised)',
        'content Notes (--map)',
        'Not used: c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and 2 more.',
      ],
    );
    assert.match(lines[1] ?? '', /^Read as UTF-8 with semicolons, these columns:$/);
  });
});
