import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import type { PostText } from '../../src/outbox/decide/types.ts';
import { cancel, cancelBatch, resolve, retry } from '../../src/outbox/person.ts';
import { checkAfterSweep } from '../../src/outbox/send/after-check.ts';
import { push } from '../../src/outbox/send/push.ts';
import { aPost } from '../support/rows.ts';
import { type Bench, benchFor, HOUR, MINUTE, reconcileRow } from './bench.ts';
import { confirmed, unknown } from './scripted-upstream.ts';

/** A customer as the creator of a post. */
function by(id: number, email: string) {
  return { ...aPost(1).creator, id, email, name: email, is_team: false, is_admin: false };
}

/** A row confirmed by its second attempt, after a first one that was unclear and not found. */
async function confirmedLater(
  t: TestContext,
  text: Partial<PostText> = {},
): Promise<{ bench: Bench; id: number }> {
  const bench = benchFor(t);
  const id = await secondAttempt(bench, text);
  return { bench, id };
}

async function secondAttempt(bench: Bench, text: Partial<PostText>): Promise<number> {
  const id = await bench.add(text);
  bench.upstream.outcomes = [unknown()];
  await push(bench.context, id);
  bench.clock.advance(2 * MINUTE);
  assert.equal(await reconcileRow(bench.context, id), 'send again');
  const { title, content } = { title: 'Dark mode', content: 'My eyes hurt at night.', ...text };
  bench.upstream.outcomes = [confirmed(bench.upstream.publish({ title, content }).id)];
  await push(bench.context, id);
  bench.clock.advance(MINUTE);
  return id;
}

