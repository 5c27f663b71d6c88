import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  authorOf,
  decide,
  foldedText,
  learnPeople,
  type SentRow,
  type ShownPost,
  type Verdict,
} from '../../src/outbox/decide/whose.ts';

const SENT_AT = Date.parse('2026-01-01T12:00:00Z');
const HOUR = 3_600_000;

function row(changes: Partial<SentRow> = {}): SentRow {
  const words = { board: 'ideas', title: 'Export all invoices', content: 'As a table, please.' };
  const known = { sentAt: SENT_AT, known_max_id: 100, baseline: [], mark: null };
  const read = { isUnderWay: false, named: null, whyUnread: null, waitedMs: 0 };
  return { id: 1, ...words, email: 'kim@example.com', full_name: 'Kim', ...known, ...read, ...changes };
}

const KIM = { creator_id: 7, email: 'kim@example.com', name: 'Kim', is_team: 0 } as const;
const LEE = { creator_id: 8, email: 'lee@example.com', name: 'Lee', is_team: 0 } as const;
const HIDDEN = { creator_id: 9, email: null, name: null, is_team: 0 } as const;

function post(changes: Partial<ShownPost> = {}): ShownPost {
  const { title, content } = row();
  const seen = { createdAt: SENT_AT, firstSeenAt: null };
  return { id: 101, title, content, url: '/p/101', board: '/b/ideas', ...KIM, ...seen, ...changes };
}

const PEOPLE = learnPeople([]);

function verdictsOn(rows: SentRow[], posts: ShownPost[]): string[] {
  const { verdicts } = decide(rows, posts, PEOPLE);
  return rows.map(({ id }) => told(verdicts.get(id)));
}

function told(verdict: Verdict | undefined): string {
  if (verdict?.kind === 'confirmed') return `confirmed ${verdict.post.id}`;
  return verdict?.kind === 'send again' ? verdict.kind : `${verdict?.kind} ${verdict?.posts}`;
}

describe('a post of the row’s own author with exactly its title', () => {
  it('is for a person to decide where the service wrote another content, also if words of the title repeat', () => {
    const word = fc.constantFrom('export', 'to', 'PDF', 'and', 'Excel', '請求', '請求請求');
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 9 }), (words) => {
        const title = words.join(' ');
        const asked = row({ title, content: 'Our accountant asks for it.' });
        const shown = post({ title, content: 'Summary: files for bookkeeping.' });
        assert.deepEqual(verdictsOn([asked], [shown]), ['uncertain 101']);
      }),
    );
  });
});

const LONG = 'Our bookkeeper needs every invoice as a file at the end of the month.';

describe('a post with an emptied or shortened title', () => {
  for (const [what, sent, shown] of [
    ['without its title', 'Invoices', ''],
    ['with a title of one word that was cut', 'Invoices', 'Invoi'],
  ] as const)
    it(`is found by its content ${what}, and the row is not sent again`, () => {
      const own = row({ title: sent, content: LONG });
      assert.deepEqual(verdictsOn([own], [post({ title: shown, content: LONG })]), ['confirmed 101']);
    });
});

describe('a row whose last answer named another post', () => {
  it('shows that post to the person, also when the list was not read for six hours', () => {
    const waiting = { named: 77, whyUnread: 'the list was not read' };
    assert.deepEqual(verdictsOn([row({ ...waiting, waitedMs: HOUR })], []), ['later ']);
    assert.deepEqual(verdictsOn([row({ ...waiting, waitedMs: 7 * HOUR })], []), ['uncertain 77']);
    assert.deepEqual(verdictsOn([row({ named: 77 })], []), ['uncertain 77']);
  });
});

