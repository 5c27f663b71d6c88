import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { World } from '../laboratory/server.ts';
import { type Agent, agentOnStdio, type Mirrored, mirrored } from './agent.ts';

interface Listed {
  posts: { id: number; votes: number; comments: number; status: string; customer_title: string }[];
}
interface Table {
  columns: string[];
  rows: (string | number)[][];
}
interface Changes {
  changes: {
    post_id: number;
    type: string;
    before: Record<string, unknown>;
    after: Record<string, unknown>;
  }[];
}

/** A question of a person, how an agent finds the answer, and the answer as the service itself knows it. */
interface Question {
  asks: string;
  find(agent: Agent): Promise<unknown>;
  known(world: World): unknown;
}

/** The first row. */
const sql = async (agent: Agent, text: string): Promise<unknown[]> =>
  (await agent.answer<{ customer_rows: unknown[][] }>('sql', { sql: text })).customer_rows[0] ?? [];
const search = (agent: Agent, args: object) => agent.answer<Listed>('search', { ...args });
const most = <T>(rows: readonly T[], by: (row: T) => number): T | undefined =>
  rows.toSorted((a, b) => by(b) - by(a))[0];
const ascending = (a: number, b: number): number => a - b;
const PLANTED = { ids: { offline: 0, again: 0, comment: 0, moved: 0 } };

const QUESTIONS: readonly Question[] = [
  {
    asks: 'What do customers want most?',
    find: async (agent) => (await search(agent, { sort: 'votes', limit: 1 })).posts[0]?.id,
    known: (world) => most(world.posts(), ({ votes_count }) => votes_count)?.id,
  },
  {
    asks: 'And did we ship it?',
    async find(agent) {
      const [top] = (await search(agent, { sort: 'votes', limit: 1 })).posts;
      return (await agent.answer<{ status: string }>('get_post', { id: top?.id })).status;
    },
    known: (world) => most(world.posts(), ({ votes_count }) => votes_count)?.status.name,
  },
  {
    asks: 'How many posts are on each board?',
    async find(agent) {
      const { boards } = await agent.answer<{ boards: { slug: string; posts: number }[] }>('boards');
      return Object.fromEntries(boards.map(({ slug, posts }) => [slug, posts]));
    },
    known: (world) =>
      Object.fromEntries(
        world
          .boards()
          .map(({ id, slug }) => [slug, world.posts().filter(({ board }) => board.id === id).length]),
      ),
  },
  {
    asks: 'How many posts are planned?',
    async find(agent) {
      const { statuses } = await agent.answer<{ statuses: { name: string; posts: number }[] }>('boards');
      return statuses.find(({ name }) => name === 'Planned')?.posts;
    },
    known: (world) => world.posts().filter(({ status }) => status.name === 'Planned').length,
  },
  {
    asks: 'Which planned post has the most votes?',
    find: async (agent) => (await search(agent, { sort: 'votes', status: 'Planned', limit: 1 })).posts[0]?.id,
    known: (world) =>
      most(
        world.posts().filter(({ status }) => status.name === 'Planned'),
        ({ votes_count }) => votes_count,
      )?.id,
  },
  {
    asks: 'Which post is discussed the most, and how much?',
    find: async (agent) => (await search(agent, { sort: 'comments', limit: 1 })).posts[0]?.comments,
    known: (world) => most(world.posts(), ({ comments_count }) => comments_count)?.comments_count,
  },
  {
    asks: 'Has anybody asked for maps without a connection?',
    find: async (agent) =>
      (await search(agent, { text: '"offline maps"' })).posts.map(({ id }) => id).sort(ascending),
    known: () => [PLANTED.ids.offline, PLANTED.ids.again].sort(ascending),
  },
  {
    asks: 'Under which post does somebody mention a stapler?',
    find: async (agent) => (await search(agent, { text: 'stapler' })).posts.map(({ id }) => id),
    known: () => [PLANTED.ids.comment],
  },
  {
    asks: 'Is there a duplicate of the wish for offline maps?',
    async find(agent) {
      const [first] = (await search(agent, { text: '"offline maps in the field"' })).posts;
      const { posts } = await agent.answer<Listed>('similar_posts', { id: first?.id, limit: 1 });
      return posts[0]?.id;
    },
    known: () => PLANTED.ids.again,
  },
  {
    asks: 'Before I write "download maps to use them offline": is it there already?',
    async find(agent) {
      const { posts } = await agent.answer<Listed>('similar_posts', {
        text: 'download offline maps in the field',
        limit: 2,
      });
      return posts.map(({ id }) => id).sort(ascending);
    },
    known: () => [PLANTED.ids.offline, PLANTED.ids.again].sort(ascending),
  },
  {
    asks: 'Which posts got another status lately, and which?',
    async find(agent) {
      const { changes } = await agent.answer<Changes>('changes', { types: ['post.status_changed'] });
      return changes.map(({ post_id, after: now }) => [post_id, now.status]);
    },
    known: (world) => [[PLANTED.ids.moved, world.post(PLANTED.ids.moved).status.name]],
  },
  {
    asks: 'How many votes did the wish for offline maps gain since?',
    async find(agent) {
      const [first] = (await search(agent, { text: '"offline maps in the field"' })).posts;
      const { history } = await agent.answer<{ history: { votes: number }[] }>('get_post', { id: first?.id });
      return (history.at(-1)?.votes ?? 0) - (history[0]?.votes ?? 0);
    },
    known: () => 5,
  },
  {
    asks: 'What was the stapler post called before it was renamed?',
    async find(agent) {
      const { changes } = await agent.answer<Changes>('changes', { types: ['post.edited'] });
      return changes[0]?.before.customer_title;
    },
    known: () => 'Old name of it',
  },
  {
    asks: 'What came in last?',
    find: async (agent) => (await search(agent, { sort: 'newest', limit: 1 })).posts[0]?.id,
    known: (world) => world.posts().toSorted((a, b) => (a.created < b.created ? 1 : -1))[0]?.id,
  },
  {
    asks: 'How many posts were written in the second quarter of 2025?',
    find: (agent) =>
      sql(
        agent,
        "SELECT count(*) FROM live_posts WHERE created >= '2025-04-01' AND created < '2025-07-01'",
      ).then(([n]) => n),
    known: (world) =>
      world.posts().filter(({ created }) => created >= '2025-04-01' && created < '2025-07-01').length,
  },
  {
    asks: 'How many votes are there in all?',
    async find(agent) {
      const { rows } = await agent.answer<Table>('report', { name: 'boards' });
      return rows.reduce((sum, row) => sum + Number(row[2]), 0);
    },
    known: (world) => world.posts().reduce((sum, { votes_count }) => sum + votes_count, 0),
  },
  {
    asks: 'How many of them are on posts that we delivered?',
    async find(agent) {
      const { columns, rows } = await agent.answer<Table>('report', {
        name: 'delivered',
        delivered: ['Completed'],
      });
      return Math.max(...rows.map((row) => Number(row[columns.indexOf('delivered_votes')])));
    },
    known: (world) =>
      world
        .posts()
        .filter(({ status }) => status.name === 'Completed')
        .reduce((sum, { votes_count }) => sum + votes_count, 0),
  },
  {
    asks: 'How many posts did the most active customer write?',
    find: (agent) =>
      sql(
        agent,
        'SELECT creator, count(*) AS n FROM live_posts GROUP BY creator_id ORDER BY n DESC LIMIT 1',
      ).then(([name, n]) => [String(name).startsWith('Person '), n]),
    known(world) {
      const counts = Map.groupBy(world.posts(), ({ creator }) => creator.id);
      return [true, Math.max(...[...counts.values()].map((posts) => posts.length))];
    },
  },
  {
    asks: 'How many comments did the team write for all to see?',
    find: (agent) =>
      sql(agent, 'SELECT count(*) FROM live_comments WHERE creator_is_team AND NOT internal').then(
        ([n]) => n,
      ),
    known: (world) => world.comments().filter(({ creator, internal }) => creator.is_team && !internal).length,
  },
  {
    asks: 'What became of the post that I put into the outbox?',
    find: async (agent) => (await agent.answer<{ state: string }>('outbox_row', { id: 1 })).state,
    known: () => 'ready',
  },
];

