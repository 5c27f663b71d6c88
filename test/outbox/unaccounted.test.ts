import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { learnAuthors } from '../../src/outbox/authors.ts';
import { contentHash } from '../../src/outbox/match.ts';
import { type BoundPost, type SeenPost, type Verdict, whoseAre } from '../../src/outbox/unaccounted.ts';
import type { OutboxRow, SentAuthor } from '../../src/store/outbox/types.ts';
import { TEXT } from './bench.ts';

const SENT_AT = '2026-01-01T12:00:00.000Z';
const OWNER = 7;
const OF_OWNER: SentAuthor = { asked: null, shown: 'owner@example.com', creator_id: OWNER };
const OF_CUSTOMER: SentAuthor = { asked: 'ada@example.com', shown: 'ada@example.com', creator_id: 8 };

let rows = 0;

/** An ambiguous row that was sent when the highest post was number 100. */
function aRow(changes: Partial<OutboxRow> = {}): OutboxRow {
  const row: OutboxRow = {
    ...TEXT,
    ...{ id: ++rows, batch: 'test', source_key: `key ${rows}`, line: null, kind: 'owner', content_hash: '' },
    ...{
      state: 'ambiguous',
      attempts: 1,
      not_before: null,
      post_id: null,
      url: null,
      matched: null,
      last_error: null,
    },
    ...{
      baseline: [],
      first_sent_at: SENT_AT,
      known_max_id: 100,
      not_found: 0,
      candidates: [],
      judged: [],
      on_hold: false,
      was_ambiguous: true,
    },
    ...{ checks_left: 0, duplicate_of: null, erased_at: null, created_at: SENT_AT, changed_at: SENT_AT },
    ...changes,
  };
  return { ...row, kind: row.email === null ? 'owner' : 'as-user', content_hash: contentHash(row) };
}

/** A post that the owner made since. */
function aPost(
  id: number,
  changes: Partial<SeenPost> = {},
  by: Partial<NonNullable<SeenPost['creator']>> = {},
): SeenPost {
  return {
    ...{ id, title: TEXT.title, content: TEXT.content, url: `/p/${id}`, board: '/b/ideas' },
    creator: { id: OWNER, email: 'owner@example.com', name: null, isTeam: false, ...by },
    ...{ madeBy: Date.parse(SENT_AT) + 1000, firstSeenAt: null },
    ...changes,
  };
}

const STRANGER = { id: 99, email: 'somebody@elsewhere.example' };

function ask(
  given: OutboxRow[],
  posts: SeenPost[],
  learned: SentAuthor[] = [OF_OWNER, OF_CUSTOMER],
  unsettled: OutboxRow[] = [],
  bound: BoundPost[] = [],
): Map<number, Verdict> {
  const now = Date.parse(SENT_AT) + 120_000;
  const isUnsettled = (row: OutboxRow): boolean => unsettled.includes(row);
  const question = { rows: given, posts, authors: learnAuthors(learned), now, sweptAt: null };
  return whoseAre({ ...question, bound, isUnsettled }).verdicts;
}

/** `exact 101`, `similar 0.95 101`, `one of 101, 102` or `none`. */
function told(verdict: Verdict | undefined): string {
  if (verdict?.kind === 'match') return `${verdict.matched} ${verdict.post.id}`;
  return verdict?.kind === 'candidates' ? `one of ${verdict.posts.map(({ id }) => id).join(', ')}` : 'none';
}

function verdictOn(row: OutboxRow, posts: SeenPost[], learned?: SentAuthor[]): string {
  return told(ask([row], posts, learned).get(row.id));
}

const REMOVED = { title: 'Removed by a moderator', content: '' };

