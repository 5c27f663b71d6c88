import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from '../../src/api/client.ts';
import type { Post } from '../../src/contract/decode.ts';
import type { OutboxContext } from '../../src/outbox/context.ts';
import {
  fromMirror,
  isUnsettled,
  type Listed,
  readWindow,
  whyIncomplete,
  whyUnseen,
} from '../../src/outbox/window.ts';
import type { OutboxStore } from '../../src/store/outbox/store.ts';
import type { KnownPost, MirroredPost, OutboxRow } from '../../src/store/outbox/types.ts';
import { aPost } from '../support/rows.ts';
import { HOUR, MINUTE, SETTLE_MS, TEXT } from './bench.ts';

const NOON = Date.parse('2026-01-01T12:00:00.000Z');
const iso = (ms: number): string => new Date(ms).toISOString();

const aRow = (changes: Partial<OutboxRow> = {}): OutboxRow =>
  ({
    ...{ ...TEXT, id: 1, kind: 'owner', state: 'ambiguous', not_before: null, known_max_id: 100 },
    ...{ first_sent_at: iso(NOON), created_at: iso(NOON), changed_at: iso(NOON), ...changes },
  }) as OutboxRow;

const READ: Listed = {
  ...{ posts: new Map(), bound: new Map(), latest: new Map(), authors: [], ours: new Set() },
  ...{ shown: null, unseen: [] },
};

describe('a row that has not settled', () => {
  it('is on its way, or waits for a time that has not come and was not set by a clock that was ahead', () => {
    const waiting = (changes: Partial<OutboxRow>) => isUnsettled(aRow(changes), NOON);
    assert.equal(waiting({ state: 'sending' }), true);
    assert.equal(waiting({ state: 'ready', not_before: iso(NOON + 1) }), false);
    assert.equal(waiting({ not_before: iso(NOON + 1) }), true);
    assert.equal(waiting({ not_before: iso(NOON) }), false);
    assert.equal(waiting({ not_before: null }), false);
    assert.equal(waiting({ not_before: iso(NOON + 2), changed_at: iso(NOON + 1) }), false);
  });
});

describe('a list that is not whole', () => {
  const why = (live: number, ...shown: (number | null)[]) =>
    whyIncomplete(
      { liveCount: () => live } as unknown as OutboxStore,
      shown.map((count) => ({ ...READ, shown: count })),
    );

  it('lacks more than two posts that the mirror knows, and more than one in fifty', () => {
    assert.equal(why(45, 43), null);
    assert.equal(why(45, 42), 'the list showed 42 of the 45 posts that the mirror knows');
    assert.equal(why(1000, 980), null);
    assert.match(why(1000, 979) ?? '', /979 of the 1000/);
  });

  it('is one of two reads, and none that stopped early because the rest is older', () => {
    assert.match(why(45, 45, 10) ?? '', /10 of the 45/);
    assert.equal(why(45, null, null), null);
    assert.match(why(45, null, 10) ?? '', /10 of the 45/);
  });
});

