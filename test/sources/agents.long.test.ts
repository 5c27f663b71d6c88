import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agentOnHttp } from '../mcp/agent.ts';
import { until } from '../support/until.ts';
import { place, start } from './place.ts';

const MCP_TOKEN = 'opens-the-tools-for-agents';

describe('the tools for agents over several sources', () => {
  it('take the name of a source with each call, and answer with it', async (t) => {
    const site = await place(t, { acme: { posts: 30 }, beta: { posts: 10 } });
    const service = await start(t, site, { MCP_TOKEN });
    await until('both are ready', async () => {
      const { body } = await service.json('/readyz');
      const states = Object.values((body.sources ?? {}) as Record<string, boolean>);
      return states.length === 2 && states.every(Boolean);
    });
    const agent = await agentOnHttp(service.url, MCP_TOKEN);
    t.after(agent.close);
    const { tools } = await agent.client.listTools();
    for (const { name, inputSchema } of tools) {
      assert.ok(inputSchema.required?.includes('source'), name);
      assert.match(JSON.stringify(inputSchema.properties), /"enum":\["acme","beta"\]/);
    }
    for (const [source, posts] of [['acme', 30] as const, ['beta', 10] as const]) {
      const sql = 'SELECT count(*) FROM live_posts';
      const answer = await agent.answer<{ source: string; customer_rows: number[][] }>('sql', {
        source,
        sql,
      });
      assert.deepEqual([answer.source, answer.customer_rows], [source, [[posts]]]);
    }
    const unnamed = await agent.client.callTool({ name: 'boards', arguments: {} });
    assert.equal(unnamed.isError, true);
    assert.match(JSON.stringify(unnamed.content), /source must be one of acme, beta/);
  });
});
