import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { spawnCli } from '../support/cli.ts';
import { until } from '../support/until.ts';
import { type Agent, agentOnStdio, type Mirrored, mirrored } from './agent.ts';

interface Listed {
  posts: { id: number; votes: number; customer_title: string }[];
}

describe('the tools for assistants on stdio, driven by the official client', () => {
  let mirror: Mirrored;
  let agent: Agent;
  let discussed: { post: number; said: number[] };
  before(async () => {
    mirror = await mirrored({ posts: 60, seed: 7 });
    const { world } = mirror.sandbox;
    // More than fits into one answer; after the first sweep, so that the change feed tells of them.
    const post = world.addPost({ title: 'Much discussed' }).id;
    const said = Array.from({ length: 60 }, (_, n) =>
      world.addComment({ post, content: `${n} ${'語'.repeat(700)}`, internal: n % 10 === 9 }),
    );
    discussed = { post, said: said.filter(({ internal }) => !internal).map(({ id }) => id) };
    await mirror.cli('sync');
    agent = await agentOnStdio(mirror.env);
  });
  after(async () => {
    await agent?.close();
    await mirror?.close();
  });

  it('only read unless told otherwise, each with a schema and an example', async () => {
    const { tools } = await agent.client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['search', 'get_post', 'similar_posts', 'report', 'changes', 'sql', 'boards', 'outbox_row'],
    );
    for (const { name, description, annotations, inputSchema } of tools) {
      assert.match(description ?? '', /Examples?: \{/, name);
      assert.equal(annotations?.readOnlyHint, true, name);
      assert.equal(inputSchema.type, 'object', name);
    }
  });

  it('refuse an argument that they do not know, instead of answering something else', async () => {
    const { tools } = await agent.client.listTools();
    for (const { name, inputSchema } of tools) assert.equal(inputSchema.additionalProperties, false, name);
    const { isError, content } = await agent.call('search', { query: 'export' });
    assert.equal(isError, true);
    assert.match(content[0]?.text ?? '', /query/);
  });

  it('answer from the mirror', async () => {
    const { boards } = await agent.answer<{ boards: { posts: number }[] }>('boards');
    const { posts } = await agent.answer<Listed>('search', { sort: 'votes', limit: 3 });
    const top = posts[0];
    const { customer_rows: rows } = await agent.answer<{ customer_rows: number[][] }>('sql', {
      sql: 'SELECT max(votes_count), count(*) FROM live_posts',
    });
    assert.deepEqual(rows, [[top?.votes, boards.reduce((sum, board) => sum + board.posts, 0)]]);
    const post = await agent.answer<{ votes: number; history: unknown[] }>('get_post', { id: top?.id });
    assert.equal(post.votes, top?.votes);
    assert.ok(post.history.length > 0);
    const report = await agent.answer<{ rows: unknown[][] }>('report', { name: 'top-posts', limit: 3 });
    assert.equal(report.rows[0]?.[0], top?.id);
    assert.ok((await agent.answer<Listed>('similar_posts', { id: top?.id })).posts);
    assert.ok((await agent.answer<{ changes: unknown[] }>('changes')).changes);
    const [word = ''] = /\p{L}{4,}/u.exec(top?.customer_title ?? '') ?? [];
    const found = await agent.answer<Listed>('search', { text: word, limit: 50 });
    assert.ok(found.posts.some(({ id }) => id === top?.id));
  });

  it('page through the comments of a post, without those of the team among themselves', async () => {
    const { customer_rows: rows } = await agent.answer<{ customer_rows: number[][] }>('sql', {
      sql: 'SELECT post_id, count(*) - sum(internal) FROM live_comments GROUP BY 1 ORDER BY 2 DESC LIMIT 1',
    });
    const [[id, visible] = []] = rows;
    const ids: number[] = [];
    for (let after: string | undefined; ; ) {
      const args = { id, comments: 2, ...(after ? { comments_after: after } : {}) };
      const page = await agent.answer<{ comment_list: { id: number }[]; comments_next?: string }>(
        'get_post',
        args,
      );
      ids.push(...page.comment_list.map((comment) => comment.id));
      after = page.comments_next;
      if (!after) break;
    }
    assert.equal(new Set(ids).size, visible);
  });

  it('leave no row out between two pages where an answer was cut to fit', async () => {
    const comments: number[] = [];
    for (let next: string | undefined, isCut = false; ; ) {
      const page = await agent.answer<{
        comment_list: { id: number }[];
        comments_next?: string;
        cut?: string;
      }>('get_post', { id: discussed.post, comments: 50, ...(next ? { comments_after: next } : {}) });
      comments.push(...page.comment_list.map(({ id }) => id));
      next = page.comments_next;
      isCut ||= page.cut !== undefined;
      if (next) continue;
      assert.ok(isCut);
      break;
    }
    assert.deepEqual(comments, discussed.said);
    const { customer_rows: rows, more } = await agent.answer<{ customer_rows: string[][]; more?: string }>(
      'sql',
      {
        sql: "SELECT replace(hex(zeroblob(50000)), '0', 'x') FROM live_posts LIMIT 40",
      },
    );
    assert.deepEqual([rows.length, rows[0]?.[0]?.length, more], [40, 501, undefined]);
    const pages = async (limit: number): Promise<number[]> => {
      const numbers: number[] = [];
      for (let since = '0', isMore = true; isMore; ) {
        const page = await agent.answer<{ changes: { number: number }[]; next: string; more: boolean }>(
          'changes',
          { since, limit },
        );
        numbers.push(...page.changes.map(({ number }) => number));
        [since, isMore] = [page.next, page.more];
      }
      return numbers;
    };
    assert.deepEqual(await pages(200), await pages(25));
  });

  it('say in words what is wrong with a call, and go on', async () => {
    for (const [name, args, words] of [
      ['get_post', { id: 999_999 }, /no post 999999/],
      ['get_post', { id: 'one' }, /expected number/],
      ['get_post', {}, /id/],
      ['sql', { sql: 'DELETE FROM posts' }, /only reading|cannot modify/],
      ['sql', { sql: 'SELECT * FROM main.users' }, /main\.users.*mirror:\/\/schema/],
      ['similar_posts', {}, /either an id or a text/],
      ['search', { status: 'No such thing' }, /No such thing/],
      ['search', { text: 'x', limit: 5000 }, /50/],
      ['changes', { since: 'yesterday' }, /no position/],
      ['report', { name: 'demand' }, /no customers were imported yet/],
      [
        'report',
        { name: 'boards', limit: 3 },
        /^limit means nothing to the report boards\. It takes segment, since, until, delivered\.$/,
      ],
      ['report', { name: 'post-votes' }, /^the report post-votes needs the id of a post/],
      ['sql', { sql: 'SELECT before FROM live_posts' }, /no such column: before\. The resource/],
    ] as const) {
      const { isError, content } = await agent.call(name, args);
      assert.equal(isError, true, name);
      assert.match(content[0]?.text ?? '', words);
    }
    assert.ok((await agent.answer('boards')).boards);
  });

  it('log every call with its tool, time and sizes, and nothing of what was said', async () => {
    await agent.answer('search', { text: 'zebra quokka' });
    await agent.call('search', { text: 'zebra', limit: -1 });
    const called = (): string[] =>
      agent
        .log()
        .split('\n')
        .slice(0, -1)
        .filter((line) => line.includes('mcp.called'));
    // The log comes another way than the answers.
    await until('a line for every call', () => called().length >= agent.calls.length);
    const lines = called();
    const last = lines.slice(-2).map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      last.map(({ tool, outcome }) => [tool, outcome]),
      [
        ['search', 'answered'],
        ['search', 'usage'],
      ],
    );
    for (const { ms, asked, told } of last)
      for (const number of [ms, asked, told]) assert.equal(typeof number, 'number');
    assert.equal(lines.length, agent.calls.length);
    assert.doesNotMatch(agent.log(), /zebra|quokka/);
  });

  it('bring the schema, the words and the reports as resources, and three prompts', async () => {
    const { resources } = await agent.client.listResources();
    assert.deepEqual(
      resources.map(({ uri }) => uri),
      ['mirror://schema', 'mirror://glossary', 'mirror://reports'],
    );
    for (const { uri } of resources) {
      const { contents } = await agent.client.readResource({ uri });
      assert.ok(String(Reflect.get(contents[0] ?? {}, 'text')).length > 500, uri);
    }
    const { prompts } = await agent.client.listPrompts();
    assert.deepEqual(
      prompts.map(({ name }) => name),
      ['weekly-triage', 'release-note-check', 'duplicate-hunt'],
    );
    const asked = { name: 'weekly-triage', arguments: { board: 'mobile' } };
    assert.match(
      JSON.stringify((await agent.client.getPrompt(asked)).messages),
      /the board \\+"mobile\\+" only/,
    );
  });

  it('answer what is no JSON, no message or nested too deep, log it, and go on', async () => {
    const child = spawnCli(['mcp'], { env: mirror.env });
    const lines: { id?: number; error?: { code: number } }[] = [];
    const log: Record<string, unknown>[] = [];
    createInterface({ input: child.stdout }).on('line', (line) =>
      lines.push(JSON.parse(line) as (typeof lines)[0]),
    );
    createInterface({ input: child.stderr }).on('line', (line) => log.push(JSON.parse(line)));
    child.stdin.write('no JSON\n\n{"jsonrpc": "1.0", "id": 1, "method": "ping"}\n');
    await until('two answers', () => lines.length >= 2);
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const params = `{"name": "search", "arguments": {"text": ${deep}}}`;
    child.stdin.write(`{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": ${params}}\n`);
    await until('three answers', () => lines.length >= 3);
    child.stdin.write('{"jsonrpc": "2.0", "id": 3, "method": "ping"}\n');
    await until('four answers', () => lines.length >= 4);
    await until('three lines of the log', () => log.length >= 3);
    child.stdin.end();
    const told = lines.map(({ id, error }) => error?.code ?? id);
    assert.deepEqual(told, [-32_700, -32_600, -32_700, 3]);
    assert.deepEqual(
      log.map(({ event }) => event),
      ['mcp.refused', 'mcp.refused', 'mcp.refused'],
    );
  });

  it('refuse a message of more than 1 MB, log its size, and go on', async () => {
    const child = spawnCli(['mcp'], { env: mirror.env });
    const answers: { id?: number; error?: { code: number; message: string } }[] = [];
    const log: Record<string, unknown>[] = [];
    const read = (stream: Readable, into: unknown[]): unknown =>
      createInterface({ input: stream }).on('line', (line) => into.push(JSON.parse(line)));
    read(child.stdout, answers);
    read(child.stderr, log);
    child.stdin.write(`${'zebra'.repeat(500_000)}\n`);
    child.stdin.write('{"jsonrpc": "2.0", "id": 8, "method": "ping"}\n');
    await until('two answers', () => answers.length === 2);
    await until('a line of the log', () => log.length === 1);
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    child.stdin.end();
    assert.equal(await ended, 0);
    assert.deepEqual(
      answers.map(({ id, error }) => [id, error?.code]),
      [
        [undefined, -32_700],
        [8, undefined],
      ],
    );
    assert.match(answers[0]?.error?.message ?? '', /at most 1048576 bytes/);
    assert.deepEqual([log[0]?.event, log[0]?.asked], ['mcp.refused', 2_500_001]);
    assert.doesNotMatch(JSON.stringify([answers, log]), /zebra/);
  });

  it('end with their client without a word on stdout', async () => {
    const child = spawnCli(['mcp'], { env: mirror.env });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    child.stdin.end('x'.repeat(1_100_000));
    assert.equal(await ended, 0);
    assert.equal(out, '');
  });
});
