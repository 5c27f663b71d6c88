import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import type { Change } from '../../src/changes/change.ts';
import type { ChangeQuery } from '../../src/changes/feed.ts';
import {
  askSql,
  changes,
  reportTable,
  rowFacts,
  search,
  type ToolDeps,
  wholePost,
} from '../../src/mcp/answers.ts';
import type { Paged } from '../../src/mcp/limits.ts';
import { textRules } from '../../src/mcp/text.ts';
import { DRAFT_POST, TOOLS } from '../../src/mcp/tools.ts';
import type { OutboxRow } from '../../src/outbox/decide/types.ts';
import { SCHEMA_HINT } from '../../src/query/explain.ts';
import type { QueryRequest } from '../../src/query/run.ts';
import type { ReportResult } from '../../src/reports/report.ts';
import { fakeClock } from '../support/clock.ts';

const key = new Uint8Array(32);
const rules = textRules({ key, upstream: 'https://upstream.test' });
const clock = fakeClock(Date.parse('2026-03-10T12:00:00.000Z'));

/** A mirror that gives these answers and notes what it was asked. */
function depsWith(answers: Record<string, unknown>, more: Partial<ToolDeps> = {}) {
  const asked: [name: string, request: Record<string, unknown>][] = [];
  const ask = async (name: string, request: Record<string, unknown>): Promise<unknown> => {
    asked.push([name, request]);
    return answers[name];
  };
  const facts = { rules, key, clock, timeZone: 'Europe/Berlin', usualDelivered: null };
  return { asked, deps: { ...facts, ask, drafts: null, ...more } as unknown as ToolDeps };
}

const whole = (answer: Paged): Record<string, unknown> => answer.page(answer.rows) as Record<string, unknown>;

function aLine(id: number, more: object = {}) {
  const names = { title: `Post ${id}`, url: `/p/${id}`, board: 'Ideas', status: 'Open' };
  const facts = { votes: 10 - id, comments: id, created: `2026-01-0${id}`, changed: `2026-02-0${id}` };
  return { id, ...names, ...facts, deleted: null, marked: null, ...more };
}

const LISTED = { deleted: 'no', internal: false, sort: 'newest', limit: 2, text: '' } as const;

