import assert from 'node:assert/strict';
import { copyFileSync, renameSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { createLogger } from '../../src/base/log.ts';
import type { ToolHandles } from '../../src/mcp/answers.ts';
import type { AgentLimits } from '../../src/mcp/limits.ts';
import { refuseIfReplaced } from '../../src/mcp/open.ts';
import { mcpServers } from '../../src/mcp/server.ts';
import { textRules } from '../../src/mcp/text.ts';
import { fakeClock } from '../support/clock.ts';
import { openTestMirror } from '../support/mirror.ts';
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
    const check = refuseIfReplaced(mirror.path);
    check();
    copyFileSync(mirror.path, `${mirror.path}.copy`);
    renameSync(`${mirror.path}.copy`, mirror.path);
    assert.throws(check, /replaced by another file/);
  });
});

const AT = '2026-05-01T00:00:00.000Z';

describe('posts like one', () => {
  it('are as many as were asked for, and the answer says where there are others', async () => {
    const facts = { id: 1, title: 'Maps', url: '', board: 'Ideas', status: 'Open', created: AT };
    const post = { ...facts, votes: 1, comments: 0, likeness: 0.5, isSame: false };
    for (const there of [0, 1, 2, 3]) {
      const { client } = await connected(async () => Array.from({ length: there }, () => post));
      const { content } = await client.callTool({
        name: 'similar_posts',
        arguments: { text: 'maps', limit: 2 },
      });
      const [told] = content as { text: string }[];
      const { posts, more } = JSON.parse(told?.text ?? '{}') as { posts: object[]; more?: string };
      assert.deepEqual([posts.length, more !== undefined], [Math.min(there, 2), there > 2]);
      await client.close();
    }
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
