import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NewRow } from '../../src/outbox/decide/types.ts';
import { boardChooser, knownTargets, readBoardMap, unknownBoards } from '../../src/outbox/import/boards.ts';
import { previewSink } from '../../src/outbox/import/preview.ts';
import type { ImportReads } from '../../src/outbox/store/imports.ts';

const BOARDS = [
  { id: 1, slug: 'feature-requests', name: 'Feature requests' },
  { id: 2, slug: 'bugs', name: 'Bugs' },
];

function row(text: Partial<NewRow>): NewRow {
  const post = { board: 'bugs', title: 'T', content: '', email: null, full_name: null };
  return { batch: 'b', source_key: 'row:x:1', line: 2, content_hash: 't', ...post, ...text };
}

const READS: ImportReads = {
  known: (rows) => rows.map(() => null),
  zeroesApart: (rows) => rows.map(() => null),
  otherSlugs: () => [],
  batchesOf: () => [],
  boards: () => BOARDS,
  knowsAllBoards: () => true,
  hasSwept: () => true,
  customers: (emails) => new Set(emails.filter((email) => email.startsWith('known'))),
  suppressed: () => new Set(),
  livePosts: () => [].values(),
  close: () => {},
};

describe('the preview of an import', () => {
  it('tells owners, known and new customers apart, and counts people once', async () => {
    const sink = previewSink(READS);
    const emails = [null, 'known@example.com', 'KNOWN@example.com', 'new@example.com', 'New@Example.com'];
    await sink.take(emails.map((email) => row({ email })));
    await sink.take([row({ email: 'new@example.com' })]);
    const { asOwner, asKnownCustomer, asNewCustomer, knownCustomers, newCustomers } = sink.people;
    assert.deepEqual(
      [asOwner, asKnownCustomer, asNewCustomer, knownCustomers, newCustomers],
      [1, 2, 3, 1, 1],
    );
  });

  it('shows the first posts as they would be sent', async () => {
    const sink = previewSink(READS);
    await sink.take(Array.from({ length: 9 }, (_, i) => row({ title: `T${i}` })));
    assert.deepEqual(
      sink.people.first.map(({ title }) => title),
      ['T0', 'T1', 'T2'],
    );
  });

  it('knows nothing of customers without a mirror', async () => {
    const sink = previewSink(null);
    await sink.take([row({ email: 'a@example.com' })]);
    assert.deepEqual([sink.people.mirror, sink.people.asNewCustomer], ['empty', 1]);
  });

  it('tells a mirror that was never filled from a service without posts', () => {
    const ofEmpty = (hasSwept: boolean) => ({ ...READS, boards: () => [], hasSwept: () => hasSwept });
    assert.equal(previewSink(ofEmpty(false)).people.mirror, 'empty');
    assert.equal(previewSink(ofEmpty(true)).people.mirror, 'no posts');
  });
});