describe('whose a post is', () => {
  it('its words say, or nearly the same words; a post without any of them keeps the row back', () => {
    assert.equal(verdictOn(aRow(), [aPost(101)]), 'exact 101');
    assert.equal(verdictOn(aRow(), [aPost(101, { title: 'DARK MODE', content: '' })]), 'similar 0.90 101');
    assert.equal(verdictOn(aRow(), [aPost(101, REMOVED)]), 'one of 101');
    assert.equal(verdictOn(aRow(), []), 'none');
  });

  it('is not told by words that were never sent, however similar the rest is', () => {
    for (const [sent, shown] of [
      ['Export invoices to Excel', 'Export invoices to PDF'],
      ['Sign in with Google please', 'Sign in with GitHub please'],
      ['Week starts on Monday', 'Week starts on Sunday'],
      ['Allow two-factor login', 'Disallow two-factor login'],
      ['Dark mode for the app', 'Dark mode for the app and the site'],
    ] as const)
      assert.equal(verdictOn(aRow({ title: sent }), [aPost(101, { title: shown })]), 'one of 101', shown);
    const bare = { title: 'Export is slow', content: '' };
    assert.equal(verdictOn(aRow(bare), [aPost(101, { ...bare, content: 'Since May' })]), 'one of 101');
    assert.equal(verdictOn(aRow(bare), [aPost(101, { ...bare, content: bare.title })]), 'similar 0.90 101');
  });

  it('is not told by the words of somebody else', () => {
    const ours = aRow({ email: 'ada@example.com' });
    const byStranger = aPost(101, {}, STRANGER);
    assert.equal(verdictOn(ours, [byStranger]), 'one of 101');
    assert.equal(verdictOn(ours, [byStranger], []), 'one of 101', 'nor before anything was learned');
    const byTeam = aPost(101, {}, { ...STRANGER, isTeam: true });
    assert.equal(verdictOn(ours, [byTeam], []), 'exact 101', 'the owner of the token is of the team');
    assert.equal(verdictOn(aRow(), [byTeam], []), 'exact 101');
    assert.equal(verdictOn(aRow(), [byStranger], []), 'one of 101', 'a stranger has the same wish');
    assert.equal(verdictOn(aRow(), [{ ...byStranger, title: 'DARK MODE' }], []), 'one of 101');
  });

  it('is not told by the very words under the name of a stranger, where no address is shown', () => {
    const ours = aRow({ email: 'ann@example.com', full_name: 'Ann Adams' });
    const by = (name: string): string => verdictOn(ours, [aPost(101, {}, { id: 50, email: null, name })]);
    assert.equal(by('Ben Other'), 'one of 101');
    assert.equal(by('Ann A.'), 'exact 101');
  });

  it('is not told by the very words under another account than the customer’s other posts show', () => {
    const ours = aRow({ email: 'ann@example.com', full_name: 'Ann Adams' });
    const learned = [{ asked: 'ann@example.com', shown: '', creator_id: 9 }];
    const by = (id: number): string =>
      verdictOn(ours, [aPost(101, {}, { id, email: '', name: 'Ann Adams' })], learned);
    assert.deepEqual([by(10), by(9)], ['one of 101', 'exact 101']);
  });

  it('is not told by the words of last year, where nobody knows what stood there before', () => {
    const ours = aRow({ known_max_id: null });
    const old = aPost(55, { madeBy: Date.parse('2025-01-05T00:00:00Z') });
    assert.equal(verdictOn(ours, [old]), 'one of 55');
    assert.equal(verdictOn(ours, [{ ...old, madeBy: null }]), 'exact 55');
    assert.equal(verdictOn(aRow({ known_max_id: 50 }), [old]), 'one of 55', 'whatever its number');
  });

  it('cannot be told where it may be the beginning of what another row said', () => {
    const long = aRow({ content: `${TEXT.content} Please hurry.` });
    const [short, other] = [aRow(), aRow({ content: `${TEXT.content} It is urgent.` })];
    const verdicts = ask([short, long], [aPost(101)]);
    assert.deepEqual(
      [short, long].map(({ id }) => told(verdicts.get(id))),
      ['one of 101', 'one of 101'],
    );
    const posts = [aPost(101), aPost(102, { content: other.content })];
    const both = ask([short, other], posts);
    assert.deepEqual(
      [short, other].map(({ id }) => told(both.get(id))),
      ['exact 101', 'exact 102'],
    );
  });

  it('cannot be told either where little is left of what a row said that is still on its way', () => {
    const short = aRow({ title: 'Export', content: '' });
    const long = aRow({ title: 'Export to CSV files', content: 'With a line of headers', state: 'sending' });
    const post = aPost(101, { title: 'Export', content: '' });
    const verdict = ask([short, long], [post], undefined, [long]).get(short.id);
    assert.deepEqual([told(verdict), verdict?.kind === 'candidates' && verdict.isOpen], ['one of 101', true]);
  });

  it('cannot be told so either among many rows, and is told where the longer words are of others or go on otherwise', () => {
    const [short, long] = [aRow(), aRow({ content: `${TEXT.content} Please hurry.` })];
    const others = ['Zoo', 'Abc', 'Dark', 'Night'].map((title) => aRow({ title }));
    const [a, b, c, d] = others as [OutboxRow, OutboxRow, OutboxRow, OutboxRow];
    const many = ask([short, a, long, b, c, d], [aPost(101)]);
    assert.deepEqual([told(many.get(short.id)), told(many.get(long.id))], ['one of 101', 'one of 101']);
    const [ada, bob] = [
      aRow({ email: 'ada@example.com' }),
      aRow({ email: 'bob@example.com', content: long.content }),
    ];
    const byAda = aPost(101, {}, { id: 50, email: 'ada@example.com' });
    assert.equal(told(ask([ada, bob], [byAda]).get(ada.id)), 'exact 101');
    const otherwise = aRow({ content: 'Something else, at much greater length than that.' });
    assert.equal(told(ask([short, otherwise], [aPost(101)]).get(short.id)), 'exact 101');
  });

  it('cannot be told where a service may have left these words of what another row said', () => {
    const [title, content] = ['Alpha one two', 'same text here'];
    for (const [own, other] of [
      [{}, { title: `${title} 🚀` }],
      [{}, { title: `${title}!` }],
      [{}, { content: 'same [text](https://a.example/x) here' }],
      [{}, { title: 'Alpha https://a.example/x one two' }],
      [{ title: 'Stop the **** noise' }, { title: 'Stop the damn noise' }],
      [{ title: 'Exp... to CSV' }, { title: 'Export to CSV' }],
    ] as const) {
      const given = [aRow({ title, content, ...own }), aRow({ title, content, ...other })];
      const [alone, both] = [
        [aPost(101, { title, content, ...own })],
        [aPost(102, { title, content, ...other })],
      ];
      assert.deepEqual([...ask(given, alone).values()].map(told), ['one of 101', 'one of 101']);
      const each = ask(given, [...alone, ...both]);
      assert.deepEqual([...each.values()].map(told), ['exact 101', 'exact 102']);
    }
    const [short, long] = [aRow({ title }), aRow({ title: `${title} 🚀`, state: 'sending' })];
    const open = ask([short, long], [aPost(101, { title })], undefined, [long]).get(short.id);
    assert.deepEqual([told(open), open?.kind === 'candidates' && open.isOpen], ['one of 101', true]);
  });

  it('is told where the other row has a post of its own, is another person’s or says the same on another board', () => {
    const title = 'Alpha one two';
    const [row, other] = [aRow({ title }), aRow({ title: `${title} 🚀` })];
    const [post, spelt] = [aPost(101, { title }), aPost(102, { title: `${title} :rocket:` })];
    const toldOf = (given: OutboxRow[], posts: SeenPost[]) => [...ask(given, posts).values()].map(told);
    assert.deepEqual(toldOf([row, other], [post, spelt]), ['exact 101', 'similar 0.99 102']);
    const third = aRow({ title: `${title} 🎉` });
    const [first] = toldOf([row, other, third], [post, spelt]);
    assert.equal(first, 'one of 101, 102', 'two others for one more post');
    const customers = { ...other, email: 'ada@example.com' };
    assert.deepEqual(toldOf([row, customers], [post]), ['exact 101', 'none']);
    assert.equal(toldOf([row, aRow({ title, board: 'bugs' })], [post])[0], 'exact 101');
  });

  it('is told where another row only begins with the same number', () => {
    const [one, twelve] = [1, 12].map((n) => aRow({ title: `Wish ${n}`, content: '' })) as [
      OutboxRow,
      OutboxRow,
    ];
    const verdicts = ask([one, twelve], [aPost(101, { title: 'Wish 1', content: '' })]);
    assert.deepEqual([told(verdicts.get(one.id)), told(verdicts.get(twelve.id))], ['exact 101', 'none']);
    const [cut, long] = ['A wish for more colour', 'A wish for more colours'].map((title) =>
      aRow({ title, content: '' }),
    ) as [OutboxRow, OutboxRow];
    const both = ask([cut, long], [aPost(101, { title: cut.title, content: '' })]);
    assert.deepEqual([told(both.get(cut.id)), told(both.get(long.id))], ['one of 101', 'one of 101']);
  });

  it('cannot be told where the address of the owner stands on another account', () => {
    const by = { id: 500, email: 'Owner@Example.com' };
    assert.equal(verdictOn(aRow(), [aPost(101, {}, by)]), 'one of 101');
    assert.equal(verdictOn(aRow(), [aPost(101, REMOVED, by)]), 'one of 101');
    assert.equal(verdictOn(aRow(), [aPost(101, {}, { ...by, email: null })]), 'one of 101');
    const ours = aRow({ email: 'ada@example.com' });
    assert.equal(verdictOn(ours, [aPost(101, {}, { ...by, email: null })]), 'exact 101');
  });

  it('is shown to a person by at most twenty, those that are most like it first', () => {
    const others = Array.from({ length: 24 }, (_, n) => aPost(101 + n, REMOVED));
    const verdict = ask([aRow()], [...others, aPost(200, { title: 'Dark', content: '' })])
      .values()
      .next().value;
    assert.ok(verdict?.kind === 'candidates');
    assert.deepEqual([verdict.posts.length, verdict.posts[0]?.id, verdict.isOpen], [20, 200, false]);
  });

  it('is the same on another board, with less certainty', () => {
    assert.equal(verdictOn(aRow(), [aPost(101, { board: '/b/bugs' })]), 'similar 0.95 101');
  });

  it('is not taken from the row whose very words and board it has, whoever is shown as its author', () => {
    const [bob, ada] = ['bob', 'ada'].map((name) => `${name}@example.com`) as [string, string];
    const learned = [{ asked: bob, shown: bob, creator_id: 9 }];
    const given = [aRow({ email: bob }), aRow({ email: ada, board: 'bugs' })];
    const post = aPost(101, { board: '/b/bugs' }, { id: 9, email: bob });
    const toldOf = (rows: OutboxRow[]) => [...ask(rows, [post], learned).values()].map(told);
    assert.deepEqual(toldOf(given.slice(0, 1)), ['similar 0.95 101']);
    assert.deepEqual(toldOf(given), ['one of 101', 'one of 101']);
  });

  it('cannot be told where two are as good', () => {
    assert.equal(verdictOn(aRow(), [aPost(101), aPost(102)]), 'one of 101, 102');
    const [shouted, cut] = [{ title: 'DARK MODE' }, { title: 'Dark  mode!' }];
    assert.equal(verdictOn(aRow(), [aPost(101, shouted), aPost(102, cut)]), 'one of 101, 102');
  });

  it('cannot be told where one is only a little better', () => {
    const row = aRow({ title: 'The damn export stops', content: 'It takes 12 minutes for 300 rows' });
    const [cased, masked] = [{ title: 'THE DAMN EXPORT STOPS' }, { title: 'The **** export stops' }];
    const { content } = row;
    const posts = [aPost(101, { ...cased, content }), aPost(102, { ...masked, content })];
    assert.equal(verdictOn(row, posts.slice(1)), 'similar 0.97 102');
    assert.equal(verdictOn(row, posts), 'one of 101, 102');
  });

  it('is told by its time where two have the same words', () => {
    const old = aPost(101, { madeBy: Date.parse(SENT_AT) - 3_600_000 });
    assert.equal(verdictOn(aRow(), [old, aPost(102)]), 'exact 102');
  });
});

