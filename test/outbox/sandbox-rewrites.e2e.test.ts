import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createClient } from '../../src/api/client.ts';
import { systemClock } from '../../src/base/clock.ts';
import { Secret } from '../../src/base/secret.ts';
import type { OutboxRow, PostText } from '../../src/outbox/decide/types.ts';
import { REWRITE_KINDS } from '../laboratory/rewrite.ts';
import type { SandboxOptions } from '../laboratory/server.ts';
import { HOUR } from './bench.ts';
import { drive } from './drive.ts';
import { stageFor } from './sender.ts';

/** Something for every rewriting to change. */
const RICH: Partial<PostText> = {
  title: 'café export of board 17 is damn slow 🚀 for "@ada". '.repeat(6),
  content: `Hello @ada, see [docs](https://example.com/a/very/long/path/to/a/page?of=1) and **bold** -- it's ﬁne\u200b\u0007.
<script>alert(1)</script> <b>Tags</b> & ½ signs… ${'And more of the same, please. '.repeat(50)}`,
};
const CUSTOMER = { email: 'ada+news@example.com', full_name: 'Ada' };

/** A row sent to a service that makes every post and answers every create with an error. */
async function outcomeOf(
  t: TestContext,
  options: SandboxOptions,
  text: Partial<PostText> = {},
): Promise<{ row: OutboxRow; posts: number }> {
  const { bench, sandbox, order } = await stageFor(t, {
    faults: 'status-after code=500 on=creates',
    ...options,
  });
  const token = new Secret('sandbox');
  const limits = { createMs: order.createMs };
  const client = createClient({ baseUrl: order.url, auth: { kind: 'header' }, token: () => token, limits });
  t.after(() => client.close());
  const [first] = sandbox.world.boards();
  const id = await bench.add({ board: first?.slug ?? '', ...RICH, ...text });
  const { createMs, settleMs } = order;
  const context = { ...bench.context, client, clock: systemClock, createMs, settleMs };
  await drive(context, { batch: null, perMinute: 60_000 });
  return { row: await bench.row(id), posts: sandbox.world.ledger().length };
}

/** What no fold of a text brings back, and a customer under another address: only a person can tell. */
const LEFT = /mask|showing the owner/;

function assertFound(how: string, { row, posts }: { row: OutboxRow; posts: number }): void {
  assert.equal(posts, 1);
  assert.equal(row.state, LEFT.test(how) ? 'uncertain' : 'confirmed', row.last_error ?? '');
}

describe('a post that a real service has rewritten is sent once, and found or left to a person', {
  concurrency: 4,
}, () => {
  for (const kind of REWRITE_KINDS)
    it(kind, async (t) => assertFound(kind, await outcomeOf(t, { rewrite: [kind] })));

  const ways: [string, SandboxOptions, Partial<PostText>][] = [
    ['by three of them at once', { rewrite: ['smart-quotes', 'markdown-html', 'truncate-content=400'] }, {}],
    ['folding the address', { foldAddresses: true }, CUSTOMER],
    ['showing the owner', { creator: 'owner' }, CUSTOMER],
    ['moving it to another board', { movePosts: 1 }, {}],
    ['cutting its time to the day', { created: 'day' }, {}],
    ['with a time two hours behind', { created: 2 * HOUR }, {}],
    ['in a list in another order', { order: 'votes', rewrite: ['capitalise-words'] }, {}],
  ];
  for (const [name, options, text] of ways)
    it(name, async (t) => assertFound(name, await outcomeOf(t, options, text)));
});
