import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { readCustomers } from '../../src/segments/file.ts';
import { openSegmentStore } from '../../src/segments/store.ts';
import { openToldStore } from '../../src/segments/told.ts';
import { pick, type Story, TESS, tell, UPSTREAM, write } from '../reports/story.ts';
import { aPost, range } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';

/** Post 101 of Ann, on which Bob commented, became Done on 21 January. Tess of the team commented too. */
const DELIVERED = Date.parse('2026-01-21T00:00:00.000Z');

async function openDesk(t: TestContext): Promise<Story & { mark(user: number, at: number): void }> {
  const story = await tell(t);
  const customers = openSegmentStore({ path: story.path, upstream: UPSTREAM, holder: 'the test' });
  customers.import(readCustomers('email,company,plan,mrr\nbob@example.com,Beta,Pro,50\n'), 'mia', 0);
  customers.close();
  const told = openToldStore({ path: story.path, upstream: UPSTREAM });
  t.after(() => told.close());
  return { ...story, mark: (user, at) => void told.mark([{ user, posts: [101] }], 'mia', at) };
}

describe('the report shipped', () => {
  it('names everybody who asked or commented on what became delivered, once, with plan and value', async (t) => {
    const { ask } = await openDesk(t);
    const report = await ask('shipped');
    assert.deepEqual(
      pick(report, 'email', 'customer', 'company', 'plan', 'amount', 'delivered_at', 'titles', 'post_ids'),
      [
        [
          'bob@example.com',
          'Bob',
          'Beta',
          'Pro',
          50,
          '2026-01-21T00:00:00.000Z',
          'Dark mode for the editor',
          '101',
        ],
        [
          'ann@example.com',
          'Ann',
          null,
          null,
          null,
          '2026-01-21T00:00:00.000Z',
          'Dark mode for the editor',
          '101',
        ],
      ],
    );
    assert.deepEqual(report.people, [2, 1]);
    assert.match(report.notes.join('\n'), /1 post became delivered/);
    assert.deepEqual((await ask('shipped', { since: '2026-01-22' })).rows, []);
    assert.deepEqual(pick(await ask('shipped', { segment: 'plan=Pro' }), 'customer'), [['Bob']]);
  });

  it('leaves out who was told, until the post is delivered once more', async (t) => {
    const { ask, mark, path } = await openDesk(t);
    mark(2, DELIVERED + 1);
    const report = await ask('shipped');
    assert.deepEqual(pick(report, 'customer'), [['Ann']]);
    assert.match(report.notes.join('\n'), /1 person who was told already/);
    mark(2, DELIVERED - 1);
    assert.equal((await ask('shipped')).rows.length, 2, 'told of an earlier delivery');
    mark(1, DELIVERED + 1);
    mark(2, DELIVERED + 1);
    const silent = await ask('shipped');
    assert.match(silent.notes.join('\n'), /Nobody is left to tell of #101/);
    const db = new Database(path, { readonly: true });
    assert.deepEqual(db.prepare('SELECT told_by FROM told_people').pluck().all(), ['mia', 'mia']);
    db.close();
  });

  it('names a few of many posts of which nobody is left to tell', async (t) => {
    const { ask } = await write(t, async (store) => {
      for (const [day, name] of [
        [0, 'Open'],
        [20, 'Done'],
      ] as const) {
        const status = { id: day + 1, name, color: '#333333' };
        const posts = range(1, 12).map((id) => aPost(id, { creator: TESS, status }));
        await sweep(store, 'posts', posts, day * 1440);
      }
    });
    const notes = (await ask('shipped')).notes.join('\n');
    assert.match(notes, /Nobody is left to tell of (#\d+, ){9}#\d+ and 2 more posts\./);
  });

  it('leaves out people without an address, and says so', async (t) => {
    const { ask, path } = await openDesk(t);
    const db = new Database(path);
    db.prepare('UPDATE users SET email = NULL WHERE id = 1').run();
    db.close();
    const report = await ask('shipped');
    assert.deepEqual(pick(report, 'customer'), [['Bob']]);
    assert.match(report.notes.join('\n'), /1 person whose address the service does not show/);
  });
});