describe('a list of posts for an agent', () => {
  it('is asked for with all that it is narrowed down to, days in the zone of the mirror', async () => {
    const { deps, asked } = depsWith({ posts: { rows: [], next: null, total: { posts: 0, isMore: false } } });
    const narrow = { board: 'ideas', status: 'Open', since: '2026-03-01', until: '1d', votes: 3 };
    await search(deps, { ...LISTED, ...narrow, deleted: 'only', sort: 'votes', after: '-7 12' });
    const [, { filter, ...rest }] = asked[0] ?? assert.fail();
    assert.deepEqual(rest, { sort: 'votes', after: { key: -7, id: 12 }, limit: 2, isExcerpt: true });
    const { board, status, since, until, votes, deleted, creator } = filter as Record<string, unknown>;
    assert.deepEqual([board, status, votes, deleted, creator], [['ideas'], ['Open'], 3, 'only', null]);
    assert.deepEqual([since, until], ['2026-02-28T23:00:00.000Z', '2026-03-09T12:00:00.000Z']);
  });

  it('goes on behind its last post by what it is in order by, and ends where there are no more', async () => {
    const rows = [aLine(1), aLine(2, { deleted: '2026-03-01' })];
    const next = async (sort: 'newest' | 'votes' | 'comments' | 'changed', more: object | null) => {
      const found = { posts: { rows, next: more, total: { posts: 9, isMore: more !== null } } };
      return await search(depsWith(found).deps, { ...LISTED, sort });
    };
    const nexts = ['newest', 'votes', 'comments', 'changed'] as const;
    const answers = await Promise.all(nexts.map((sort) => next(sort, {})));
    assert.deepEqual(
      answers.map((answer) => whole(answer).next),
      ['2026-01-02 2', '8 2', '2 2', '2026-02-02 2'],
    );
    assert.equal(whole(answers[0] ?? assert.fail()).total, 'more than 9');
    const last = await next('newest', null);
    assert.deepEqual([whole(last).next, whole(last).total], [undefined, 9]);
    // What was left out for want of space comes next, also on the last page.
    assert.equal((last.page(1) as { next: string }).next, '2026-01-01 1');
    const [there, gone] = whole(last).posts as Record<string, unknown>[];
    assert.deepEqual(
      [there?.url, 'deleted' in (there ?? {}), gone?.deleted],
      ['https://upstream.test/p/1', false, '2026-03-01'],
    );
  });

  it('goes on by a number or a time, as it is sorted', async () => {
    const place = async (sort: 'comments' | 'changed', after: string) => {
      const { deps, asked } = depsWith({
        posts: { rows: [], next: null, total: { posts: 0, isMore: false } },
      });
      await search(deps, { ...LISTED, sort, after });
      return asked[0]?.[1].after;
    };
    assert.deepEqual(await place('comments', '5 1'), { key: 5, id: 1 });
    assert.deepEqual(await place('changed', '2026 1'), { key: '2026', id: 1 });
  });

  it('shows where the words stand, in a post or in a comment, in three hundred letters', async () => {
    const excerpt = { text: 'x'.repeat(400), start: 0, end: 400 };
    const rows = [false, true].map((isComment) => aLine(1, { excerpt, marked: { isComment } }));
    const { deps } = depsWith({ posts: { rows, next: null, total: { posts: 2, isMore: false } } });
    const [post, comment] = whole(await search(deps, LISTED)).posts as Record<string, unknown>[];
    const shown = `${'x'.repeat(300)}…`;
    assert.deepEqual([post?.customer_text, post?.customer_comment], [shown, undefined]);
    assert.deepEqual([comment?.customer_text, comment?.customer_comment], [undefined, shown]);
  });

  it('goes on from no place that it did not give', async () => {
    const { deps } = depsWith({});
    for (const after of ['', '5', '5 x', '5 -1', 'x 1', '1.5 1'])
      await assert.rejects(
        search(deps, { ...LISTED, sort: 'votes', after }),
        /after is not the next of a list/,
      );
    for (const after of ['-1', '100', '5 1', 'x'])
      await assert.rejects(
        search(deps, { ...LISTED, text: 'word', after }),
        /after is not the next of a search/,
      );
  });
});

describe('posts that an agent finds', () => {
  const found = (ids: number[], isMore: boolean, told: object = {}) => ({
    search: {
      ...{ rows: ids.map((id) => aLine(id)), total: { posts: ids.length, isMore } },
      ...{ isPartial: false, suggestion: null, ...told },
    },
  });

  it('begin behind those it had, by whole words, with comments of the team only where it asks for them', async () => {
    const { deps, asked } = depsWith(found([1, 2, 3], true));
    const answer = whole(await search(deps, { ...LISTED, text: 'dark', after: '2', internal: true }));
    const [, { limit, typing, isInternal, isExcerpt }] = asked[0] ?? assert.fail();
    assert.deepEqual([limit, typing, isInternal, isExcerpt], [4, false, true, true]);
    assert.deepEqual([(answer.posts as { id: number }[]).map(({ id }) => id), answer.next], [[3], '3']);
    assert.equal('more' in answer, false);
  });

  it('end at the most relevant ones, and say so', async () => {
    const { deps, asked } = depsWith(found([1, 2, 3], true));
    await search(deps, { ...LISTED, text: 'dark', after: '49', limit: 20 });
    assert.equal(asked[0]?.[1].limit, 50);
    const rows = Array.from({ length: 50 }, (_, i) => i + 1);
    const end = whole(
      await search(depsWith(found(rows, true)).deps, { ...LISTED, text: 'dark', after: '48' }),
    );
    assert.deepEqual(['next' in end, /only the 50 most relevant/.test(String(end.more))], [false, true]);
    const all = whole(await search(depsWith(found([1], false)).deps, { ...LISTED, text: 'dark' }));
    assert.deepEqual(Object.keys(all), ['posts']);
    const cut = await search(depsWith(found([1, 2], false)).deps, { ...LISTED, text: 'dark' });
    assert.equal((cut.page(1) as { next: string }).next, '1');
  });

  it('say that they have some of the words only, and what was meant, without addresses', async () => {
    const told = { isPartial: true, suggestion: 'ask kim@example.com' };
    const answer = whole(await search(depsWith(found([1], false, told)).deps, { ...LISTED, text: 'dark' }));
    assert.match(String(answer.note), /some/);
    assert.match(String(answer.customer_words_meant), /^ask address@redacted\.invalid$/);
  });
});