describe('a read without the post of a row', () => {
  interface Sent {
    id: number;
    isMirrored: boolean;
    isSwept: 0 | 1;
  }

  function why(reads: Listed[], sent: Sent[] = [], ended: string | null = iso(NOON + 1000)) {
    const attempt = { started_at: iso(NOON), ended_at: ended, deadline_at: iso(NOON + 30_000) };
    const store = { attempts: () => [attempt], latestSent: () => sent } as unknown as OutboxStore;
    return whyUnseen(store, aRow(), reads);
  }

  /** As `why`, of a row that was sent in one way where the latest posts went in both. */
  function whyOf(email: string | null, sent: Record<OutboxRow['kind'], Sent[]>) {
    const latestSent = ({ kind }: OutboxRow): Sent[] => sent[kind];
    const store = { attempts: () => [], latestSent } as unknown as OutboxStore;
    return whyUnseen(store, aRow({ email, kind: email === null ? 'owner' : 'as-user' }), [READ]);
  }
  const leftOut = (from: number, to: number): Listed => ({
    ...READ,
    unseen: [{ from: NOON + from, to: NOON + to, why: 'a gap' }],
  });

  it('says nothing where both reads may have left out the time of an attempt, give or take three seconds', () => {
    const gap = { why: 'a gap', isFinal: false };
    assert.deepEqual(why([leftOut(0, 1000), leftOut(500, 600)]), gap);
    assert.deepEqual(why([leftOut(-5000, -2999)]), gap);
    assert.deepEqual(why([leftOut(3999, 9000)]), gap);
    assert.equal(why([leftOut(-5000, -3000)]), null);
    assert.equal(why([leftOut(4000, 9000)]), null);
    assert.equal(why([leftOut(0, 1000), READ]), null, 'the other one would have shown it');
    assert.equal(why([READ, leftOut(0, 1000)]), null);
    assert.deepEqual(why([leftOut(32_999, 40_000)], [], null), gap, 'without an end, up to its deadline');
  });

  it('says nothing of a customer’s where it does not show what was sent last as the owner, but not the other way round', () => {
    const unlisted = [{ id: 5, isMirrored: false, isSwept: 0 as const }];
    const listed = [{ id: 4, isMirrored: true, isSwept: 0 as const }];
    assert.ok(whyOf('ada@example.com', { owner: unlisted, 'as-user': listed }));
    assert.ok(whyOf('ada@example.com', { owner: listed, 'as-user': unlisted }));
    assert.equal(whyOf('ada@example.com', { owner: listed, 'as-user': listed }), null);
    assert.ok(whyOf(null, { owner: unlisted, 'as-user': listed }));
    // Those of customers may wait for somebody to approve them.
    assert.equal(whyOf(null, { owner: listed, 'as-user': unlisted }), null);
  });

  it('says nothing where it does not show what was sent last to the same board either', () => {
    const sent = (id: number, isMirrored = false, isSwept: 0 | 1 = 0) => ({ id, isMirrored, isSwept });
    assert.match(
      why([READ], [sent(5)])?.why ?? '',
      /^the list does not show the post last sent .* gave it a number$/,
    );
    assert.match(why([READ], [sent(5), sent(4)])?.why ?? '', /the 2 posts last sent .* gave them a number$/);
    assert.equal(why([READ], [sent(5, true)]), null);
    assert.equal(why([READ, { ...READ, ours: new Set([5]) }], [sent(5), sent(4)]), null);
    assert.match(why([READ], [sent(5), sent(4, true), sent(3)])?.why ?? '', /the post last sent/);
    assert.deepEqual(
      [[sent(5)], [sent(5, false, 1)], [sent(5), sent(4, true, 1)]].map((list) => why([READ], list)?.isFinal),
      [false, true, false],
    );
  });
});

/** What a read of these pages finds for a row, in a mirror that knows these posts. */
async function read(
  pages: Partial<Page<Post>>[],
  { known = new Map<number, Partial<KnownPost>>(), sweptAt = null as string | null, rows = [aRow()] } = {},
) {
  let given = 0;
  async function* posts() {
    for (const page of pages) {
      given++;
      yield { rows: [], rejects: [], cursor: '', next: null, serverTime: NOON, receivedAt: NOON, ...page };
    }
  }
  const knownPosts = (ids: number[]) =>
    new Map(ids.flatMap((id) => (known.has(id) ? [[id, known.get(id)]] : [])));
  const store = { knowledge: () => ({ sweptAt }), knownPosts };
  const context = { store, client: { posts }, settleMs: SETTLE_MS } as unknown as OutboxContext;
  return { ...(await readWindow(context, rows)), given };
}