describe('rows and posts are matched as sets', () => {
  const numbered = (n: number): Partial<OutboxRow> & Partial<SeenPost> => ({
    title: `Wish ${n}`,
    content: `Number ${n}`,
  });

  it('word for word first: what is left of a form goes to its own row', () => {
    const given = [1, 2, 3].map((n) => aRow(numbered(n)));
    const posts = [aPost(101, numbered(3)), aPost(102, { ...numbered(1), content: 'number 1!!' })];
    const verdicts = ask(given, posts);
    assert.deepEqual(
      given.map(({ id }) => told(verdicts.get(id))),
      ['similar 0.99 102', 'none', 'exact 101'],
    );
  });

  it('a post that several rows could own keeps all of them back', () => {
    const given = [1, 2].map((n) => aRow({ title: 'A wish', content: `Number ${n}` }));
    const verdicts = ask(given, [aPost(101, { title: 'A wish', content: '' })]);
    assert.deepEqual(
      given.map(({ id }) => told(verdicts.get(id))),
      ['one of 101', 'one of 101'],
    );
  });

  it('a post that is still more like another row, rewritten in a way that is not known, is given to neither', () => {
    const given = [
      aRow({ title: 'Export is slow #', content: 'Since May' }),
      aRow({ title: 'Export is slow', content: '' }),
    ];
    const post = aPost(101, { title: 'Export is slow #', content: '' });
    const among = (...some: OutboxRow[]) => [...ask(some, [post]).values()].map(told);
    assert.deepEqual(among(...given.slice(0, 1)), ['similar 0.90 101']);
    assert.deepEqual(among(...given), ['one of 101', 'one of 101']);
  });

  it('a post that could be made of the words of two rows is given to neither, however it is shown', () => {
    const content = 'Is there a plan to bring it this year?';
    const title = 'Export the report as a PDF file';
    for (const [one, other, shown] of [
      [{ title: 'Dark mode!', content: '' }, { title: 'Dark mode?', content }, { title: 'Dark mode?' }],
      [{ title: 'DARK MODE', content: '' }, { title: 'Dark mode', content }, { title: 'dark mode' }],
      [{ title }, { title: `${title} with our logo on top` }, { title: title.slice(0, -2) }],
      [{ title: 'Slow today' }, { title: 'Slow today!', board: 'bugs' }, { title: 'Slow today!' }],
    ] as const) {
      const given = [aRow({ content: '', ...one }), aRow({ content: '', ...other })];
      const verdicts = ask(given, [aPost(101, { content: '', ...shown })]);
      assert.deepEqual([...verdicts.values()].map(told), ['one of 101', 'one of 101'], shown.title);
    }
  });

  it('a post that says what one row said keeps another back that it could be made of, unless the two say the same', () => {
    const shown = { title: 'Show the resume of a person' };
    const accented = { title: 'Show the résumé of a person' };
    const [plain, other, twin] = [aRow(shown), aRow(accented), aRow(shown)];
    assert.deepEqual([...ask([plain, other], [aPost(101, shown)]).values()].map(told), [
      'exact 101',
      'one of 101',
    ]);
    const given = ['No description', ''].map((content) => aRow({ content }));
    const filled = ask(given, [aPost(101, { content: 'No description.' })]);
    assert.deepEqual([...filled.values()].map(told), ['similar 0.99 101', 'one of 101']);
    const moved = aRow({ ...shown, board: 'bugs' });
    const bound = [{ post: aPost(101, shown), row: plain.id, hash: plain.content_hash, matched: 'exact' }];
    const later = (row: OutboxRow, by = bound) => told(ask([row], [], undefined, [], by).get(row.id));
    assert.deepEqual(
      [other, moved, twin].map((row) => later(row)),
      ['one of 101', 'one of 101', 'none'],
    );
    assert.equal(later(aRow({ title: 'Show the resume of a team' })), 'none');
    const like = bound.map((one) => ({ ...one, matched: 'similar 0.90' }));
    assert.equal(later(aRow({ title: 'Show the resumes of a person' }), like), 'one of 101');
  });

  it('rows with the same words from the same person may have either post', () => {
    const given = [aRow(), aRow()];
    const verdicts = ask(given, [aPost(101), aPost(102)]);
    assert.deepEqual(
      given.map(({ id }) => told(verdicts.get(id))),
      ['exact 101', 'exact 102'],
    );
  });

  it('rows that differ in a tag or a flag have each their own post', () => {
    const titles = ['Allow <iframe> here', 'Allow <script> here', 'Ship to 🇩🇪', 'Ship to 🇫🇷'];
    for (const [one, other] of [titles.slice(0, 2), titles.slice(2)]) {
      const given = [one, other].map((title) => aRow({ title: `${title}` }));
      const verdicts = ask(given, [aPost(101, { title: `${other}` })]);
      assert.deepEqual([...verdicts.values()].map(told), ['none', 'exact 101']);
      const alone = ask(given.slice(0, 1), [aPost(101, { title: `${other}` })]);
      assert.deepEqual([...alone.values()].map(told), ['one of 101']);
    }
    const stripped = ask(
      titles.slice(0, 2).map((title) => aRow({ title })),
      [aPost(101, { title: 'Allow here' })],
    );
    assert.deepEqual([...stripped.values()].map(told), ['one of 101', 'one of 101']);
  });

  it('rows with the same words from two people may not', () => {
    const given = [aRow({ email: 'ada@example.com' }), aRow({ email: 'bob@example.com' })];
    const verdicts = ask(given, [aPost(101, {}, { id: 50, email: null })]);
    assert.deepEqual(
      given.map(({ id }) => told(verdicts.get(id))),
      ['one of 101', 'one of 101'],
    );
  });

  it('a post that is clearly that of an uncertain row is accounted for, except to a row that it is as clearly like', () => {
    const resting = [
      aRow({ state: 'uncertain' }),
      aRow({ state: 'uncertain', title: 'Wish', content: 'A long wish for more.' }),
    ];
    const given = [
      aRow(),
      aRow({ title: 'Wish', content: 'A long wish for all.' }),
      aRow({ title: 'Invoices' }),
    ];
    const posts = [aPost(101), aPost(102, { title: 'WISH', content: 'A LONG WISH FOR MORE.' })];
    const question = {
      posts,
      authors: learnAuthors([OF_OWNER]),
      now: Date.parse(SENT_AT),
      sweptAt: null,
      isUnsettled: () => false,
    };
    const { verdicts } = whoseAre({ ...question, rows: given, resting });
    assert.deepEqual(
      given.map(({ id }) => told(verdicts.get(id))),
      ['exact 101', 'one of 102', 'none'],
    );
  });

  it('a post that is taken for that of a row on its way keeps a row back that it is as clearly like', () => {
    const [row, sending] = [
      aRow({ content: 'Please now.' }),
      aRow({ content: 'Please now!', state: 'sending' }),
    ];
    const posts = [aPost(101, { title: 'DARK MODE', content: 'Please now!' })];
    const verdict = ask([row, sending], posts, undefined, [sending]).get(row.id);
    assert.ok(verdict?.kind === 'candidates' && verdict.isOpen);
  });

  it('a post that is clearly that of a settled row keeps no other row back that is not clearly like it', () => {
    const row = (content: string) => aRow({ title: 'Colour the rows', content });
    const [own, other] = [row('By their owner please, it helps'), row('As many as fit in')];
    const post = aPost(101, { title: 'COLOUR THE ROWS', content: own.content.toUpperCase() });
    const verdicts = ask([own, other], [post]);
    assert.deepEqual(
      [told(verdicts.get(own.id)), told(verdicts.get(other.id))],
      ['similar 0.99 101', 'none'],
    );
    const like = row('By the owner please');
    const open = ask([own, like], [post], undefined, [own]).get(like.id);
    assert.deepEqual([told(open), open?.kind === 'candidates' && open.isOpen], ['one of 101', true]);
  });

  it('a post that nobody but the row itself could own is not left open', () => {
    const row = aRow();
    const verdict = ask([row], [aPost(101, REMOVED)], undefined, [row]).get(row.id);
    assert.ok(verdict?.kind === 'candidates' && !verdict.isOpen);
  });

  it('a row has the better of two posts that are like it', () => {
    const [better, worse] = [
      { title: 'DARK MODE', content: 'MY EYES HURT AT NIGHT.' },
      { title: 'DARK MODE', content: '' },
    ];
    assert.equal(verdictOn(aRow(), [aPost(101, worse), aPost(102, better)]), 'similar 0.99 102');
    assert.equal(verdictOn(aRow(), [aPost(101, better), aPost(102, worse)]), 'similar 0.99 101');
  });

  it('a post that a row on its way could own is left open', () => {
    const [row, sending] = [aRow(), aRow({ title: 'Something else', state: 'sending' })];
    const verdict = ask([row, sending], [aPost(101, REMOVED)], undefined, [sending]).get(row.id);
    assert.ok(verdict?.kind === 'candidates' && verdict.isOpen);
  });
});