describe('the boards of a file', () => {
  const choices = { map: {}, acceptUnknown: false };
  const noted = (boards: string[], chooser = boardChooser(READS, choices)) => {
    const unknown = unknownBoards(chooser);
    for (const [i, board] of boards.entries()) unknown.note({ board, line: i + 2 });
    return unknown.unknownBoards;
  };

  it('are recognised by slug, name and id, in any spelling', () => {
    const { choose } = boardChooser(READS, choices);
    const written = [
      'bugs',
      'Bugs',
      ' BÜGS',
      'Feature Requests',
      'feature_requests',
      '/b/feature-requests/',
      '2',
    ];
    assert.deepEqual(written.map(choose), [
      'bugs',
      'bugs',
      'bugs',
      ...Array<string>(3).fill('feature-requests'),
      'bugs',
    ]);
    assert.deepEqual(noted(written), []);
  });

  it('that are unknown are listed once, with suggestions', () => {
    assert.deepEqual(noted(['bugs', 'bugz', 'Feature', 'bugz', 'something else entirely']), [
      { board: 'bugz', alsoWritten: [], rows: 2, line: 3, suggestions: ['bugs'] },
      { board: 'Feature', alsoWritten: [], rows: 1, line: 4, suggestions: ['feature-requests'] },
      { board: 'something else entirely', alsoWritten: [], rows: 1, line: 6, suggestions: [] },
    ]);
  });

  it('that are unknown are listed once for all spellings, because one answer covers them', () => {
    const written = [
      'Nowhere Board',
      'nowhere board',
      'Nowhere-Board!',
      'Nówhere  Board',
      'nowhere board',
      '🚀',
      '🎉',
    ];
    assert.deepEqual(
      noted(written).map(({ board, alsoWritten, rows }) => [board, alsoWritten, rows]),
      [
        ['Nowhere Board', ['nowhere board', 'Nowhere-Board!', 'Nówhere  Board'], 5],
        ['🚀', [], 1],
        ['🎉', [], 1],
      ],
    );
    const map = { 'Nowhere Board': 'bugs', '🚀': 'bugs' };
    const answered = boardChooser(READS, { ...choices, map });
    assert.deepEqual(
      noted(written, answered).map(({ board }) => board),
      ['🎉'],
    );
  });

  it('that others are mapped to are recognised by name and id too, and an unknown one stops a script', () => {
    const targets = (map: Record<string, string | null>, acceptUnknown = false) =>
      knownTargets(READS, { map, acceptUnknown }).map;
    assert.deepEqual(targets({ A: 'Feature Requests', B: 'FEATURE_requests', C: '2', D: null }), {
      A: 'feature-requests',
      B: 'feature-requests',
      C: 'bugs',
      D: null,
    });
    assert.throws(() => targets({ Old: 'bugz' }), {
      code: 'usage',
      message: '--board-map "Old=bugz": no board is known as "bugz", perhaps bugs',
    });
    assert.deepEqual(targets({ Old: 'bugz' }, true), { Old: 'bugz' });
    for (const name of ['Old', 'old'])
      assert.throws(() => readBoardMap(['Old=bugs', `${name}=ideas`]), /says two things about/);
    assert.deepEqual(readBoardMap(['Old=bugs', 'old=bugs', 'C++=bugs', 'C#=']), {
      Old: 'bugs',
      old: 'bugs',
      'C++': 'bugs',
      'C#': null,
    });
  });

  it('with signs in their names are mapped apart', () => {
    const { choose } = boardChooser(READS, { map: { 'C++': 'bugs', 'C#': null }, acceptUnknown: false });
    assert.deepEqual([choose('C++'), choose('C#')], ['bugs', null]);
  });

  it('are mapped to another board, or left out, if the person says so', () => {
    const chooser = boardChooser(READS, { map: { 'Old Ideas': 'bugs', Spam: null }, acceptUnknown: false });
    assert.deepEqual([chooser.choose('old ideas'), chooser.choose('spam')], ['bugs', null]);
    assert.deepEqual(noted(['Old ideas', 'Spam'], chooser), []);
  });

  it('are accepted unchanged if the mirror knows no board and they could be slugs', () => {
    const chooser = boardChooser(null, choices);
    assert.deepEqual(noted(['ideas'], chooser), []);
    assert.deepEqual(noted(['Feature Requests'], chooser), [
      { board: 'Feature Requests', alsoWritten: [], rows: 1, line: 2, suggestions: ['feature-requests'] },
    ]);
  });

  it('are accepted unchanged while the first sweep may not have reached them', () => {
    const chooser = boardChooser({ ...READS, knowsAllBoards: () => false }, choices);
    assert.deepEqual(['BUGS', 'brand-new'].map(chooser.choose), ['bugs', 'brand-new']);
    assert.deepEqual(noted(['brand-new'], chooser), []);
  });

  it('that are spelt alike are told apart by the slug alone', () => {
    const alike = [
      { id: 1, slug: 'ideas', name: 'Ideas' },
      { id: 2, slug: 'ideas-2', name: 'Idéas' },
    ];
    const { choose, unknown } = boardChooser({ ...READS, boards: () => alike }, choices);
    assert.deepEqual([choose('ideas'), unknown('IDEAS')?.suggestions], ['ideas', ['ideas', 'ideas-2']]);
  });
});
