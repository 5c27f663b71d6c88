import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { loadSettings } from '../../config/load.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createLogger, type Logger, SILENT } from '../../src/base/log.ts';
import { Secret } from '../../src/base/secret.ts';
import type { HttpPart } from '../../src/http/server/site.ts';
import { agentsOf } from '../../src/mcp/http.ts';
import { ask } from '../http/client.ts';
import { open, type Running, TOKEN } from '../http/service.ts';
import { fakeClock } from '../support/clock.ts';
import { until } from '../support/until.ts';
import { agentOnHttp, type Mirrored, mirrored } from './agent.ts';

const MCP_TOKEN = 'opens-the-tools-for-agents';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });

describe('the tools for assistants over HTTP', () => {
  let mirror: Mirrored;
  before(async () => {
    mirror = await mirrored({ posts: 40, seed: 3 });
  });
  after(() => mirror?.close());

  async function serve(
    t: TestContext,
    wishes: Parameters<typeof open>[1] = {},
    { log, onRequest }: { log: Logger; onRequest?: (body: string) => void } = { log: SILENT },
  ): Promise<Running> {
    const settings = loadSettings({ flags: {}, env: mirror.env, cwd: '/', isTerminal: false });
    const agents = agentsOf({ settings, clock: systemClock, log });
    const part: HttpPart = (scope, replies) => {
      scope.addHook('preHandler', async ({ body }) => onRequest?.(JSON.stringify(body)));
      return agents.part(scope, replies);
    };
    const site = await open(t, { mcpToken: new Secret(MCP_TOKEN), parts: [part], ...wishes });
    t.after(agents.close);
    return site;
  }
  /** The same with what is logged of calls, and how many came in. */
  async function logged(t: TestContext) {
    const lines: Record<string, unknown>[] = [];
    const destination = { write: (line: string) => lines.push(JSON.parse(line)) };
    const log = createLogger({ level: 'info', format: 'json', secrets: () => [], destination });
    let calls = 0;
    const onRequest = (body: string): void => {
      if (body.includes('tools/call')) calls++;
    };
    const { url } = await serve(t, {}, { log, onRequest });
    return { url, lines, called: () => calls };
  }
  const post = (site: Running, path: string, headers: Record<string, string>, body = LIST) => {
    const accept = 'application/json, text/event-stream';
    const sent = { 'content-type': 'application/json', accept, ...headers };
    return ask(site, path, { method: 'POST', headers: sent, body });
  };

  it('are those of stdio, driven by the official client', async (t) => {
    const agent = await agentOnHttp((await serve(t, { token: TOKEN })).url, MCP_TOKEN);
    t.after(agent.close);
    assert.equal((await agent.client.listTools()).tools.length, 8);
    const { customer_rows: rows } = await agent.answer<{ customer_rows: number[][] }>('sql', {
      sql: 'SELECT count(*) FROM live_posts',
    });
    assert.deepEqual(rows, [[40]]);
    const { posts } = await agent.answer<{ posts: { id: number }[] }>('search', { sort: 'votes', limit: 1 });
    const { rows: top } = await agent.answer<{ rows: unknown[][] }>('report', {
      name: 'top-posts',
      limit: 1,
    });
    assert.equal(top[0]?.[0], posts[0]?.id);
    assert.equal((await agent.client.listResources()).resources.length, 3);
    const several = await Promise.all([1, 2, 3].map(() => agent.answer('boards')));
    assert.equal(several.length, 3);
  });

  it('end a call whose client closed its request, and no other with the same id', async (t) => {
    const { url, lines, called } = await logged(t);
    const [one, other] = [
      await agentOnHttp(url, MCP_TOKEN, 'auto'),
      await agentOnHttp(url, MCP_TOKEN, 'auto'),
    ];
    t.after(one.close);
    t.after(other.close);
    const sql = (rows: number) =>
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ${rows}) SELECT max(i) FROM n`;
    const calledOff = new AbortController();
    const { signal } = calledOff;
    const endless = one.client.callTool({ name: 'sql', arguments: { sql: sql(1e12) } }, { signal });
    const answered = other.answer<{ customer_rows: number[][] }>('sql', { sql: sql(1e6) });
    await until('both calls', () => called() >= 2);
    calledOff.abort();
    await assert.rejects(endless);
    assert.deepEqual((await answered).customer_rows, [[1e6]]);
    await until('two lines', () => lines.length >= 2);
    assert.deepEqual(new Set(lines.map(({ outcome }) => outcome)), new Set(['answered', 'cancelled']));
  });

  it('refuse what is nested too deep in words', async (t) => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const params = `{"name": "search", "arguments": {"text": ${deep}}}`;
    const body = `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ${params}}`;
    const reply = await post(await serve(t), '/mcp', bearer(MCP_TOKEN), body);
    assert.equal(reply.status, 400);
    assert.match(reply.body, /more than 64 levels deep/);
  });

  it('have a token of their own, which opens nothing else', async (t) => {
    const site = await serve(t, { token: TOKEN, clock: fakeClock() });
    for (const headers of [{}, bearer(TOKEN), bearer('wrong'), { cookie: 'feedback-mirror=1' }])
      assert.equal((await post(site, '/mcp', headers)).status, 401);
    assert.equal((await post(site, `/mcp?token=${MCP_TOKEN}`, {})).status, 401);
    assert.equal((await post(site, '/mcp', bearer(MCP_TOKEN))).status, 200);
    for (const path of ['/readyz', '/api/changes', '/data/posts', `/api/v1/posts/?token=${MCP_TOKEN}`])
      assert.equal((await ask(site, path, { headers: bearer(MCP_TOKEN) })).status, 401);
  });

  it('ask for it also where everybody else is let in, however the path is spelt', async (t) => {
    const site = await serve(t, { clock: fakeClock() });
    assert.equal((await post(site, '/mcp', {})).status, 401);
    for (const path of ['/%6dcp', '/m%63p', '/mcp/', '//mcp', '/MCP', '/mcp;x', '/./mcp'])
      assert.notEqual((await post(site, path, {})).status, 200, path);
    assert.equal((await post(site, '/mcp', bearer(MCP_TOKEN))).status, 200);
  });

  it('answer a guess late, and later each time', async (t) => {
    const clock = fakeClock();
    const site = await serve(t, { clock });
    for (let n = 0; n < 3; n++) await post(site, '/mcp', bearer('a-guess'));
    assert.deepEqual(clock.slept, [1000, 2000, 4000]);
    assert.equal((await post(site, '/mcp', bearer(MCP_TOKEN))).status, 200);
    assert.equal(clock.slept.length, 3);
  });

  it('are called under a name of this service, not by pages of others, and only by POST', async (t) => {
    const site = await serve(t);
    const known = bearer(MCP_TOKEN);
    assert.equal((await post(site, '/mcp', { ...known, host: 'evil.example' })).status, 421);
    assert.equal((await post(site, '/mcp', { ...known, origin: 'https://evil.example' })).status, 403);
    assert.equal((await ask(site, '/mcp', { headers: known })).status, 405);
    assert.equal((await post(site, '/mcp', { ...known, 'content-type': 'text/plain' })).status, 415);
  });

  it('are not there without a token', async (t) => {
    const site = await open(t);
    assert.equal((await post(site, '/mcp', bearer(MCP_TOKEN))).status, 404);
  });
});