describe('what a list leaves out', () => {
  const gapAfter = async (created: string[], next: string, serverTime: number | null = NOON) => {
    const rows = created.map((time, n) => aPost(200 - n, { created: time }));
    const { unseen } = await read([{ rows, next, serverTime }]);
    return unseen.map(({ from, to }) => [iso(from), to - from]);
  };

  it('where it goes on behind a time is the second, the minute or the day that its times are cut to', async () => {
    const [second, minute, day] = ['2026-01-01T11:30:07Z', '2026-01-01T11:30:00Z', '2026-01-01T00:00:00Z'];
    assert.deepEqual(await gapAfter([second], `before=${second}`), [['2026-01-01T11:30:07.000Z', 1000]]);
    assert.deepEqual(await gapAfter([minute], `before=${minute}`), [['2026-01-01T11:30:00.000Z', MINUTE]]);
    assert.deepEqual(await gapAfter([second, minute], `before=${minute}`), [
      ['2026-01-01T11:30:00.000Z', 1000],
    ]);
    assert.deepEqual(await gapAfter([day], `before=${day}`), [['2026-01-01T00:00:00.000Z', 24 * HOUR]]);
    const fine = '2026-01-01T11:30:07.250Z';
    assert.deepEqual(await gapAfter([fine], `before=${fine}`), []);
    assert.deepEqual(await gapAfter([second], 'page=2'), []);
    assert.deepEqual(await gapAfter([second], `page=2&as_of=${day}`), [], 'another time');
    const [hidden] = await gapAfter([minute], 'before=2026-01-01T11:30:37Z');
    assert.deepEqual(hidden, ['2026-01-01T11:30:00.000Z', MINUTE], 'more than the rows show');
  });

  it('is told by our clock where that of the service is known', async () => {
    const time = '2026-01-01T11:30:07Z';
    assert.deepEqual(await gapAfter([time], `before=${time}`, NOON + HOUR), [
      ['2026-01-01T10:30:07.000Z', 1000],
    ]);
    assert.deepEqual(await gapAfter([time], `before=${time}`, null), [['2026-01-01T11:30:07.000Z', 1000]]);
  });

  it('in a cache is all that may have come since it was read, and the time in which it settles', async () => {
    const { unseen } = await read([{ ageMs: 5000 }, { ageMs: 0 }, {}]);
    assert.deepEqual(
      unseen.map(({ from, to }) => [from, to]),
      [[NOON - 5000 - SETTLE_MS, Number.POSITIVE_INFINITY]],
    );
  });
});

describe('what a list shows', () => {
  it('of our own tells how far it has come for each board and kind, and who stands on it', async () => {
    const sent = (board: string, at: number, matched: string | null = null): Partial<KnownPost> => ({
      ...{ kind: 'owner', board, first_sent_at: iso(NOON + at), matched, email: null, title: null },
      first_seen_at: iso(NOON),
    });
    const known = new Map([
      [201, sent('ideas', 1000)],
      [202, sent('ideas', 3000, 'similar 0.90')],
      [203, sent('ideas', 2000, 'exact')],
      [204, sent('bugs', 500, 'person')],
    ]);
    const rows = [201, 202, 203, 204, 205].map((id) => aPost(id));
    const { latest, ours, authors, posts, shown } = await read([{ rows }], { known });
    assert.deepEqual(
      [...latest],
      [
        ['owner ideas', iso(NOON + 3000)],
        ['owner bugs', iso(NOON + 500)],
      ],
    );
    assert.deepEqual([...ours], [201, 202, 203, 204]);
    assert.equal(authors.length, 3, 'one that is only similar may be of somebody else');
    assert.deepEqual([[...posts.keys()], shown], [[205], 4]);
  });

  it('is kept where it may be younger than the row: by its number, by when it was first seen, or by its time', async () => {
    const seen = (at: number): Partial<KnownPost> => ({ first_seen_at: iso(NOON + at), title: null });
    const known = new Map([
      [101, seen(-1)],
      [90, seen(0)],
      [91, seen(-1)],
    ]);
    const time = (at: number) => ({ created: iso(NOON + at) });
    const rows = [
      aPost(101, { title: 'New by number', ...time(-HOUR) }),
      aPost(90, { title: 'Seen since', ...time(0) }),
      aPost(91, { title: 'Seen before', ...time(0) }),
      aPost(92, { title: 'Made since', ...time(-65_000) }),
      aPost(93, { title: 'Made before', ...time(-65_001) }),
      aPost(94, time(-HOUR)),
    ];
    const ids = async (options: object) => [...(await read([{ rows }], { known, ...options })).posts.keys()];
    assert.deepEqual(await ids({}), [101, 90, 92, 94], 'and of old ones those with the words of a row');
    assert.deepEqual(await ids({ sweptAt: iso(NOON - 1) }), [101, 90, 92, 93, 94]);
    assert.deepEqual(await ids({ sweptAt: iso(NOON) }), [101, 90, 92, 94]);
    assert.deepEqual(await ids({ rows: [aRow(), aRow({ known_max_id: null })] }), [90, 92, 94]);
    const resting = aRow({ state: 'uncertain', first_sent_at: iso(NOON - 2 * HOUR), known_max_id: 1 });
    assert.deepEqual(
      await ids({ rows: [aRow(), resting] }),
      [101, 90, 92, 94],
      'an uncertain row asks for nothing',
    );
  });

  it('has rows of which no number can be read under numbers that no post has', async () => {
    const reject = (id: number | null, body: string) => ({ index: 0, id, reason: '', body });
    const rejects = [
      reject(null, '{"title":"One"}'),
      reject(null, 'cut of'),
      reject(150, '{"title":"Three"}'),
    ];
    const { posts } = await read([{ rejects }]);
    assert.deepEqual(
      [...posts].map(([id, { title, creator }]) => [id, title, creator]),
      [
        [-1, 'One', null],
        [-2, '', null],
        [150, 'Three', null],
      ],
    );
  });
});