describe('an answer with the id of another post', () => {
  const OURS = {
    title: 'Dark mode',
    content: 'My eyes hurt at night.',
    email: 'kim@example.com',
    full_name: 'Kim',
  };
  const stranger = { title: 'Export invoices', content: 'As a table, please.' };

  async function sentAs(bench: Bench, shown: Record<string, unknown>): Promise<number> {
    const id = await bench.add(OURS);
    bench.upstream.outcomes = [confirmed(bench.upstream.publish(shown).id)];
    await push(bench.context, id);
    bench.clock.advance(MINUTE);
    return id;
  }

  for (const [what, words] of [['a post', stranger]] as const)
    it(`leaves the row to a person where the answer named ${what} of a stranger`, async (t) => {
      const bench = benchFor(t);
      const id = await sentAs(bench, { ...words, creator: by(9, 'ada@example.com') });
      assert.deepEqual(await bench.sweep(), [id]);
      const { state, post_id, last_error } = await bench.row(id);
      assert.deepEqual([state, post_id], ['uncertain', null]);
      assert.match(last_error ?? '', /another post under the number/);
      assert.deepEqual(await bench.sweep(), []);
    });

  it('has the row looked for before it is sent again, and checked afterwards', async (t) => {
    const bench = benchFor(t);
    const id = await sentAs(bench, { ...stranger, creator: by(9, 'ada@example.com') });
    assert.deepEqual(await bench.sweep(), [id]);
    const own = bench.upstream.publish({ ...OURS, creator: by(7, OURS.email) });
    bench.upstream.outcomes = [];
    retry(bench.context, id);
    await push(bench.context, id);
    const { state, post_id, attempts } = await bench.row(id);
    assert.deepEqual([state, post_id, attempts], ['confirmed', own.id, 1]);
  });

  for (const [when, isMirrored] of [
    ['before any sweep had listed it', false],
    ['after a sweep had listed it', true],
  ] as const)
    it(`leaves the row to a person where its post was found, and its number given to another ${when}`, async (t) => {
      const bench = benchFor(t);
      bench.upstream.publish({
        title: 'A map',
        content: 'Of our offices.',
        creator: by(8, 'lee@example.com'),
      });
      await bench.sweep();
      const id = await bench.add(OURS);
      bench.upstream.outcomes = [unknown()];
      await push(bench.context, id);
      const own = bench.upstream.publish({ ...OURS, creator: by(7, OURS.email) });
      bench.clock.advance(2 * MINUTE);
      assert.equal(await reconcileRow(bench.context, id), 'found');
      if (isMirrored) assert.deepEqual(await bench.sweep(), []);
      bench.clock.advance(MINUTE);
      bench.upstream.posts = bench.upstream.posts.filter((post) => post.id !== own.id);
      bench.upstream.publish({ ...stranger, id: own.id, creator: by(9, 'ada@example.com') });
      assert.deepEqual(await bench.sweep(), [id]);
      const { state, post_id, last_error } = await bench.row(id);
      assert.deepEqual([state, post_id], ['uncertain', null]);
      assert.match(last_error ?? '', /another post under the number/);
    });

  for (const [what, shown] of [
    ['is by the customer, whatever its words', { ...stranger, creator: by(9, 'Kim@Example.com') }],
    ['shows no address', { ...stranger, creator: by(9, '') }],
    [
      'has the words of the row, by any author',
      { ...OURS, title: 'Dark mode!', creator: by(9, 'ada@example.com') },
    ],
    [
      'has the title of the row, by any author',
      { ...stranger, title: OURS.title, creator: by(9, 'ada@example.com') },
    ],
  ] as const)
    it(`keeps the row confirmed if the post ${what}`, async (t) => {
      const bench = benchFor(t);
      const id = await sentAs(bench, shown);
      assert.deepEqual(await bench.sweep(), []);
      assert.equal((await bench.row(id)).state, 'confirmed');
    });

  const owner = { ...by(5, 'owner@example.com'), is_admin: true };
  const asOwner = { email: null, full_name: null };

  async function answered(
    bench: Bench,
    text: Partial<PostText>,
    shown: Record<string, unknown>,
  ): Promise<number> {
    const id = await bench.add({ ...OURS, ...text });
    bench.upstream.outcomes = [confirmed(bench.upstream.publish(shown).id)];
    await push(bench.context, id);
    bench.clock.advance(MINUTE);
    return id;
  }

  /** A post of the owner and one of a customer, each listed with the words and in the name that were sent. */
  async function knownAuthors(bench: Bench): Promise<void> {
    const words = [
      { title: 'Keyboard shortcuts', content: 'For all of it.' },
      { title: 'A map', content: 'Of our offices.' },
    ];
    await answered(bench, { ...asOwner, ...words[0] }, { ...words[0], creator: owner });
    await answered(bench, { ...words[1] }, { ...words[1], creator: by(7, OURS.email) });
  }

  for (const [whose, text] of [
    ["customers'", {}],
    ["the owner's", asOwner],
  ] as const)
    it(`leaves ${whose} rows to a person where two answers named posts of the same stranger`, async (t) => {
      const bench = benchFor(t);
      await knownAuthors(bench);
      const creator = by(9, 'ada@example.com');
      const ids = [
        await answered(bench, text, { ...stranger, creator }),
        await answered(bench, { ...text, title: 'Light mode' }, { title: 'A pond', content: '', creator }),
      ];
      assert.deepEqual(
        (await bench.sweep()).toSorted((a, b) => a - b),
        ids,
      );
      for (const id of ids) assert.equal((await bench.row(id)).state, 'uncertain');
    });

  for (const [whom, creator] of [
    ['the owner', owner],
    ['a colleague', { ...by(8, 'team@example.com'), is_team: true }],
    ['nobody with an address', by(9, '')],
  ] as const)
    it(`leaves a customer's row to a person where the answer named a post of ${whom}, and customers are shown`, async (t) => {
      const bench = benchFor(t);
      await knownAuthors(bench);
      const id = await answered(bench, {}, { ...stranger, creator });
      assert.deepEqual(await bench.sweep(), [id]);
      assert.equal((await bench.row(id)).state, 'uncertain');
    });

  it('leaves a row to a person where the answer named the post of another account with the same masked address', async (t) => {
    const bench = benchFor(t);
    const map = { title: 'A map', content: 'Of our offices.' };
    await answered(bench, map, { ...map, creator: by(7, 'k***@example.com') });
    const id = await answered(bench, {}, { ...stranger, creator: by(8, 'k***@example.com') });
    assert.deepEqual(await bench.sweep(), [id]);
  });

  it('leaves rows to a person if another post has their words, before any post shows who we are', async (t) => {
    const bench = benchFor(t);
    await bench.sweep();
    const creator = by(9, 'ada@example.com');
    const mine = [OURS, { ...OURS, title: 'Light mode' }];
    for (const words of mine) bench.upstream.publish({ ...words, creator: by(7, OURS.email) });
    const ids = [];
    for (const words of mine) ids.push(await answered(bench, words, { ...stranger, creator }));
    assert.deepEqual(
      (await bench.sweep()).toSorted((a, b) => a - b),
      ids,
    );
  });
});

