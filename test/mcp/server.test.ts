import assert from 'node:assert/strict';
import { copyFileSync, renameSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { createLogger } from '../../src/base/log.ts';
import { openReading, type Reading } from '../../src/http/dashboard/reading.ts';
import type { Drafts, ToolHandles } from '../../src/mcp/answers.ts';
import type { AgentLimits } from '../../src/mcp/limits.ts';
import { unlessReplaced } from '../../src/mcp/open.ts';
import { mcpServers } from '../../src/mcp/server.ts';
import { textRules } from '../../src/mcp/text.ts';
import type { OutboxRow } from '../../src/outbox/decide/types.ts';
import { SORTS } from '../../src/search/browse/browse.ts';
import { UPSTREAM as SHELF, shelfOf } from '../search/shelf.ts';
import { fakeClock } from '../support/clock.ts';
import { openTestMirror } from '../support/mirror.ts';
import { aPost } from '../support/rows.ts';
import { until } from '../support/until.ts';

type Line = Record<string, unknown>;

interface Given extends Partial<ToolHandles> {
  limits?: Partial<AgentLimits>;
  key?: Uint8Array;
}

/** A server with a client beside it and no mirror behind it: only what reads boards is there, and what is given. */
async function connected(
  ask: (signal?: AbortSignal) => Promise<unknown>,
  { limits = {}, key, ...given }: Given = {},
) {
  const lines: Line[] = [];
  const log = createLogger({
    level: 'debug',
    format: 'json',
    secrets: () => [],
    destination: { write: (line: string) => void lines.push(JSON.parse(line) as Line) },
  });
  const clock = fakeClock();
  const rules = textRules({ key: key ?? null, upstream: null });
  const handles = {
    ask: (_name: string, _request: unknown, signal?: AbortSignal) => ask(signal),
    drafts: null,
    ...given,
  } as unknown as ToolHandles;
  const facts = { rules, key: key ?? null, clock, timeZone: 'UTC', usualDelivered: null };
  const server = mcpServers({
    use: (work) => work(handles),
    facts,
    hasDrafts: false,
    log,
    version: '1',
    limits,
  })();
  const client = new Client({ name: 'a test', version: '1' });
  const [here, there] = InMemoryTransport.createLinkedPair();
  await server.connect(there);
  await client.connect(here);
  return { client, lines, here };
}

describe('a server for agents', () => {
  it('says of a resource that there is none only where it has looked', async () => {
    const { client } = await connected(() => Promise.reject(new Error()), { limits: { callsAMinute: 1 } });
    await assert.rejects(client.readResource({ uri: 'mirror://zebra' }), /not found/i);
    await assert.rejects(client.readResource({ uri: 'mirror://zebra' }), /more than 1 calls in a minute/);
    await client.close();
  });
});

describe('a mirror that was replaced', () => {
  it('is not read by the tools that have the old file open', (t) => {
    const mirror = openTestMirror();
    t.after(() => mirror.dispose());
    const check = unlessReplaced(mirror.path);
    check();
    copyFileSync(mirror.path, `${mirror.path}.copy`);
    renameSync(`${mirror.path}.copy`, mirror.path);
    assert.throws(check, /replaced by another file/);
  });
});

describe('the log of a server for agents', () => {
  it('has a line for every call, also of what there is not or what is not allowed, and no name but ours', async () => {
    const { client, lines } = await connected(() => Promise.reject(new Error('a defect')));
    const { isError, content } = await client.callTool({
      name: 'draft_post',
      arguments: { board: 'ideas', title: 'A wish of zebras' },
    });
    assert.equal(isError, true);
    assert.match(JSON.stringify(content), /may only read/);
    await client.callTool({ name: 'boards', arguments: {} });
    for (const name of ['zebra', '__proto__', 'constructor'])
      await assert.rejects(client.callTool({ name, arguments: { zebra: 1 } }), /no such tool/);
    await client.readResource({ uri: 'mirror://glossary' });
    await assert.rejects(client.readResource({ uri: 'mirror://zebra' }));
    await client.getPrompt({ name: 'weekly-triage', arguments: { board: 'zebras' } });
    await assert.rejects(client.getPrompt({ name: 'zebra' }), /no such prompt/);
    const called = lines.filter(({ event }) => event === 'mcp.called');
    assert.deepEqual(
      called.map(({ tool, resource, prompt, outcome }) => [tool ?? resource ?? prompt, outcome]),
      [
        ['draft_post', 'usage'],
        ['boards', 'internal'],
        ...Array.from({ length: 3 }, () => ['unknown', 'usage']),
        ['glossary', 'answered'],
        ['unknown', 'usage'],
        ['weekly-triage', 'answered'],
        ['unknown', 'usage'],
      ],
    );
    for (const { ms, asked, told } of called)
      for (const number of [ms, asked, told]) assert.equal(typeof number, 'number');
    assert.doesNotMatch(JSON.stringify(lines), /zebra/);
    await client.close();
  });

  it('calls what a client called off by that name, and not an error, and says nothing of why', async () => {
    const asked = Promise.withResolvers<void>();
    const { client, lines } = await connected(async (signal) => {
      asked.resolve();
      return await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    });
    const calling = new AbortController();
    const call = client.callTool({ name: 'boards', arguments: {} }, { signal: calling.signal });
    await asked.promise;
    calling.abort('zebra words of a person');
    await assert.rejects(call);
    await until('a line', () => lines.length > 0);
    await client.close();
    assert.deepEqual(
      lines.map(({ level, tool, outcome }) => [level, tool, outcome]),
      [[30, 'boards', 'cancelled']],
    );
    assert.doesNotMatch(JSON.stringify(lines), /zebra/);
  });
});

describe('what a tool tells', () => {
  const key = new Uint8Array(32);

  it('lets an agent name a board and a status as they were shown, with pseudonyms and without what nobody sees', async () => {
    const board = { id: 1, slug: 'kim', name: 'Of kim@corp.example' };
    const status = { id: 2, name: 'Ask lee@corp.example' };
    const unseen = { id: 3, name: 'Ship\u200bped\u0000' };
    const choices = { boards: [board], statuses: [status, unseen] };
    const filters: unknown[] = [];
    const ask = async (name: string, request: unknown): Promise<unknown> => {
      if (name === 'choices') return choices;
      if (name === 'tally') return [];
      filters.push(request);
      return { rows: [], total: { posts: 0, isMore: false } };
    };
    const proposed: unknown[] = [];
    const propose: Drafts['propose'] = (draft) => {
      proposed.push(draft);
      return { ...ROW, board: draft.board };
    };
    const asked = { key, ask: ask as unknown as ToolHandles['ask'], drafts: { propose } };
    const { client } = await connected(() => Promise.resolve(), asked);
    const shown = (await client.callTool({ name: 'boards', arguments: {} })).structuredContent as {
      boards: { name: string }[];
      statuses: { name: string }[];
    };
    const named = { board: shown.boards[0]?.name ?? '', status: shown.statuses[0]?.name ?? '' };
    assert.doesNotMatch(JSON.stringify(shown), /corp/);
    await client.callTool({ name: 'search', arguments: named });
    assert.partialDeepStrictEqual(filters, [{ filter: { board: [board.name], status: [status.name] } }]);
    assert.equal(shown.statuses[1]?.name, 'Shipped');
    await client.callTool({ name: 'search', arguments: { status: 'shipped' } });
    assert.partialDeepStrictEqual(filters[1], { filter: { board: [], status: [unseen.name] } });
    await client.callTool({ name: 'draft_post', arguments: { board: named.board, title: 'A wish' } });
    assert.deepEqual(proposed, [{ board: 'kim', title: 'A wish', content: '' }]);
    await client.close();
  });

  it('says that there is more, and how to go on', async (t) => {
    const creator = { ...aPost(1).creator, is_team: false, is_admin: false };
    const posts = Array.from({ length: 60 }, (_, i) =>
      aPost(i + 1, {
        creator,
        title: `Zeppelin ${i}`,
        votes_count: i % 7,
        content: 'word '.repeat(i === 1 ? 1001 : 100),
      }),
    );
    const { path } = await shelfOf(t, posts);
    const reading = openReading({ path, upstream: SHELF });
    t.after(() => reading.close());
    const ask = ((name: keyof Reading, request: never) => reading[name](request)) as ToolHandles['ask'];
    const { client } = await connected(() => Promise.resolve(), { ask, key });
    const call = async (name: string, args: object) => {
      const { structuredContent, content } = await client.callTool({ name, arguments: { ...args } });
      assert.ok(structuredContent, JSON.stringify(content));
      return structuredContent as {
        posts: { id: number; customer_text: string }[];
        next?: string;
        more?: string;
      };
    };
    const walk = async (args: object) => {
      const ids: number[] = [];
      let page = await call('search', args);
      for (; page.next; page = await call('search', { ...args, after: page.next }))
        ids.push(...page.posts.map(({ id }) => id));
      return { ids: [...ids, ...page.posts.map(({ id }) => id)], more: page.more };
    };
    const all = posts.map(({ id }) => id);
    for (const sort of SORTS) {
      const { ids, more } = await walk({ sort, limit: 25 });
      assert.deepEqual([ids.toSorted((a, b) => a - b), more], [all, undefined], sort);
    }
    const found = await walk({ text: 'zeppelin', limit: 20 });
    assert.equal(new Set(found.ids).size, 50);
    assert.match(found.more ?? '', /^only the 50 most relevant/);
    assert.deepEqual(await walk({ text: '"zeppelin 7"', limit: 5 }), { ids: [8], more: undefined });
    assert.match((await call('similar_posts', { id: 1, limit: 3 })).more ?? '', /larger limit/);
    assert.match((await call('report', { name: 'top-posts', limit: 3 })).more ?? '', /more rows/);
    assert.equal((await call('report', { name: 'top-posts', limit: 60 })).more, undefined);
    assert.match((await call('search', {})).posts[0]?.customer_text ?? '', /^(word )*word…$/);
    const cut = (await call('get_post', { id: 2 })) as { text_cut?: string };
    assert.match(cut.text_cut ?? '', /^it has 5005 characters: substr\(content, n, 500\)/);
    const shown = (await call('get_post', { id: 3 })) as { text_cut?: string; customer_name?: string };
    assert.equal(shown.text_cut, undefined);
    const asked = (await call('report', { name: 'requests', since: '2000-01-01' })) as { rows?: string[][] };
    assert.equal(asked.rows?.[0]?.[0], shown.customer_name, 'a person has one name in every tool');
    const { content } = await client.callTool({ name: 'search', arguments: { sort: 'votes', after: 'x 1' } });
    assert.match(JSON.stringify(content), /after is not the next/);
    for (const wrong of [{ since: 'someday' }, { status: 'Nowhere' }]) {
      const { content: told } = await client.callTool({ name: 'search', arguments: wrong });
      assert.match(JSON.stringify(told), /"(since \\"someday|status: there)/);
    }
    await client.close();
  });

  it('says why a row was not sent, without addresses and as what others wrote', async () => {
    const row = (): OutboxRow => ({ ...ROW, state: 'rejected', last_error: 'no user kim@corp.example' });
    const { client } = await connected(() => Promise.resolve(), { key, row });
    const { structuredContent } = await client.callTool({ name: 'outbox_row', arguments: { id: 1 } });
    const { customer_last_error: error } = structuredContent as { customer_last_error: string };
    assert.equal(error, 'no user address@redacted.invalid');
    await client.close();
  });

  it('says so where another program has locked the mirror', async () => {
    const locked = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
    const { client, lines } = await connected(() => Promise.reject(locked));
    const { isError, content } = await client.callTool({ name: 'boards', arguments: {} });
    assert.equal(isError, true);
    assert.match(JSON.stringify(content), /another program has locked a database/);
    assert.deepEqual(
      lines.map(({ outcome }) => outcome),
      ['busy'],
    );
    await client.close();
  });
});

const ROW = {
  id: 1,
  state: 'proposed',
  board: 'kim',
  title: 'A wish',
  post_id: null,
  url: null,
  last_error: null,
} as OutboxRow;