function aComment(id: number, internal = 0) {
  const said = { kind: 'reply', likes: 0, content: `Comment ${id}`, created: `2026-01-0${id}` };
  return { id, internal, ...said, creator: 'Kim Lee', creatorId: 7, isTeam: internal };
}

function aWhole(comments: object[], after: object | null = null, more: object = {}) {
  const post = {
    ...aLine(1),
    content: 'Ask kim@example.com',
    creator: 'Kim Lee',
    creatorId: 7,
    creatorIsTeam: 0,
    ...more,
  };
  const states = [{ at: '2026-01-01', votes: 1, status: 'Open', deleted: 0 }];
  return { post: { post, states, edits: [{}, {}], comments: { rows: comments, after } } };
}

const ASKED = { id: 1, internal: false, comments: 2 };

describe('a whole post for an agent', () => {
  it('shows no comment of the team among itself unless asked, and goes on behind it', async () => {
    const { deps } = depsWith(aWhole([aComment(1), aComment(2, 1), aComment(3)]));
    const ids = (answer: Record<string, unknown>) =>
      (answer.comment_list as { id: number }[]).map(({ id }) => id);
    const [without, within] = [
      whole(await wholePost(deps, ASKED)),
      whole(await wholePost(deps, { ...ASKED, internal: true })),
    ];
    assert.deepEqual([ids(without), without.comments_next], [[1], '2026-01-02 2']);
    assert.deepEqual([ids(within), within.comments_next], [[1, 2], '2026-01-02 2']);
    const said = (within.comment_list as Record<string, unknown>[]).map(({ internal, by_team }) => [
      internal,
      by_team,
    ]);
    assert.deepEqual(said, [
      [undefined, false],
      [true, true],
    ]);
    const some = (await wholePost(deps, { ...ASKED, comments: 3 })).page(1) as Record<string, unknown>;
    assert.equal(some.comments_next, '2026-01-01 1', 'behind what fitted');
    const all = whole(await wholePost(deps, { ...ASKED, comments: 3 }));
    assert.deepEqual([ids(all), 'comments_next' in all], [[1, 3], false]);
    const more = whole(await wholePost(depsWith(aWhole([aComment(1)], {})).deps, ASKED));
    assert.equal(more.comments_next, '2026-01-01 1');
  });

  it('goes on with comments from where it was, and from no other place', async () => {
    const { deps, asked } = depsWith({
      ...aWhole([aComment(1)]),
      comments: { rows: [aComment(4)], after: null },
    });
    const next = whole(await wholePost(deps, { ...ASKED, comments_after: '2026-01-03 3' }));
    assert.deepEqual(asked.at(-1), ['comments', { post: 1, after: { created: '2026-01-03', id: 3 } }]);
    assert.equal((next.comment_list as { id: number }[])[0]?.id, 4);
    await assert.rejects(wholePost(deps, { ...ASKED, comments_after: '3' }), /not a comments_next/);
  });

  it('names nobody, and says where it was cut', async () => {
    const states = Array.from({ length: 61 }, (_, n) => ({
      at: `${n}`,
      votes: n,
      status: null,
      deleted: n === 60 ? 1 : 0,
    }));
    const long = aWhole([aComment(1)], null, {
      content: 'x'.repeat(4001),
      creatorIsTeam: 1,
      deleted: '2026-03-01',
    });
    long.post.states = states as never;
    const { customer_name, customer_text, by_team, ...answer } = whole(
      await wholePost(depsWith(long).deps, ASKED),
    );
    assert.match(String(customer_name), /^Person [0-9a-f]{12}$/);
    assert.deepEqual([by_team, answer.deleted, answer.edits], [true, '2026-03-01', 2]);
    assert.ok(String(customer_text).endsWith('x…') && /4001 characters/.test(String(answer.text_cut)));
    const history = answer.history as Record<string, unknown>[];
    assert.deepEqual(
      [history.length, history[0]?.votes, history.at(-1)?.deleted, 'deleted' in (history[0] ?? {})],
      [60, 1, true, false],
    );
    assert.ok('history_cut' in answer);
    const short = whole(await wholePost(depsWith(aWhole([])).deps, ASKED));
    assert.doesNotMatch(JSON.stringify(short), /kim|Kim/);
    for (const name of ['history_cut', 'text_cut', 'deleted']) assert.equal(name in short, false, name);
    await assert.rejects(wholePost(depsWith({ post: null }).deps, ASKED), /there is no post 1/);
  });
});