describe('which post is this row’s: one row and one post', () => {
  const CASES: [string, Partial<ShownPost>, string, Partial<SentRow>?][] = [
    ['has its words and its author', {}, 'confirmed 101'],
    [
      'is dressed by the service',
      { title: 'EXPORT “all” invoices!', content: '<p>As a table,<br>please</p>' },
      'confirmed 101',
    ],
    [
      'has a cut title of 20 letters or more',
      { title: 'Export all invoices of our', content: '' },
      'confirmed 101',
      { title: 'Export all invoices of our customers' },
    ],
    ['has lost its text', { content: '' }, 'confirmed 101'],
    ['was moved to another board', { board: '/b/bugs' }, 'confirmed 101'],
    ['has its words and shows no author', { ...HIDDEN }, 'uncertain 101'],
    ['has its words, by another author', { ...LEE }, 'uncertain 101'],
    ['has masked words', { title: '**** all invoices' }, 'confirmed 101'],
    ['has masked words and no other', { title: 'Export all ****', content: '' }, 'uncertain 101'],
    ['has a line added', { content: 'As a table, please. Sent by the importer' }, 'confirmed 101'],
    ['has another word in its title', { title: 'Export few invoices' }, 'uncertain 101'],
    ['has another text under the same title', { content: 'Not now.' }, 'uncertain 101'],
    ['has the same title and another text, by another author', { content: 'Not now.', ...LEE }, 'send again'],
    [
      'has nothing in common, by its author',
      { title: 'Release notes for spring', content: '' },
      'send again',
    ],
    ['was there before, by its number and first sight', { id: 100, firstSeenAt: SENT_AT - 1 }, 'send again'],
    ['has an older number and was first seen since', { id: 99, firstSeenAt: SENT_AT + 1 }, 'confirmed 99'],
    ['is dated an hour before, and has an older number', { id: 99, createdAt: SENT_AT - HOUR }, 'send again'],
    [
      'is dated an hour before, where no number was known',
      { id: 99, createdAt: SENT_AT - HOUR },
      'confirmed 99',
      { known_max_id: null },
    ],
    ['was turned down by a person', {}, 'send again', { baseline: [101] }],
    [
      'carries its mark, in any words',
      { title: 'Gone', content: 'ref fm-7k3q9d2h', ...LEE },
      'confirmed 101',
      { mark: 'FM-7K3Q9D2H' },
    ],
    ['has its words and not its mark', {}, 'send again', { mark: 'FM-7K3Q9D2H' }],
  ];
  for (const [what, shown, expected, sent] of CASES)
    it(`a post that ${what}: ${expected}`, () => {
      assert.deepEqual(verdictsOn([row(sent)], [post(shown)]), [expected]);
    });
});

describe('which post is this row’s: several rows', () => {
  it('gives the earliest post to the earliest of rows that say the same', () => {
    const posts = [post({ id: 103 }), post({ id: 102 })];
    assert.deepEqual(verdictsOn([row(), row({ id: 2 })], posts), ['confirmed 102', 'confirmed 103']);
  });

  it('shows a post beyond the rows with its words as a second one', () => {
    const { seconds } = decide([row()], [post(), post({ id: 102 })], PEOPLE);
    assert.deepEqual([...seconds], [[1, [102]]]);
  });

  it('shows all second posts on the first of the rows that say the same', () => {
    const { seconds } = decide([], [post(), post({ id: 102 })], PEOPLE, [row({ id: 4 }), row({ id: 5 })]);
    assert.deepEqual(Object.fromEntries(seconds), { 4: [101, 102] });
  });

  it('lets a post that is given out hold up no other row', () => {
    const other = row({ id: 2, title: 'Export all receipts' });
    assert.deepEqual(verdictsOn([row(), other], [post()]), ['confirmed 101', 'send again']);
  });

  it('leaves rows that differ in signs only to a person', () => {
    const rows = [row({ title: 'Support C++' }), row({ id: 2, title: 'Support C#' })];
    assert.deepEqual(verdictsOn(rows, [post({ title: 'Support C#' })]), ['uncertain 101', 'uncertain 101']);
  });

  it('gives a cut post to nobody where two rows begin like it', () => {
    const [one, two] = [row({ content: 'As a table' }), row({ id: 2, content: 'As a chart' })];
    assert.deepEqual(verdictsOn([one, two], [post({ content: 'As a' })]), ['uncertain 101', 'uncertain 101']);
  });

  it('waits while a row that the post is possible for is on its way, six hours at most', () => {
    const other = row({ id: 2, title: 'Export all receipts', isUnderWay: true });
    const shown = [post({ title: '**** all' })];
    assert.deepEqual(verdictsOn([row(), other], shown)[0], 'later 101');
    assert.deepEqual(verdictsOn([row({ waitedMs: 7 * HOUR }), other], shown)[0], 'uncertain 101');
  });

  it('shows the second post of a sent row, unless it may be an unclear row’s', () => {
    const sent = row({ id: 5, content: '' });
    const second = post({ content: '' });
    const secondsOf = (rows: SentRow[]) => [...decide(rows, [second], PEOPLE, [sent]).seconds.keys()];
    assert.deepEqual(secondsOf([]), [5]);
    assert.deepEqual(secondsOf([row({ title: 'Export all receipts' })]), [5], 'near is not enough');
    assert.deepEqual(secondsOf([row()]), [], 'it may be cut from this one');
    assert.equal(told(decide([row()], [second], PEOPLE, [sent]).verdicts.get(1)), 'uncertain 101');
  });
});

