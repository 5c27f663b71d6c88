import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { OutboxRow, PostText } from '../../src/outbox/decide/types.ts';
import { push } from '../../src/outbox/send/push.ts';
import { type Bench, benchFor, HOUR, MINUTE, reconcileRow } from './bench.ts';
import { ALL, drive } from './drive.ts';
import { REWRITES } from './rewrites.ts';
import { confirmed, unknown } from './scripted-upstream.ts';

const RICH: Partial<PostText> = {
  title: 'café export of board 17 is damn slow 🚀 for @ada.',
  content:
    'Hello @ada, see [the docs](https://example.com/a/very/long/path) and **bold** -- "words" <script>x()</script>.',
};
const ADA = { email: 'ada+news@example.com', full_name: 'Ada' };
const user = (id: number, email: string | null, is_admin = false) => ({
  ...{ id, email, name: 'Somebody', alias: null, registered: null, is_admin, is_team: false },
});

/** Sends a row to a service that makes the post and answers with an error, for as long as it is asked. */
async function sentTo(
  t: TestContext,
  text: Partial<PostText>,
  shown: object,
): Promise<{ bench: Bench; row: OutboxRow }> {
  const bench = benchFor(t);
  const { upstream } = bench;
  await strangersAround(bench);
  upstream.outcomes = Array.from({ length: 10 }, () => unknown('the upstream answered 500'));
  upstream.duringCreate = (asked) => {
    upstream.publish({ ...asked, board: { id: 2, name: 'Ideas', url: '/b/ideas' }, ...shown });
    upstream.publish({
      title: 'Mine',
      content: 'Something else.',
      creator: user(90, 'new@elsewhere.example'),
    });
  };
  const id = await bench.add(text);
  await drive(bench.context, ALL);
  return { bench, row: await bench.row(id) };
}

/** Two rows that were answered, so that it is known who is shown as their creator, and posts of others. */
async function strangersAround(bench: Bench): Promise<void> {
  for (const [who, creator] of [
    [{}, user(1, 'owner@example.com', true)],
    [ADA, user(2, 'ada@example.com')],
  ] as const) {
    const post = bench.upstream.publish({ title: 'Witness', content: `${creator.id}`, creator });
    bench.upstream.outcomes = [confirmed(post.id)];
    await push(bench.context, await bench.add({ title: 'Witness', content: `${creator.id}`, ...who }));
  }
  bench.upstream.publish({ title: 'Not ours', creator: user(80, 'old@elsewhere.example') });
  await bench.sweep();
  bench.upstream.created = [];
}

describe('a service that makes the post, answers 500 and shows it', () => {
  const owner = { creator: user(1, 'owner@example.com', true) };
  for (const [name, rewrite] of Object.entries(REWRITES))
    it(`after ${name}: it is sent once and confirmed`, async (t) => {
      const shown = rewrite({ title: RICH.title ?? '', content: RICH.content ?? '' });
      const { bench, row } = await sentTo(t, RICH, { ...shown, ...owner });
      assert.equal(bench.upstream.created.length, 1);
      assert.equal(row.state, 'confirmed', row.last_error ?? '');
    });

  const others: [string, Partial<PostText>, object, RegExp][] = [
    ['under a folded address', ADA, { creator: user(2, 'ada@example.com') }, /same/],
    ['without an address', ADA, { creator: user(2, null) }, /same/],
    ['on a board with another name', {}, { ...owner, board: { id: 3, name: 'Ideas', url: '/b/3' } }, /part/],
    ['with a time cut to the day', {}, { ...owner, created: '2026-01-01T00:00:00Z' }, /same/],
    ['with a time two hours behind', {}, { ...owner, created: '2025-12-31T22:00:00Z' }, /same/],
  ];
  for (const [name, text, shown, matched] of others)
    it(`${name}: it is sent once and confirmed`, async (t) => {
      const { bench, row } = await sentTo(t, text, shown);
      assert.equal(bench.upstream.created.length, 1);
      assert.equal(row.state, 'confirmed', row.last_error ?? '');
      assert.match(row.matched ?? '', matched);
    });

  it('as a post of the owner sends it once and leaves it to a person', async (t) => {
    const { bench, row } = await sentTo(t, ADA, owner);
    assert.deepEqual([bench.upstream.created.length, row.state, row.candidates.length], [1, 'uncertain', 1]);
  });
});

describe('a post that is first listed, rewritten, after its row was sent again', () => {
  it('is written on the row by the next sweep', async (t) => {
    const bench = benchFor(t);
    await strangersAround(bench);
    const id = await bench.add(RICH);
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, id);
    bench.clock.advance(2 * MINUTE);
    assert.equal(await reconcileRow(bench.context, id), 'send again');
    const owner = user(1, 'owner@example.com', true);
    bench.upstream.outcomes = [confirmed(bench.upstream.publish({ ...RICH, creator: owner }).id)];
    await push(bench.context, id);
    bench.clock.advance(HOUR);
    const late = bench.upstream.publish({ title: RICH.title?.toUpperCase(), content: '', creator: owner });
    assert.deepEqual(await bench.sweep(), [id]);
    assert.equal((await bench.row(id)).duplicate_of, late.id);
  });
});