describe('changes for an agent', () => {
  const comment = (number: number, internal: number): Change =>
    ({
      ...{
        number,
        position: `${number}-a`,
        type: 'comment.edited',
        time: 'now',
        comment_id: 5,
        comment: { internal },
      },
      ...{
        before: { content: 'once internal', likes_count: 1 },
        after: { content: 'now public', likes_count: 2 },
      },
    }) as unknown as Change;

  function feedOf(list: Change[], head = { position: '40-x', oldest: 1 }, isLast = true) {
    const asked: [string, ChangeQuery][] = [];
    const after = (since: string, query: ChangeQuery) => {
      asked.push([since, query]);
      return { changes: list, next: '40-x', isLast };
    };
    return {
      asked,
      deps: depsWith({}, { feed: { head: () => head, after } as unknown as ToolDeps['feed'] }).deps,
    };
  }

  it('leave out comments of the team, and what a comment said before, unless asked', async () => {
    const { deps } = feedOf([comment(1, 1), comment(2, 0)]);
    const [shown, ...others] = whole(await changes(deps, { internal: false, limit: 5 })).changes as Record<
      string,
      unknown
    >[];
    assert.deepEqual(
      [shown?.number, shown?.before, shown?.after, others],
      [2, { likes_count: 1 }, { likes_count: 2 }, []],
    );
    const all = whole(await changes(deps, { internal: true, limit: 5 })).changes as Record<string, unknown>[];
    assert.deepEqual(
      all.map(({ before }) => before),
      [1, 2].map(() => ({ customer_text: 'once internal', likes_count: 1 })),
    );
  });

  it('are the newest ones where no place is given, from the oldest that is kept', async () => {
    const given = { internal: false, limit: 5, types: ['post.*'], board: 'ideas' };
    const feeds = [
      { position: '40-x', oldest: 1 },
      { position: '40-x', oldest: 38 },
      { position: '3-x', oldest: 1 },
    ].map((head) => feedOf([], head));
    for (const { deps } of feeds) await changes(deps, given);
    assert.deepEqual(
      feeds.map(({ asked }) => asked[0]?.[0]),
      ['35', '37', '0'],
    );
    assert.deepEqual(feeds[0]?.asked[0]?.[1], { limit: 5, types: ['post.*'], boards: ['ideas'] });
    const { deps, asked } = feedOf([]);
    await changes(deps, { ...given, since: '7-a' });
    assert.equal(asked[0]?.[0], '7-a');
  });

  it('go on behind the last one shown, or behind the page', async () => {
    const { deps } = feedOf([comment(1, 0), comment(2, 0)], undefined, false);
    const answer = await changes(deps, { internal: false, limit: 2 });
    const { next, more } = whole(answer);
    assert.deepEqual([next, more], ['40-x', true]);
    const { next: cut, more: rest } = answer.page(1) as Record<string, unknown>;
    assert.deepEqual([cut, rest], ['1-a', true]);
  });

  it('show words of others under names that say so, numbers of rows, and nobody’s address', async () => {
    const change = {
      ...{ number: 1, position: '1-a', type: 'post.edited', time: 'now', post_id: 9, run_id: 'x' },
      ...{ before: { title: 'Ask kim@example.com', status_id: 3 }, after: { title: 'Ask' } },
      post: { title: 'Ask kim@example.com', status: 'Open' },
      ...{ outbox: { title: 'Mine', error: 'no' }, sync: { held: 2 } },
    } as unknown as Change;
    const [shown] = whole(await changes(feedOf([change]).deps, { internal: false, limit: 2 }))
      .changes as object[];
    assert.doesNotMatch(JSON.stringify(shown), /kim/);
    const { before, post, ...rest } = shown as { before: object; post: object };
    assert.deepEqual(
      [Object.keys(before), Object.keys(post)],
      [['customer_title'], ['customer_title', 'status']],
    );
    assert.deepEqual(rest, {
      ...{ number: 1, type: 'post.edited', time: 'now', post_id: 9, after: { customer_title: 'Ask' } },
      ...{ outbox: { customer_title: 'Mine', customer_error: 'no' }, sync: { held: 2 } },
    });
  });
});