describe('a row without a possible post', () => {
  it('is looked for again where the read was not whole, six hours at most', () => {
    const of = (waitedMs: number) => verdictsOn([row({ whyUnread: 'it broke off', waitedMs })], [])[0];
    assert.deepEqual([of(0), of(7 * HOUR)], ['later ', 'uncertain ']);
  });
});

describe('who made a post', () => {
  const owner = row({ email: null, full_name: null });
  const ANA = { creator_id: 1, email: 'ana@example.com', name: 'Ana', is_team: 1 } as const;
  const known = learnPeople([
    { asked: null, shown: 'ana@example.com', creator_id: 1 },
    { asked: 'kim@example.com', shown: null, creator_id: 7 },
  ]);
  const CASES: [string, SentRow, Partial<ShownPost>, typeof known, string][] = [
    ['the account that our posts have shown', owner, ANA, known, 'ours'],
    ['another account than the owner’s', owner, { ...ANA, creator_id: 2 }, known, 'other'],
    ['somebody of the team, before any post has shown the owner', owner, ANA, PEOPLE, 'ours'],
    ['somebody else, before any post has shown the owner', owner, LEE, PEOPLE, 'unknown'],
    ['the address, with a tag', row({ email: 'kim+news@example.com' }), KIM, PEOPLE, 'ours'],
    ['another address', row(), LEE, PEOPLE, 'other'],
    ['a masked address and the name', row(), { ...KIM, email: 'k***@example.com' }, PEOPLE, 'ours'],
    ['a masked address and another name', row(), { ...LEE, email: 'l***@example.com' }, PEOPLE, 'other'],
    [
      'the account of another of our people',
      row({ email: 'lee@example.com' }),
      { ...KIM, email: null },
      known,
      'other',
    ],
    ['nothing', row(), HIDDEN, PEOPLE, 'unknown'],
  ];
  for (const [what, sent, creator, people, expected] of CASES)
    it(`${what}: ${expected}`, () => assert.equal(authorOf(sent, post(creator), people), expected));

  describe('an account that has stood for the owner and for a customer, where addresses are true', () => {
    const people = learnPeople([
      { asked: null, shown: 'ana@example.com', creator_id: 1 },
      { asked: 'lee@example.com', shown: 'ana@example.com', creator_id: 1 },
      { asked: 'kim@example.com', shown: 'kim@example.com', creator_id: 7 },
    ]);
    const max = { email: 'max@example.com', full_name: 'Max' };
    const told = (rows: SentRow[], shown: ShownPost): (string | undefined)[] => {
      const { verdicts } = decide(rows, [shown], people);
      return rows.map(({ id }) => verdicts.get(id)?.kind);
    };

    it('is shared by every customer, and the very words confirm a row', () => {
      assert.equal(authorOf(row(max), post({ ...ANA }), people), 'shared');
      assert.deepEqual(told([row(max)], post({ ...ANA })), ['confirmed']);
      assert.deepEqual(told([row(max)], post({ ...ANA, content: 'Not now.' })), ['send again']);
    });

    it('confirms no customer’s row where a row of the owner says the same', () => {
      const rows = [row(max), row({ ...owner, id: 2 })];
      assert.deepEqual(told(rows, post({ ...ANA })), ['send again', 'confirmed']);
    });

    it('decides nothing between the owner and a customer for whom it has stood, where both say the same', () => {
      const [lee, mine] = [row({ email: 'lee@example.com', full_name: 'Lee' }), row({ ...owner, id: 2 })];
      assert.deepEqual(told([lee, mine], post({ ...ANA })), ['uncertain', 'uncertain']);
      assert.deepEqual(told([lee, { ...mine, isUnderWay: true }], post({ ...ANA })), ['later', 'later']);
      assert.deepEqual(told([lee, { ...mine, content: 'Not now.' }], post({ ...ANA })), [
        'confirmed',
        'send again',
      ]);
    });

    it('confirms the row of a customer for whom it has stood, where the owner’s row that says the same has its post', () => {
      const [lee, mine] = [row({ email: 'lee@example.com', full_name: 'Lee' }), row({ ...owner, id: 2 })];
      const { verdicts } = decide([lee], [post({ ...ANA })], people, [mine]);
      assert.equal(verdicts.get(lee.id)?.kind, 'confirmed');
    });

    it('is not shared by a customer who is the owner', () => {
      const own = learnPeople([
        { asked: null, shown: 'ana@example.com', creator_id: 1 },
        { asked: 'ana@example.com', shown: 'ana@example.com', creator_id: 1 },
      ]);
      assert.equal(authorOf(row(max), post({ ...ANA }), own), 'other');
    });
  });

  it('one account on the posts of all customers is every customer’s', () => {
    const sent = ['a', 'b'].map((name) => ({
      asked: `${name}@example.com`,
      shown: 'bot@example.com',
      creator_id: 3,
    }));
    const bot = { creator_id: 3, email: 'bot@example.com', name: 'Bot', is_team: 1 } as const;
    assert.equal(authorOf(row(), post({ ...bot }), learnPeople(sent)), 'ours');
  });
});