describe('a second post that turns up after all', () => {
  it('is written on its row by the next sweep', async (t) => {
    const { bench, id } = await confirmedLater(t);
    const late = bench.upstream.publish();
    assert.deepEqual(await bench.sweep(), [id]);
    const { duplicate_of, candidates, post_id } = await bench.row(id);
    assert.deepEqual({ duplicate_of, candidates }, { duplicate_of: late.id, candidates: [late.id] });
    assert.notEqual(post_id, late.id);
  });

  it('is reported once', async (t) => {
    const { bench, id } = await confirmedLater(t);
    bench.upstream.publish();
    assert.deepEqual(await bench.sweep(), [id]);
    bench.clock.advance(HOUR);
    assert.deepEqual(await bench.sweep(), []);
    assert.equal((await bench.row(id)).checks_left, 0);
  });

  it('is found although the service changed its title', async (t) => {
    const title = `It's R&D's <small> Cafe\u0301`;
    const { bench, id } = await confirmedLater(t, { title });
    const late = bench.upstream.publish({ title: 'It&#39;s R&amp;D&#39;s &lt;small&gt; Café' });
    assert.deepEqual(await bench.sweep(), [id]);
    assert.equal((await bench.row(id)).duplicate_of, late.id);
  });

  it('is found although the clock of the upstream is an hour slow', async (t) => {
    const bench = benchFor(t);
    bench.upstream.aheadMs = -HOUR;
    const id = await secondAttempt(bench, {});
    bench.upstream.publish();
    assert.deepEqual(await bench.sweep(), [id]);
  });

  it('is found up to half an hour later, after any number of sweeps', async (t) => {
    const { bench, id } = await confirmedLater(t);
    for (let n = 0; n < 25; n++) {
      assert.deepEqual(await bench.sweep(), []);
      bench.clock.advance(MINUTE);
    }
    bench.upstream.publish();
    assert.deepEqual(await bench.sweep(), [id]);
  });

  it('is written on its row although a row on its way may own any post of the same author', async (t) => {
    const bench = benchFor(t);
    const open = await bench.add({ title: 'Something else', content: '' });
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, open);
    await bench.store.move(open, TRANSITIONS.recheck, {
      now: bench.clock.now(),
      notBefore: bench.clock.now() + 9 * HOUR,
    });
    const id = await secondAttempt(bench, {});
    const late = bench.upstream.publish();
    assert.deepEqual(await bench.sweep(), [id]);
    assert.equal((await bench.row(id)).duplicate_of, late.id);
  });

  it('is shown together with a third post', async (t) => {
    const { bench, id } = await confirmedLater(t);
    const late = [bench.upstream.publish().id];
    await bench.sweep();
    late.push(bench.upstream.publish().id);
    bench.clock.advance(HOUR);
    assert.deepEqual(await bench.sweep(), [id]);
    const { duplicate_of, candidates } = await bench.row(id);
    assert.deepEqual({ duplicate_of, candidates }, { duplicate_of: late[0], candidates: late });
  });

  it('is the first of two further posts in one sweep', async (t) => {
    const { bench, id } = await confirmedLater(t);
    const late = [bench.upstream.publish({ id: 9999 }).id, bench.upstream.publish({ id: 10_000 }).id];
    await bench.sweep();
    const { duplicate_of, candidates } = await bench.row(id);
    assert.deepEqual({ duplicate_of, candidates }, { duplicate_of: late[0], candidates: late });
  });

  it('holds up another row no longer, also where the service cuts every content', async (t) => {
    const bench = benchFor(t);
    const shown = { title: 'Export all invoices', content: 'As a' };
    const sent = await bench.add({ title: 'Export all invoices', content: 'As a table, please.' });
    bench.upstream.outcomes = [confirmed(bench.upstream.publish(shown).id), unknown()];
    await push(bench.context, sent);
    const other = await bench.add({ title: 'Export all receipts' });
    await push(bench.context, other);
    const second = bench.upstream.publish(shown).id;
    bench.clock.advance(2 * MINUTE);
    assert.equal(await reconcileRow(bench.context, other), 'uncertain');
    assert.deepEqual(await bench.sweep(), [sent]);
    assert.equal((await bench.row(sent)).duplicate_of, second);
    const { state, candidates, last_error } = await bench.row(other);
    assert.deepEqual({ state, candidates }, { state: 'ambiguous', candidates: [] });
    assert.equal(last_error, `post ${second} is row ${sent}'s: decided again`);
    assert.equal(await reconcileRow(bench.context, other), 'send again');
  });

  it('is shown on one of two rows with the same words, not on both', async (t) => {
    const { bench, id } = await confirmedLater(t);
    const twin = await bench.add();
    bench.upstream.outcomes = [unknown()];
    bench.upstream.duringCreate = () => void bench.upstream.publish();
    await push(bench.context, twin);
    bench.clock.advance(2 * MINUTE);
    await reconcileRow(bench.context, twin);
    bench.clock.advance(MINUTE);
    bench.upstream.publish();
    assert.deepEqual(await bench.sweep(), [id]);
    assert.equal((await bench.row(twin)).duplicate_of, null);
  });
});