describe('a report for an agent', () => {
  it('names each customer by the pseudonym of that person, and shows no address', () => {
    const columns = ['customer', 'email', 'title', 'waited', 'posts'].map((name) => ({
      name,
      kind: name === 'waited' ? 'duration' : 'text',
    }));
    const rows = [
      { customer: 'Kim', email: 'kim@example.com', title: 'Ask kim@example.com', waited: 5, posts: 1 },
      { customer: 'Kim', email: '', title: 'Two' },
      { customer: 'Lee' },
    ];
    const facts = {
      title: 'Customers',
      since: null,
      until: 'now',
      timeZone: 'UTC',
      board: 'kim@example.com',
    };
    const result = {
      ...facts,
      columns,
      rows,
      people: [7, 8, 9],
      notes: ['of kim@example.com'],
    } as unknown as ReportResult;
    const table = reportTable(rules, result, 2) as Record<string, unknown> & { rows: unknown[][] };
    assert.doesNotMatch(JSON.stringify(table), /kim/i);
    assert.deepEqual(table.columns, ['customer_name', 'customer_email', 'customer_title', 'waited', 'posts']);
    assert.deepEqual(table.units, { waited: 'seconds' });
    assert.deepEqual(
      table.rows.map(([name]) => name),
      [7, 8].map((id) => rules.person(id, null)),
    );
    assert.deepEqual(table.rows[1]?.slice(1), [null, 'Two', null, null]);
    assert.ok('more' in table);
    assert.equal('more' in reportTable(rules, result, 3), false);
  });

  it('has as many rows as were asked for, and one more is asked for to see whether there are others', async () => {
    const report = TOOLS.find(({ name }) => name === 'report') ?? assert.fail();
    const title = 'Who speaks, by plan (--by)?';
    const result = { title, columns: [], rows: [{}, {}, {}], notes: [], board: null };
    const { deps, asked } = depsWith({ report: result, choices: { boards: [], statuses: [] } });
    const given = { name: 'top-posts', limit: 2, status: 'Open' };
    const table = (await report.run(deps, given)) as { title: string; rows: unknown[] };
    assert.equal(table.title, 'Who speaks, by plan?', 'agents have no flags');
    const { request } = (asked.at(-1) ?? assert.fail())[1] as { request: Record<string, unknown> };
    assert.deepEqual(
      [request.limit, request.status, request.now, request.timeZone],
      [3, ['Open'], clock.now(), 'Europe/Berlin'],
    );
    assert.deepEqual([table.rows.length, 'more' in table], [2, true]);
  });
});