describe('twenty questions', () => {
  let mirror: Mirrored;
  let agent: Agent;
  before(async () => {
    mirror = await mirrored({ posts: 300, seed: 11 }, async ({ world }) => {
      const wish = { content: 'We need offline maps in the field, please let us download them.', votes: 7 };
      const { ids } = PLANTED;
      ids.offline = world.addPost({ title: 'Offline maps in the field', ...wish }).id;
      ids.again = world.addPost({
        title: 'Download maps: offline maps',
        ...wish,
        content: `${wish.content} Thanks.`,
      }).id;
      ids.comment = world.addPost({ title: 'Old name of it', content: 'Nothing.' }).id;
      ids.moved = world.posts()[0]?.id ?? 0;
      world.addComment({ post: ids.comment, content: 'Also for my stapler.', internal: false });
      world.addComment({ post: ids.moved, content: 'Do not tell: stapler.', internal: true });
    });
    const { world } = mirror.sandbox;
    const { ids } = PLANTED;
    world.editPost(ids.offline, { votes: 12 });
    world.editPost(ids.comment, { title: 'New name of it' });
    const now = world.post(ids.moved).status.name;
    const other = world.statuses().find(({ name }) => name !== now);
    world.setStatus(ids.moved, other?.id ?? 0);
    await mirror.cli('sync');
    await mirror.cli('create', '--board', 'bugs', '--title', 'Mine');
    agent = await agentOnStdio(mirror.env);
  });
  after(async () => {
    await agent?.close();
    await mirror?.close();
  });

  for (const { asks, find, known } of QUESTIONS)
    it(`${asks} An agent finds out in three calls at most`, async (t) => {
      const began = agent.calls.length;
      assert.deepEqual(await find(agent), known(mirror.sandbox.world));
      const calls = agent.calls.slice(began);
      assert.ok(calls.length <= 3);
      t.diagnostic(calls.join(', '));
    });
});
