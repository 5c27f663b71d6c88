import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { FINAL_STATES, next, TRANSITIONS } from '../../src/outbox/decide/states.ts';
import { OUTBOX_STATES, type OutboxState, type Transition } from '../../src/outbox/decide/types.ts';
import { type Bench, benchFor } from './bench.ts';

/** A row put into a state behind the back of the machine. */
async function rowIn(bench: Bench, state: OutboxState): Promise<number> {
  const id = await bench.add({ title: `${state} ${bench.clock.now()}` });
  const db = new Database(bench.path);
  db.prepare('UPDATE outbox SET state = ?, post_id = ? WHERE id = ?').run(
    state,
    state === 'confirmed' ? id + 1000 : null,
    id,
  );
  db.close();
  return id;
}

async function travel(
  bench: Bench,
  transition: Transition,
  from: OutboxState,
): Promise<[boolean, OutboxState]> {
  const id = await rowIn(bench, from);
  const now = bench.clock.now();
  const moved = await bench.store.move(
    id,
    transition,
    transition.to === 'confirmed' ? { now, postId: id } : { now },
  );
  return [moved !== null, (await bench.row(id)).state];
}

describe('the transitions between the states of a row', () => {
  for (const [name, transition] of Object.entries<Transition>(TRANSITIONS)) {
    it(`${name} leads from ${transition.from.join(' and ')} to ${transition.to}, and from nowhere else`, async (t) => {
      const bench = benchFor(t);
      for (const from of OUTBOX_STATES) {
        const expected = next(from, transition) ? [true, transition.to] : [false, from];
        assert.deepEqual(await travel(bench, transition, from), expected, `from ${from}`);
      }
    });
  }

  it('leave every state that is not final, and lead out of a final one only by a person', () => {
    // Only what the list shows of this row, or another row's post, leads on, and an erasure.
    const byItself = Object.entries<Transition>(TRANSITIONS).filter(
      ([name]) =>
        !['approve', 'resolve', 'correct', 'retry', 'cancel', 'displace', 'reopen', 'erase'].includes(name),
    );
    const left = new Set<string>(byItself.flatMap(([, { from }]) => [...from]));
    // The post of a row that waits for a person may turn up.
    left.delete('uncertain');
    assert.deepEqual(new Set(OUTBOX_STATES.filter((state) => !left.has(state))), new Set(FINAL_STATES));
  });
});

describe('the table of the outbox', () => {
  it('knows exactly the states of the machine', (t) => {
    const [{ sql } = { sql: '' }] = benchFor(t).query<{ sql: string }>(
      "SELECT sql FROM sqlite_schema WHERE name = 'outbox'",
    );
    const listed = /state IN \(([^)]*)\)/.exec(sql)?.[1]?.match(/[a-z]+/g);
    assert.deepEqual(new Set(listed), new Set(OUTBOX_STATES));
  });

  it('refuses a confirmed row without a post, and a post on any other row', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const db = new Database(bench.path);
    t.after(() => db.close());
    assert.throws(() => db.prepare("UPDATE outbox SET state = 'confirmed' WHERE id = ?").run(id), /CHECK/);
    assert.throws(() => db.prepare('UPDATE outbox SET post_id = 1 WHERE id = ?').run(id), /CHECK/);
  });
});