describe('a statement of an agent', () => {
  function querying(columns: string[], rows: unknown[][], more: string | null = null) {
    const asked: QueryRequest[] = [];
    const query = async function* (request: QueryRequest) {
      asked.push(request);
      yield { kind: 'columns', columns };
      yield { kind: 'rows', rows };
      yield { kind: 'end', more };
    };
    return { asked, deps: depsWith({}, { query: query as unknown as ToolDeps['query'] }).deps };
  }

  it('runs within its limits, on the mirror as agents are shown it', async () => {
    const { deps, asked } = querying(
      ['kim@example.com'],
      [['x'.repeat(600), 2n ** 60n, Uint8Array.of(1, 2), null, 1.5]],
      'rows',
    );
    const answer = (await askSql(deps, { sql: 'SELECT 1', internal: false })) as Record<string, unknown> & {
      customer_rows: unknown[][];
    };
    assert.deepEqual(asked[0]?.shown, { key, isInternal: false });
    const { maxRows, maxBytes, maxText, maxMemoryBytes } = asked[0] ?? assert.fail();
    assert.deepEqual([maxRows, maxBytes, maxText, maxMemoryBytes], [200, 200_000, 1002, 2 ** 28]);
    assert.doesNotMatch(JSON.stringify(answer.columns), /kim/);
    assert.deepEqual(answer.customer_rows, [
      [`${'x'.repeat(500)}…`, String(2n ** 60n), '2 bytes', null, 1.5],
    ]);
    assert.ok('more' in answer);
    assert.equal('more' in (await askSql(querying([], []).deps, { sql: '', internal: false })), false);
  });

  it('that names no table of ours is told where an agent finds them', async () => {
    const failing = (error: Error): ToolDeps =>
      depsWith(
        {},
        {
          query: async function* () {
            yield* [];
            throw error;
          } as unknown as ToolDeps['query'],
        },
      ).deps;
    const deps = failing(new AppError('usage', 'no such table: zebras', { hint: SCHEMA_HINT }));
    await assert.rejects(askSql(deps, { sql: '', internal: false }), {
      message: 'no such table: zebras',
      hint: 'The resource mirror://schema lists tables and columns.',
    });
    const defect = new TypeError('a defect');
    await assert.rejects(askSql(failing(defect), { sql: '', internal: false }), defect);
  });
});