describe('the folding of a text', () => {
  it('compares a text without letters as it is', () => {
    assert.notEqual(foldedText('🎉🎉'), foldedText('🎉'));
    assert.equal(foldedText('<p></p>'), foldedText(''));
  });

  it('compares languages without spaces by pairs of letters', () => {
    const sent = row({ title: '請求書を一覧で出力したい' });
    assert.deepEqual(verdictsOn([sent], [post({ title: '請求書を一覧で見たい' })]), ['uncertain 101']);
    assert.deepEqual(verdictsOn([sent], [post({ title: '春の更新情報' })]), ['send again']);
  });

  it('tells rows of two people apart by nothing but the four facts, not by which of them came first', () => {
    const words = fc.constantFrom('Dark mode', 'dark mode!', 'Dark mode for all of us', 'Dark mode for all');
    const PERSONS = [KIM, LEE, { email: null, name: null }] as const;
    const ANA = { creator_id: 1, email: 'ana@example.com', name: 'Ana', is_team: 1 } as const;
    // The account of the owner has stood for a customer, and those of other customers show their own address or none.
    const sent = [
      { asked: null, shown: 'ana@example.com', creator_id: 1 },
      { asked: 'lee@example.com', shown: 'ana@example.com', creator_id: 1 },
    ];
    const people = fc.constantFrom(
      learnPeople(sent),
      learnPeople([...sent, { asked: 'max@example.com', shown: 'max@example.com', creator_id: 11 }]),
    );
    const asked = fc.array(fc.record({ title: words, content: words, isUnderWay: fc.boolean() }), {
      minLength: 2,
      maxLength: 3,
    });
    const shown = fc.array(
      fc.record({ title: words, content: words, by: fc.constantFrom(KIM, LEE, ANA, HIDDEN) }),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(asked, shown, people, (rows, posts, known) => {
        const verdictsFrom = (ids: readonly number[]) => {
          const sentRows = rows.map((changes, n) => {
            const { email = null, name: full_name = null } = PERSONS[n] ?? {};
            return row({ id: ids[n] ?? 0, email, full_name, ...changes });
          });
          const listed = posts.map(({ by, ...words }, n) => post({ id: 101 + n, ...words, ...by }));
          const { verdicts } = decide(sentRows, listed, known);
          return sentRows.map(({ id }) => told(verdicts.get(id)));
        };
        assert.deepEqual(verdictsFrom([1, 2, 3]), verdictsFrom([3, 2, 1]));
      }),
      { numRuns: 1000 },
    );
  });

  it('never gives one post to two rows, nor two posts to one row', () => {
    const words = fc.constantFrom(
      'Dark mode',
      'dark mode!',
      'Dark',
      'Light mode',
      'Export all invoices',
      '🎉',
    );
    const rows = fc.array(fc.record({ title: words, content: words, isUnderWay: fc.boolean() }), {
      maxLength: 6,
    });
    const posts = fc.array(
      fc.record({ title: words, content: words, by: fc.constantFrom(KIM, LEE, HIDDEN) }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(rows, posts, (asked, shown) => {
        const { verdicts, seconds } = decide(
          asked.map((changes, n) => row({ id: n + 1, ...changes })),
          shown.map(({ by, ...words }, n) => post({ id: 101 + n, ...words, ...by })),
          PEOPLE,
        );
        const bound = [...verdicts.values()].flatMap((each) =>
          each.kind === 'confirmed' ? [each.post.id] : [],
        );
        const given = [...bound, ...[...seconds.values()].flat()];
        assert.equal(new Set(given).size, given.length);
        for (const { kind, posts } of verdicts.values())
          if (kind !== 'confirmed') for (const id of posts) assert.ok(!given.includes(id));
      }),
    );
  });
});