describe('a sweep that does not list the post of the row', () => {
  async function sweptBench(t: TestContext): Promise<Bench> {
    const bench = benchFor(t);
    bench.upstream.publish({ title: 'A map', content: 'Of our offices.' });
    await bench.sweep();
    bench.clock.advance(MINUTE);
    return bench;
  }

  /** What was listed before stays; nothing newer shows until the list goes on. */
  async function whileFrozen(bench: Bench, work: () => Promise<void>): Promise<void> {
    const all = bench.upstream.posts;
    bench.upstream.posts = all.slice(-1);
    await work();
    bench.upstream.posts = all;
  }

  async function twoSweeps(bench: Bench): Promise<void> {
    for (const _ of [1, 2]) {
      assert.deepEqual(await bench.sweep(), []);
      bench.clock.advance(HOUR);
    }
  }

  it('is not counted as a check of the row, so that a later sweep shows a second post', async (t) => {
    const bench = await sweptBench(t);
    const id = await secondAttempt(bench, {});
    const late = bench.upstream.publish();
    await whileFrozen(bench, () => twoSweeps(bench));
    assert.deepEqual(await bench.sweep(), [id]);
    assert.equal((await bench.row(id)).duplicate_of, late.id);
  });

  it('is not counted as a check either if the post was listed before', async (t) => {
    const bench = await sweptBench(t);
    const id = await secondAttempt(bench, {});
    await bench.sweep();
    const late = bench.upstream.publish();
    bench.clock.advance(HOUR);
    await whileFrozen(bench, () => twoSweeps(bench));
    assert.deepEqual(await bench.sweep(), [id]);
    assert.equal((await bench.row(id)).duplicate_of, late.id);
  });

  it('is not counted as a check of a row without a post, if it misses the last post that was sent to the same board', async (t) => {
    const bench = await sweptBench(t);
    const id = await bench.add();
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, id);
    bench.clock.advance(2 * MINUTE);
    assert.equal(await reconcileRow(bench.context, id), 'send again');
    cancel(bench.context, id);
    const other = { title: 'Keyboard shortcuts', content: 'For all of it.' };
    bench.upstream.outcomes = [confirmed(bench.upstream.publish(other).id)];
    await push(bench.context, await bench.add(other));
    const late = bench.upstream.publish();
    bench.clock.advance(MINUTE);
    await whileFrozen(bench, () => twoSweeps(bench));
    assert.deepEqual(await bench.sweep(), [id]);
    assert.deepEqual((await bench.row(id)).candidates, [late.id]);
  });
});