describe('a tool', () => {
  const run = async (name: string, deps: ToolDeps, given: Record<string, unknown>) =>
    (await [...TOOLS, DRAFT_POST].find((tool) => tool.name === name)?.run(deps, given)) as Record<
      string,
      unknown
    >;
  const choices = {
    boards: [
      { id: 1, slug: 'ideas', name: 'Ideas' },
      { id: 2, slug: 'kim@example.com', name: 'Bugs' },
    ],
    statuses: [{ id: 1, name: 'Open' }],
  };

  it('counts the posts of each board and status', async () => {
    const tally = [
      { board: 1, status: 1, posts: 3 },
      { board: 2, status: 1, posts: 4 },
      { board: 1, status: 2, posts: 5 },
    ];
    const { boards, statuses } = await run('boards', depsWith({ choices, tally }).deps, {});
    const [ideas, bugs] = boards as Record<string, unknown>[];
    assert.deepEqual(
      [ideas, bugs?.name, bugs?.posts],
      [{ slug: 'ideas', name: 'Ideas', posts: 8 }, 'Bugs', 4],
    );
    assert.doesNotMatch(String(bugs?.slug), /kim/);
    assert.deepEqual(statuses, [{ name: 'Open', posts: 7 }]);
  });

  it('finds posts like another or like a text, and says whether there are more', async () => {
    const similar = [1, 2, 3].map((id) => aLine(id, { likeness: 0.876, isSame: id === 1 }));
    const { deps, asked } = depsWith({ similar });
    const { posts, more } = await run('similar_posts', deps, { text: 'Dark', limit: 2 });
    assert.deepEqual(asked[0], [
      'similar',
      { about: { title: 'Dark', content: '' }, limit: 3, isInAddresses: false },
    ]);
    const [first, second] = posts as Record<string, unknown>[];
    assert.deepEqual(
      [first?.similarity, first?.marked_as_same, second?.marked_as_same],
      [0.88, true, undefined],
    );
    assert.deepEqual([(posts as unknown[]).length, more !== undefined], [2, true]);
    assert.equal('more' in (await run('similar_posts', deps, { id: 7, limit: 3 })), false);
    assert.equal(asked.at(-1)?.[1].about, 7);
    for (const given of [{ limit: 2 }, { id: 7, text: 'Dark', limit: 2 }])
      await assert.rejects(run('similar_posts', deps, given), /either an id or a text/);
    await assert.rejects(
      run('similar_posts', depsWith({ similar: null }).deps, { id: 7, limit: 2 }),
      /no post 7/,
    );
  });

  it('proposes what a person can see, to a board that there is, and only where it may', async () => {
    const proposed: unknown[] = [];
    const row = {
      id: 4,
      state: 'proposed',
      board: 'ideas',
      title: 'A wish',
      post_id: null,
      last_error: null,
    };
    const propose = (draft: unknown): OutboxRow => {
      proposed.push(draft);
      return row as unknown as OutboxRow;
    };
    const { deps } = depsWith({ choices }, { drafts: { propose } });
    const given = { board: 'Ideas', title: ' A\u200b  wish ', content: ' for\u202e more ' };
    const { note } = await run('draft_post', deps, given);
    assert.deepEqual(proposed, [{ board: 'ideas', title: 'A wish', content: 'for more' }]);
    assert.match(String(note), /a person has to approve it/);
    await assert.rejects(
      run('draft_post', deps, { ...given, board: 'zebras' }),
      /there is no board "zebras"/,
    );
    await assert.rejects(run('draft_post', depsWith({ choices }).deps, given), /may only read/);
    assert.equal(proposed.length, 1);
  });

  it('refuses a filter that its report does not have, and asks for the post that it needs', async () => {
    const { deps, asked } = depsWith({ choices });
    await assert.rejects(
      run('report', deps, { name: 'funnel', limit: 5 }),
      /limit means nothing to the report funnel/,
    );
    await assert.rejects(run('report', deps, { name: 'post-votes' }), /needs the id of a post/);
    await assert.rejects(run('outbox_row', { ...deps, row: () => null }, { id: 3 }), /no row 3/);
    assert.deepEqual(asked, []);
  });
});

describe('a row of the outbox for an agent', () => {
  it('shows its post, or why there is none', () => {
    const row = { id: 1, state: 'confirmed', board: 'ideas', title: 'Mine', created_at: '', changed_at: '' };
    const sent = { ...row, post_id: 5, url: '/p/5', last_error: 'once' } as unknown as OutboxRow;
    const facts = rowFacts(rules, sent) as Record<string, unknown>;
    assert.deepEqual(
      [facts.post_id, facts.url, 'customer_last_error' in facts],
      [5, 'https://upstream.test/p/5', false],
    );
    assert.equal((rowFacts(rules, { ...sent, url: null }) as { url: null }).url, null);
    const kept = rowFacts(rules, { ...sent, post_id: null, last_error: 'kim@example.com' }) as Record<
      string,
      unknown
    >;
    assert.deepEqual(['post_id' in kept, 'url' in kept], [false, false]);
    assert.equal(kept.customer_last_error, 'address@redacted.invalid');
  });
});