describe('how far a list is read', () => {
  /** Pages of old posts, the newest first, with numbers that rise and fall. */
  function oldPages(pages: number, size = 10, change: (n: number) => Record<string, unknown> = () => ({})) {
    const rows = Array.from({ length: pages * size }, (_, n) =>
      aPost(99 - n, {
        ...{ title: `Old ${n}`, created: iso(NOON - (n + 2) * HOUR) },
        ...{ votes_count: n % 5, comments_count: n % 3, ...change(n) },
      }),
    );
    return Array.from({ length: pages }, (_, page) => ({ rows: rows.slice(page * size, (page + 1) * size) }));
  }
  const taken = async (...asked: Parameters<typeof read>) => (await read(...asked)).given;

  it('is two pages beyond what may be new, once twenty rows show that the newest stand first', async () => {
    assert.deepEqual([await taken(oldPages(6)), (await read(oldPages(6))).shown], [2, null]);
    assert.equal(await taken(oldPages(6, 9)), 3);
    assert.equal((await read(oldPages(1))).shown, 0);
  });

  it('is all of it where numbers or times do not stand newest first for certain', async () => {
    for (const change of [
      () => ({ votes_count: 1 }),
      () => ({ comments_count: 0 }),
      (n: number) => ({ votes_count: n }),
      (n: number) => ({ votes_count: 100 - n }),
      (n: number) => (n === 5 ? { id: 5000 - n, created: iso(NOON - HOUR) } : {}),
      (n: number) => (n === 5 ? { created: iso(NOON - 30 * HOUR) } : {}),
    ])
      assert.equal(await taken(oldPages(6, 10, change)), 6, String(change));
  });

  it('begins anew behind a page with a post that may be new', async () => {
    const pages = oldPages(6);
    const seen = (id: number) => iso(id === 84 ? NOON : NOON - HOUR);
    const known = new Map(
      pages.flatMap(({ rows }) =>
        rows.map(({ id }) => [id, { first_seen_at: seen(id), title: null }] as const),
      ),
    );
    assert.equal(await taken(pages, { known, sweptAt: iso(NOON - 1) }), 4);
  });

  it('needs no numbers where a later post of ours stands among the new ones', async () => {
    const ours = (at: number) =>
      new Map([
        [
          99,
          {
            kind: 'owner',
            board: 'ideas',
            first_sent_at: iso(NOON + at),
            first_seen_at: iso(NOON),
            title: null,
            matched: null,
            email: null,
          },
        ],
      ]);
    const alike = oldPages(6, 10, () => ({ votes_count: 1, comments_count: 0 }));
    assert.equal(await taken(alike, { known: ours(0) }), 3);
    assert.equal(await taken(alike, { known: ours(-1) }), 6);
  });

  it('is not mistaken where rows come again that moved down meanwhile', async () => {
    const [first, ...rest] = oldPages(6);
    const again = first?.rows.slice(-3) ?? [];
    const moved = rest.map(({ rows }, n) => ({ rows: n === 0 ? [...again, ...rows] : rows }));
    assert.equal(await taken([first ?? {}, ...moved]), 2);
  });
});