describe('who stands on our posts', () => {
  it('is learned from rows that are certain', () => {
    const hidden = { asked: 'Bob@example.com', shown: null, creator_id: 9 };
    const asOwner = { asked: 'cy@example.com', shown: 'Owner@example.com', creator_id: OWNER };
    const { owners, showsCustomers, accounts } = learnAuthors([OF_OWNER, OF_CUSTOMER, hidden, asOwner]);
    assert.deepEqual([...owners], [OWNER]);
    assert.deepEqual([showsCustomers, [...accounts]], [true, [['bob@example.com', new Set([9])]]]);
    assert.equal(learnAuthors([OF_OWNER, hidden]).showsCustomers, false);
    assert.deepEqual([...learnAuthors([{ asked: null, shown: null, creator_id: 5 }]).owners], [5]);
  });

  it('is the owner of the token where one account stands on the posts of several customers', () => {
    const posts = ['ann@example.com', 'bob@example.com'].map((asked) => ({
      ...{ asked, shown: 'sales@example.com', creator_id: 6 },
    }));
    assert.deepEqual([...learnAuthors(posts).owners], [6]);
    assert.deepEqual([...learnAuthors(posts.slice(0, 1)).owners], []);
  });

  describe('where nothing is known but what one read shows', () => {
    const team = (id: number) => ({ id, email: `${id}@corp.example`, isTeam: true });
    const words = ['First', 'Second', 'Third'].map((title) => ({ title: `${title} wish`, content: '' }));
    const read = (rows: OutboxRow[], creators: { id: number; email: string }[]): string[] => {
      const posts = rows.map(({ title, content }, n) => aPost(101 + n, { title, content }, creators[n]));
      const verdicts = ask(rows, posts, []);
      return rows.map(({ id }) => told(verdicts.get(id)));
    };

    it('is the account with the most of the owner’s posts', () => {
      const rows = words.map((text) => aRow(text));
      const [, , third] = read(rows, [team(1), team(1), team(2)]);
      assert.equal(third, 'one of 103');
      assert.deepEqual(read(rows, [team(1), team(1), team(1)]), ['exact 101', 'exact 102', 'exact 103']);
      assert.deepEqual(read(rows.slice(0, 2), [team(1), team(2)]), ['one of 101, 102', 'one of 102, 101']);
    });

    it('is no colleague of a customer where another customer stands on a post', () => {
      const rows = ['kim@example.com', 'lee@example.com'].map((email, n) => aRow({ ...words[n], email }));
      const kim = { id: 8, email: 'kim@example.com' };
      assert.deepEqual(read(rows, [kim, team(2)]), ['exact 101', 'one of 102']);
      assert.deepEqual(read(rows, [team(2), team(2)]), ['exact 101', 'exact 102']);
    });
  });

  describe('where addresses are masked, or the same for everybody', () => {
    for (const shown of ['a***@example.com', 'private@feedback.example']) {
      const learned = [
        OF_OWNER,
        { asked: 'ann@example.com', shown, creator_id: 108 },
        { asked: 'amy@example.com', shown, creator_id: 109 },
      ];
      const row = aRow({ email: 'ann@example.com' });

      it(`is the account on the customer’s other posts (${shown})`, () => {
        assert.equal(verdictOn(row, [aPost(101, {}, { id: 108, email: shown })], learned), 'exact 101');
        assert.equal(verdictOn(row, [aPost(101, {}, { id: 109, email: shown })], learned), 'one of 101');
      });

      it(`is nobody who was never seen on them (${shown})`, () => {
        assert.equal(verdictOn(row, [aPost(101, {}, { id: 110, email: shown })], learned), 'one of 101');
        assert.equal(verdictOn(row, [aPost(101, REMOVED, { id: 110, email: shown })], learned), 'one of 101');
        const owners = aRow();
        assert.equal(verdictOn(owners, [aPost(101, {}, { id: 109, email: shown })], learned), 'one of 101');
      });
    }
  });

  it('is told by what follows the plus of an address, unless a service takes that away', () => {
    const row = aRow({ email: 'desk+acme@example.com' });
    const by = (email: string, learned?: SentAuthor[]): string =>
      verdictOn(row, [aPost(101, {}, { id: 50, email })], learned);
    assert.equal(by('desk@example.com'), 'exact 101');
    assert.equal(by('desk+globex@example.com'), 'one of 101');
    const kept = { asked: 'desk+acme@example.com', shown: 'desk+acme@example.com', creator_id: 49 };
    assert.equal(by('desk@example.com', [OF_OWNER, kept]), 'one of 101');
    const owners = [aPost(101, {}, { id: 51, email: 'owner+x@example.com' })];
    assert.equal(verdictOn(aRow(), owners), 'one of 101');
  });

  it('is somebody of the team only as long as the owner is not known', () => {
    const row = aRow({ email: 'ada@example.com' });
    const byTeam = aPost(101, REMOVED, { ...STRANGER, isTeam: true });
    assert.equal(verdictOn(row, [byTeam]), 'none');
    assert.equal(verdictOn(row, [byTeam], [OF_CUSTOMER]), 'one of 101');
    assert.equal(verdictOn(row, [aPost(101, REMOVED, STRANGER)], []), 'one of 101', 'anybody, at first');
  });

  it('is nobody where the address is blank', () => {
    const row = aRow({ email: 'ada@example.com' });
    assert.equal(verdictOn(row, [aPost(101, {}, { id: 50, email: '  ' })]), 'exact 101');
    assert.equal(verdictOn(row, [aPost(101, {}, { id: 50, email: ' Ada@example.com ' })]), 'exact 101');
  });
});