describe('the check for second posts after a sweep', () => {
  it('needs a sweep that began after the row was settled, or last checked', async (t) => {
    const { bench, id } = await confirmedLater(t);
    await bench.sweep();
    assert.equal((await bench.row(id)).checks_left, 1);
    const checked = (await bench.row(id)).changed_at;
    bench.clock.advance(HOUR);
    await checkAfterSweep(bench.store, bench.clock, checked);
    assert.equal((await bench.row(id)).checks_left, 1);
    await checkAfterSweep(bench.store, bench.clock, new Date(Date.parse(checked) + HOUR).toISOString());
    assert.equal((await bench.row(id)).checks_left, 0);
  });

  it('waits while a row with the same words is under way: the post may be of that row', async (t) => {
    const { bench, id } = await confirmedLater(t);
    const twin = await bench.add();
    bench.upstream.outcomes = [unknown()];
    bench.upstream.duringCreate = () => void bench.upstream.publish();
    await push(bench.context, twin);
    assert.deepEqual(await bench.sweep(), []);
    bench.clock.advance(2 * MINUTE);
    assert.equal(await reconcileRow(bench.context, twin), 'found');
    bench.clock.advance(MINUTE);
    assert.deepEqual(await bench.sweep(), []);
    assert.equal((await bench.row(id)).duplicate_of, null);
  });

  it('takes a post of another customer in similar words for no second post', async (t) => {
    const bench = benchFor(t);
    const wish = (what: string) => ({
      title: `Please add a native integration with ${what} for our team`,
      content: `We would use the integration with ${what} every day.`,
    });
    const id = await bench.add({ ...wish('Teams'), email: 'lima@example.com', full_name: 'Lima' });
    bench.upstream.outcomes = [unknown()];
    bench.upstream.duringCreate = () =>
      void bench.upstream.publish({ ...wish('Teams'), creator: by(71, 'lima@example.com') });
    await push(bench.context, id);
    bench.clock.advance(2 * MINUTE);
    assert.equal(await reconcileRow(bench.context, id), 'found');
    bench.upstream.publish({ ...wish('Slack'), creator: by(72, 'alfa@example.com') });
    bench.clock.advance(MINUTE);
    assert.deepEqual(await bench.sweep(), []);
    assert.partialDeepStrictEqual(await bench.row(id), { duplicate_of: null, candidates: [] });
  });

  it('reports no posts that existed before the row, or that others wrote long before', async (t) => {
    const bench = benchFor(t);
    bench.upstream.publish({ created: '2025-12-31T00:00:00Z' });
    await bench.sweep();
    bench.upstream.publish({ created: '2025-12-29T12:00:00Z' });
    const id = await bench.add();
    bench.upstream.outcomes = [unknown()];
    bench.upstream.duringCreate = () => void bench.upstream.publish();
    await push(bench.context, id);
    bench.clock.advance(2 * MINUTE);
    assert.equal(await reconcileRow(bench.context, id), 'found');
    bench.clock.advance(MINUTE);
    assert.deepEqual(await bench.sweep(), []);
  });
});