describe('a listed post under a number that had another one', () => {
  const former = (more: Partial<KnownPost> = {}): Partial<KnownPost> => ({
    ...{ kind: 'owner', board: 'ideas', email: null, title: 'Export invoices', matched: null, row: 9 },
    ...{ content: 'My eyes hurt at night.', content_hash: 'of these words' },
    ...{
      created: iso(NOON - 5 * HOUR),
      first_seen_at: iso(NOON - 4 * HOUR),
      first_sent_at: iso(NOON - 5 * HOUR),
    },
    ...{ was_deleted: 0, is_reused: 0, ...more },
  });
  const listed = async (more: Partial<KnownPost>, shown: Record<string, unknown> = {}) => {
    const rows = [aPost(50, { created: iso(NOON - 5 * HOUR), ...shown })];
    const { posts, ours } = await read([{ rows }], { known: new Map([[50, former(more)]]) });
    return [posts.get(50)?.reusedFrom, ours.has(50)];
  };

  it('is not the post of the row that the former one confirms, where that one is gone and was called otherwise', async () => {
    assert.deepEqual(await listed({ was_deleted: 1 }), [9, false]);
    assert.deepEqual(await listed({ is_reused: 1 }), [9, false]);
    assert.deepEqual(await listed({}, { created: iso(NOON) }), [9, false]);
    assert.deepEqual(await listed({ was_deleted: 1, matched: 'exact' }), [9, false]);
    assert.deepEqual(
      await listed({ was_deleted: 1, matched: 'person' }),
      [undefined, true],
      'a person may bind any',
    );
    assert.deepEqual(await listed({ was_deleted: 1, title: 'DARK MODE' }), [undefined, true]);
    assert.deepEqual(await listed({}), [undefined, true]);
    assert.deepEqual(await listed({ was_deleted: 1 }, { title: 'Of no row' }), [undefined, true]);
  });

  it('is not where an answer named it for a row with other words, and it was first seen since', async () => {
    assert.deepEqual(await listed({ first_seen_at: null, created: null }), [9, false]);
    assert.deepEqual(await listed({ first_seen_at: iso(NOON) }), [9, false]);
    assert.deepEqual(await listed({ first_seen_at: iso(NOON), matched: 'exact' }), [undefined, true]);
    assert.deepEqual(await listed({ first_seen_at: iso(NOON), title: 'Dark mode please' }), [
      undefined,
      true,
    ]);
  });
});

describe('the latest moment at which a listed post can have been made', () => {
  const madeBy = async (created: string[], serverTime: number | null = NOON) => {
    const rows = created.map((time, n) => aPost(200 + n, { created: time }));
    const { posts } = await read([{ rows, serverTime }]);
    const latest = posts.get(200)?.madeBy;
    return latest == null ? latest : iso(latest);
  };

  it('is a minute later than it says where the clock of the service is known, and leaves room for any zone elsewhere', async () => {
    assert.equal(await madeBy(['2026-01-01T12:00:01Z']), '2026-01-01T12:01:06.000Z');
    assert.equal(await madeBy(['2026-01-01T14:00:01+02:00']), '2026-01-01T12:01:06.000Z');
    assert.equal(await madeBy(['2026-01-01T12:00:01Z'], NOON + HOUR), '2026-01-01T11:01:06.000Z');
    assert.equal(await madeBy(['2026-01-01T12:00:01']), '2026-01-02T03:00:01.000Z');
    assert.equal(await madeBy(['2026-01-01T12:00:01Z'], null), '2026-01-02T03:00:01.000Z');
  });

  it('is a day later where all of the page say no more than the day', async () => {
    const midnight = '2026-01-02T00:00:00Z';
    assert.equal(await madeBy([midnight, midnight]), '2026-01-03T00:01:05.000Z');
    assert.equal(await madeBy([midnight, '2026-01-02T00:00:01Z']), '2026-01-02T00:01:05.000Z');
  });
});

describe('the latest moment at which a post of the mirror can have been made', () => {
  const madeBy = (created: string): string | null => {
    const { madeBy: latest } = fromMirror({ created } as MirroredPost);
    return latest === null ? null : iso(latest);
  };

  it('leaves room for any zone, and for the whole day where no time is told', () => {
    assert.equal(madeBy('2026-01-01T12:00:00Z'), '2026-01-02T03:00:00.000Z');
    assert.equal(madeBy('2026-01-01T00:00:00Z'), '2026-01-02T15:00:00.000Z');
    assert.equal(madeBy('2026-01-01T00:00:01Z'), '2026-01-01T15:00:01.000Z');
    assert.equal(madeBy('yesterday'), null);
  });
});