describe('somebody else’s post', () => {
  it('is that of another user than the owner, who is known from earlier posts', () => {
    assert.equal(verdictOn(aRow(), [aPost(101, REMOVED, STRANGER)]), 'none');
    assert.equal(verdictOn(aRow(), [aPost(101, REMOVED, STRANGER)], []), 'one of 101');
  });

  it('is that of another customer, but not that of the owner or of nobody', () => {
    const row = aRow({ email: 'ada+news@Example.com' });
    assert.equal(verdictOn(row, [aPost(101, REMOVED, STRANGER)]), 'none');
    for (const by of [{ id: 50, email: 'ada@example.com' }, { id: 50, email: null }, {}])
      assert.equal(verdictOn(row, [aPost(101, REMOVED, by)]), 'one of 101');
  });

  it('is that of a customer where the owner is unknown and customers are shown, unless it may be the owner', () => {
    const row = aRow({ email: 'ada@example.com' });
    assert.equal(verdictOn(row, [aPost(101, REMOVED, STRANGER)], [OF_CUSTOMER]), 'none');
    assert.equal(
      verdictOn(row, [aPost(101, REMOVED, { ...STRANGER, isTeam: true })], [OF_CUSTOMER]),
      'one of 101',
    );
  });

  it('with words like the row’s and another name confirms nothing where no address is shown', () => {
    const row = aRow({
      title: 'Colour the rows of tables by their owner',
      email: 'ada@example.com',
      full_name: 'Ada Byron',
    });
    const shown = { title: 'COLOUR the rows of tables by their owner!!', content: '' };
    assert.match(
      verdictOn(row, [aPost(101, shown, { id: 50, email: null, name: 'ada  byron' })]),
      /^similar/,
    );
    assert.equal(
      verdictOn(row, [aPost(101, shown, { id: 50, email: null, name: 'Zed Zimmer' })]),
      'one of 101',
    );
  });

  it('may be the owner’s for a customer only where no customer is seen to stand on a post', () => {
    const row = aRow({ email: 'ann@example.com' });
    const colleague = { id: 9, email: 'colleague@example.com', isTeam: true };
    const shownAs = { asked: 'bo@example.com', shown: 'owner@example.com', creator_id: OWNER };
    assert.equal(verdictOn(row, [aPost(101)], [OF_OWNER, shownAs]), 'exact 101');
    assert.equal(verdictOn(row, [aPost(101)], [OF_OWNER, OF_CUSTOMER]), 'one of 101');
    assert.equal(verdictOn(row, [aPost(101, {}, colleague)], []), 'exact 101');
    assert.equal(verdictOn(row, [aPost(101, {}, colleague)], [OF_CUSTOMER]), 'one of 101');
  });

  it('with the very words of the row is for a person: people are merged, and tokens change hands', () => {
    assert.equal(verdictOn(aRow(), [aPost(101, {}, STRANGER)]), 'one of 101');
  });
});