describe('a second post of a row that was never unclear', () => {
  const KIM = { email: 'kim@example.com', full_name: 'Kim' };
  const words = { title: 'Dark mode', content: 'My eyes hurt at night.' };

  /** A proxy repeats the request: two posts are made, and one of them is answered. */
  async function repeated(bench: Bench, shown: object = {}): Promise<{ id: number; second: number }> {
    const id = await bench.add(KIM);
    const creator = by(7, KIM.email);
    const posts = [1, 2].map(() => bench.upstream.publish({ ...words, creator, ...shown }).id);
    bench.upstream.outcomes = [confirmed(posts[0] ?? 0)];
    await push(bench.context, id);
    bench.clock.advance(MINUTE);
    return { id, second: posts[1] ?? 0 };
  }

  for (const [how, shown] of [
    ['as it was sent', {}],
    ['in other words', { title: 'Moderated: night', content: '' }],
  ] as const)
    it(`is told by the next sweep where the service shows it ${how}`, async (t) => {
      const bench = benchFor(t);
      await bench.sweep();
      const { id, second } = await repeated(bench, shown);
      assert.deepEqual(await bench.sweep(), [id]);
      assert.equal((await bench.row(id)).duplicate_of, second);
      assert.deepEqual(await bench.sweep(), [], 'it is told once');
    });

  it('is reported after the answer if a sweep saw it before', async (t) => {
    const bench = benchFor(t);
    await bench.sweep();
    const id = await bench.add(KIM);
    let second = 0;
    bench.upstream.duringCreate = async () => {
      const creator = by(7, KIM.email);
      const [first, other] = [1, 2].map(() => bench.upstream.publish({ ...words, creator }).id);
      bench.upstream.outcomes = [confirmed(first ?? 0)];
      second = other ?? 0;
      assert.deepEqual(await bench.sweep(), [], 'the row is on its way');
    };
    await push(bench.context, id);
    bench.clock.advance(MINUTE);
    assert.deepEqual(await bench.sweep(), [id]);
    assert.equal((await bench.row(id)).duplicate_of, second);
  });

  for (const [what, shown] of [
    ['somebody else makes', { creator: by(8, 'lee@example.com') }],
    ['stands on another board', { board: { id: 9, name: 'Bugs', url: '/b/bugs' } }],
    ['says more', { content: 'My eyes hurt at night. And by day.' }],
  ] as const)
    it(`is none that ${what}`, async (t) => {
      const bench = benchFor(t);
      await bench.sweep();
      const id = await bench.add(KIM);
      const creator = by(7, KIM.email);
      bench.upstream.outcomes = [confirmed(bench.upstream.publish({ ...words, creator }).id)];
      await push(bench.context, id);
      bench.upstream.publish({ ...words, creator, ...shown });
      bench.clock.advance(MINUTE);
      assert.deepEqual(await bench.sweep(), []);
    });

  it('is withdrawn if it proves to be the post of another row', async (t) => {
    const bench = benchFor(t);
    await bench.sweep();
    const { id, second } = await repeated(bench);
    await bench.sweep();
    const other = await bench.add({ content: 'Another text.' });
    bench.store.move(other, TRANSITIONS.park, { now: bench.clock.now() });
    resolve(bench.context, other, { id: second, url: null });
    assert.equal((await bench.row(id)).duplicate_of, null);
    bench.clock.advance(HOUR);
    assert.deepEqual(await bench.sweep(), []);
  });

  it('may be corrected by a person who named the wrong post, but not where the answer named it', async (t) => {
    const bench = benchFor(t);
    const { id, second } = await repeated(bench);
    assert.throws(() => resolve(bench.context, id, { id: second, url: null }), /confirmed already/);
    const other = await bench.add({ content: 'Another text.' });
    bench.store.move(other, TRANSITIONS.park, { now: bench.clock.now() });
    resolve(bench.context, other, { id: second, url: null });
    assert.equal(resolve(bench.context, other, { id: second + 1, url: null }).post_id, second + 1);
  });
});

describe('a row that was cancelled before it was sent again', () => {
  it('is reported if the post of its first attempt appears', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, id);
    bench.clock.advance(2 * MINUTE);
    assert.equal(await reconcileRow(bench.context, id), 'send again');
    cancel(bench.context, id);
    const post = bench.upstream.publish();
    bench.clock.advance(MINUTE);
    assert.deepEqual(await bench.sweep(), [id]);
    assert.deepEqual((await bench.row(id)).candidates, [post.id]);
  });

  it('is reported also if its import was cancelled while it was looked for', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add({}, 'one');
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, id);
    await cancelBatch(bench, 'one');
    bench.clock.advance(2 * MINUTE);
    await reconcileRow(bench.context, id);
    assert.equal((await bench.row(id)).state, 'cancelled');
    const post = bench.upstream.publish();
    bench.clock.advance(MINUTE);
    assert.deepEqual(await bench.sweep(), [id]);
    assert.deepEqual((await bench.row(id)).candidates, [post.id]);
  });

  it('is not checked if it was never sent', async (t) => {
    const bench = benchFor(t);
    cancel(bench.context, await bench.add());
    bench.upstream.publish();
    bench.clock.advance(MINUTE);
    assert.deepEqual(await bench.sweep(), []);
  });
});

describe('a row that changed while the clock was ahead', () => {
  it('is still checked by every sweep', async (t) => {
    const { bench, id } = await confirmedLater(t);
    const checks = async () => (await bench.row(id)).checks_left;
    assert.equal(await checks(), 2);
    for (const left of [1, 0]) {
      bench.clock.set(bench.clock.now() - HOUR);
      await bench.sweep();
      assert.equal(await checks(), left);
    }
  });
});