describe('a post of before', () => {
  it('is one that the mirror knew, or that a person has dismissed', () => {
    const known = aPost(99, { firstSeenAt: '2026-01-01T11:00:00.000Z' });
    assert.equal(verdictOn(aRow(), [known]), 'none');
    assert.equal(verdictOn(aRow({ baseline: [101] }), [aPost(101)]), 'none');
  });

  it('is not one with a higher number, whatever the clocks say', () => {
    const behind = { firstSeenAt: '2026-01-01T11:00:00.000Z', madeBy: Date.parse(SENT_AT) - 86_400_000 };
    assert.equal(verdictOn(aRow(), [aPost(101, behind)]), 'exact 101');
    assert.equal(verdictOn(aRow(), [aPost(101, { ...behind, ...REMOVED })]), 'one of 101');
  });

  it('is not one that was seen before a moment that lies in the future', () => {
    const row = aRow({ first_sent_at: '2026-01-02T12:00:00.000Z', known_max_id: null });
    assert.equal(verdictOn(row, [aPost(99, { firstSeenAt: '2026-01-01T12:01:00.000Z' })]), 'exact 99');
  });

  it('shows two signs of its age, unless all that stood there was known', () => {
    const before = Date.parse(SENT_AT) - 3_600_000;
    assert.equal(verdictOn(aRow(), [aPost(99, { madeBy: before })]), 'none');
    assert.equal(verdictOn(aRow(), [aPost(100, { madeBy: before })]), 'none');
    assert.equal(verdictOn(aRow(), [aPost(99)]), 'exact 99', 'its time is young');
    assert.equal(verdictOn(aRow(), [aPost(99, { madeBy: null })]), 'exact 99', 'it shows no time');
    const row = aRow();
    const question = { rows: [row], authors: learnAuthors([OF_OWNER]), isUnsettled: () => false };
    const asked = { ...question, now: Date.parse(SENT_AT) + 1, sweptAt: '2026-01-01T11:59:59.999Z' };
    const late = (hours: number) => aPost(99, { madeBy: Date.parse(SENT_AT) - hours * 3_600_000 });
    const verdict = (post: SeenPost, sweptAt: string) =>
      told(whoseAre({ ...asked, sweptAt, posts: [post] }).verdicts.get(row.id));
    assert.equal(verdict(late(25), asked.sweptAt), 'exact 99');
    assert.equal(verdict(late(27), asked.sweptAt), 'one of 99', 'no clock is so late');
    assert.equal(verdict(late(25), SENT_AT), 'none');
  });

  it('with other words is one that does not show to be younger', () => {
    const asking = aRow({ known_max_id: null });
    const before = Date.parse(SENT_AT) - 1;
    assert.equal(verdictOn(asking, [aPost(55, { ...REMOVED, madeBy: before + 1 })]), 'one of 55');
    assert.equal(verdictOn(asking, [aPost(55, { ...REMOVED, madeBy: before })]), 'none');
    assert.equal(verdictOn(asking, [aPost(55, { ...REMOVED, madeBy: null })]), 'none');
  });

  it('is told by the mirror alone for a row of a restored copy', () => {
    const row = aRow({ attempts: 0, known_max_id: null });
    assert.equal(verdictOn(row, [aPost(99, { firstSeenAt: '2026-01-01T11:00:00.000Z' })]), 'none');
    assert.equal(verdictOn(row, [aPost(99, { firstSeenAt: '2026-01-01T12:01:00.000Z' })]), 'exact 99');
  });
});

describe('a listed row that cannot be read', () => {
  const unread = (id: number, title: string): SeenPost =>
    aPost(id, { title, content: '', board: '', creator: null, madeBy: null });

  it('keeps the row back where its title is similar or unknown, or its number is new', () => {
    assert.equal(verdictOn(aRow({ known_max_id: null }), [unread(1, 'Dark mode')]), 'one of 1');
    assert.equal(verdictOn(aRow({ known_max_id: null }), [unread(1, '')]), 'one of 1');
    assert.equal(verdictOn(aRow(), [unread(101, 'Another')]), 'one of 101');
  });

  it('does not where it is called otherwise or stood there before', () => {
    assert.equal(verdictOn(aRow({ known_max_id: null }), [unread(1, 'Invoices')]), 'none');
    assert.equal(verdictOn(aRow(), [unread(1, '')]), 'none');
  });
});
