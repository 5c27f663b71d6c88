import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { checkAfterSweep } from '../../src/outbox/after-check.ts';
import { cancel, cancelBatch, resolve, retry } from '../../src/outbox/decide.ts';
import { push } from '../../src/outbox/push.ts';
import type { PostText } from '../../src/store/outbox/types.ts';
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

describe('a number under which another post stands', () => {
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

  for (const [what, words] of [
    ['a post', stranger],
    ['a post with our title', { ...stranger, title: OURS.title }],
    ['a post with our title in capitals', { ...stranger, title: OURS.title.toUpperCase() }],
  ] as const)
    it(`leaves the row to a person where the answer named ${what} of a stranger`, async (t) => {
      const bench = benchFor(t);
      const id = await sentAs(bench, { ...words, creator: by(9, 'ada@example.com') });
      assert.deepEqual(await bench.sweep(), [id]);
      const { state, post_id, last_error } = await bench.row(id);
      assert.deepEqual([state, post_id], ['uncertain', null]);
      assert.match(last_error ?? '', /another post under the number/);
      assert.deepEqual(await bench.sweep(), []);
    });

  it('has that post beside the row from then on, and does not tell of it as one that turned up', async (t) => {
    const bench = benchFor(t);
    await knownAuthors(bench);
    const id = await answered(bench, asOwner, { ...OURS, creator: owner });
    assert.deepEqual(await bench.sweep(), []);
    const taken = (await bench.row(id)).post_id;
    bench.upstream.posts = bench.upstream.posts.filter((post) => post.id !== taken);
    bench.upstream.publish({ ...stranger, id: taken, creator: owner });
    assert.deepEqual(await bench.sweep(), [id]);
    assert.deepEqual((await bench.row(id)).candidates, [taken]);
    bench.clock.advance(HOUR);
    assert.deepEqual(await bench.sweep(), []);
    assert.match((await bench.row(id)).last_error ?? '', /another post under the number/);
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
    ['has our words, by whomever', { ...OURS, title: 'Dark mode!', creator: by(9, 'ada@example.com') }],
    ['is by somebody of the team', { ...stranger, creator: { ...by(9, 'ada@example.com'), is_team: true } }],
  ] as const)
    it(`keeps the row as it is where the post ${what}`, async (t) => {
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

  for (const [whom, creator] of [
    ['the customer', by(7, OURS.email)],
    ['the owner', owner],
  ] as const)
    it(`leaves a row to a person where the answer named a post of ${whom} from the day before, with another text`, async (t) => {
      const bench = benchFor(t);
      await bench.sweep();
      const created = new Date(bench.clock.now() - 24 * HOUR).toISOString();
      const id = await answered(
        bench,
        {},
        { title: OURS.title, content: 'As on my phone.', creator, created },
      );
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

  it('leaves rows to a person whose words stand in another post, before any post shows who we are', async (t) => {
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

  it('leaves both rows to a person where a gateway exchanged their answers', async (t) => {
    const bench = benchFor(t);
    const theirs = { ...OURS, ...stranger };
    const creator = by(9, OURS.email);
    const ids = [await bench.add(OURS), await bench.add(theirs)];
    const posts = [
      bench.upstream.publish({ ...theirs, creator }),
      bench.upstream.publish({ ...OURS, creator }),
    ];
    bench.upstream.outcomes = posts.map(({ id }) => confirmed(id));
    for (const id of ids) await push(bench.context, id);
    bench.clock.advance(MINUTE);
    assert.deepEqual((await bench.sweep()).toReversed(), ids);
    for (const id of ids) assert.equal((await bench.row(id)).state, 'uncertain');
  });

  it('finds the post of an unclear row although the answer to another row named it', async (t) => {
    const bench = benchFor(t);
    const first = await bench.add(OURS);
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, first);
    const { id: post } = bench.upstream.publish({ ...OURS, creator: by(9, OURS.email) });
    const second = await bench.add({ ...OURS, ...stranger });
    bench.upstream.outcomes = [confirmed(post)];
    await push(bench.context, second);
    bench.clock.advance(2 * MINUTE);
    assert.equal(await reconcileRow(bench.context, first), 'found');
    assert.deepEqual(
      [(await bench.row(first)).post_id, (await bench.row(second)).state],
      [post, 'uncertain'],
    );
  });

  it("keeps rows as they are where all posts are shown as the owner's, with other words", async (t) => {
    const bench = benchFor(t);
    const shown = { ...stranger, creator: by(9, 'owner@example.com') };
    const ids = [await sentAs(bench, shown), await sentAs(bench, shown)];
    assert.deepEqual(await bench.sweep(), []);
    for (const id of ids) assert.equal((await bench.row(id)).state, 'confirmed');
  });

  it('frees the number for the row whose post came in the place of a deleted one', async (t) => {
    const bench = benchFor(t);
    const first = await sentAs(bench, { ...OURS, creator: by(9, OURS.email) });
    await bench.sweep();
    const [{ id: number = 0 } = {}] = bench.upstream.posts;
    const second = await bench.add({ ...OURS, ...stranger });
    bench.upstream.posts = bench.upstream.posts.slice(1);
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, second);
    bench.upstream.publish({ ...stranger, id: number, creator: by(9, OURS.email) });
    assert.deepEqual(await bench.sweep(), [first]);
    bench.clock.advance(2 * MINUTE);
    assert.equal(await reconcileRow(bench.context, second), 'found');
    assert.equal((await bench.row(second)).post_id, number);
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

  it('is told of once', async (t) => {
    const { bench, id } = await confirmedLater(t);
    bench.upstream.publish();
    assert.deepEqual(await bench.sweep(), [id]);
    bench.clock.advance(HOUR);
    assert.deepEqual(await bench.sweep(), []);
    assert.equal((await bench.row(id)).checks_left, 0);
  });

  it('is found however the service wrote its title', async (t) => {
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

  for (const [how, created] of [
    ['hours behind', (now: number) => new Date(now - 10 * HOUR).toISOString().slice(0, 19)],
    [
      'that are the day before',
      (now: number) => `${new Date(now - 24 * HOUR).toISOString().slice(0, 10)}T00:00:00`,
    ],
  ] as const)
    it(`is found although its number is lower than others, and the service tells local times ${how}`, async (t) => {
      const bench = benchFor(t);
      const local = (id: number) => ({ id, created: created(bench.clock.now()) });
      bench.upstream.publish(local(90_000));
      await bench.sweep();
      const id = await secondAttempt(bench, {});
      const late = bench.upstream.publish(local(50_000));
      assert.deepEqual(await bench.sweep(), [id]);
      assert.equal((await bench.row(id)).duplicate_of, late.id);
    });

  it('is found although its number is lower than others, and the service dates our posts days too early', async (t) => {
    const bench = benchFor(t);
    const early = (id: number) => ({ id, created: new Date(bench.clock.now() - 120 * HOUR).toISOString() });
    bench.upstream.publish(early(90_000));
    await bench.sweep();
    const id = await secondAttempt(bench, {});
    bench.upstream.posts = bench.upstream.posts.map((post) => ({ ...post, ...early(post.id) }));
    const late = bench.upstream.publish(early(50_000));
    assert.deepEqual(await bench.sweep(), [id]);
    assert.equal((await bench.row(id)).duplicate_of, late.id);
  });

  it('is found although its number is lower than others, and it is dated a year earlier than our own', async (t) => {
    const bench = benchFor(t);
    bench.upstream.publish({ id: 90_000 });
    await bench.sweep();
    const id = await secondAttempt(bench, {});
    const created = new Date(bench.clock.now() - 8760 * HOUR).toISOString();
    const late = bench.upstream.publish({ id: 50_000, created });
    assert.deepEqual(await bench.sweep(), [id]);
    assert.equal((await bench.row(id)).duplicate_of, late.id);
  });

  it('is written on the row whose very words it has, although it could be that of another that is uncertain', async (t) => {
    const words = { title: 'Better export for the calendar', content: 'We need it as a table.' };
    const bench = benchFor(t);
    const id = await secondAttempt(bench, words);
    const other = await bench.add({ ...words, board: 'bugs', content: 'We need it as a file.' });
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, other);
    const late = bench.upstream.publish(words);
    bench.clock.advance(2 * MINUTE);
    assert.equal(await reconcileRow(bench.context, other), 'uncertain');
    await bench.sweep();
    assert.equal((await bench.row(id)).duplicate_of, late.id);
  });

  it('is written on the row whose very words it has, although it could be made of those of one on its way', async (t) => {
    const { bench, id } = await confirmedLater(t);
    const other = await bench.add({ title: 'Dark mode!' });
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, other);
    const late = bench.upstream.publish();
    bench.clock.advance(MINUTE);
    assert.deepEqual(await bench.sweep(), [id]);
    assert.equal((await bench.row(id)).duplicate_of, late.id);
  });

  it('is written on its row although somebody has changed the words of the first one', async (t) => {
    const { bench, id } = await confirmedLater(t, { email: 'kim@example.com', full_name: 'Kim' });
    const [own] = bench.upstream.posts;
    assert.ok(own);
    await bench.sweep();
    bench.upstream.posts = [{ ...own, title: 'Please look at this', content: 'Merged with what we plan.' }];
    const late = bench.upstream.publish();
    bench.clock.advance(MINUTE);
    assert.deepEqual(await bench.sweep(), [id]);
    const { state, post_id, duplicate_of } = await bench.row(id);
    assert.deepEqual([state, post_id, duplicate_of], ['confirmed', own.id, late.id]);
  });

  it('is found up to half an hour later, however often sweeps pass', async (t) => {
    const { bench, id } = await confirmedLater(t);
    for (let n = 0; n < 25; n++) {
      assert.deepEqual(await bench.sweep(), []);
      bench.clock.advance(MINUTE);
    }
    bench.upstream.publish();
    assert.deepEqual(await bench.sweep(), [id]);
  });

  it('is written on its row although a row on its way could own any post of the same author', async (t) => {
    const bench = benchFor(t);
    const open = await bench.add({ title: 'Something else', content: '' });
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, open);
    await bench.store.move(
      open,
      { from: ['ambiguous'], to: 'ambiguous' },
      { now: bench.clock.now(), notBefore: bench.clock.now() + 9 * HOUR },
    );
    const id = await secondAttempt(bench, {});
    const late = bench.upstream.publish();
    assert.deepEqual(await bench.sweep(), [id]);
    assert.equal((await bench.row(id)).duplicate_of, late.id);
  });

  it('and a third: both are shown', async (t) => {
    const { bench, id } = await confirmedLater(t);
    const late = [bench.upstream.publish().id];
    await bench.sweep();
    late.push(bench.upstream.publish().id);
    bench.clock.advance(HOUR);
    assert.deepEqual(await bench.sweep(), [id]);
    const { duplicate_of, candidates } = await bench.row(id);
    assert.deepEqual({ duplicate_of, candidates }, { duplicate_of: late[0], candidates: late });
  });

  it('and a third in the same sweep: the first of them is the second post', async (t) => {
    const { bench, id } = await confirmedLater(t);
    const late = [bench.upstream.publish({ id: 9999 }).id, bench.upstream.publish({ id: 10_000 }).id];
    await bench.sweep();
    const { duplicate_of, candidates } = await bench.row(id);
    assert.deepEqual({ duplicate_of, candidates }, { duplicate_of: late[0], candidates: late });
  });

  it('is shown on one of two twins, not on both', async (t) => {
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

  it('is no check of it: a second post is shown when the list goes on', async (t) => {
    const bench = await sweptBench(t);
    const id = await secondAttempt(bench, {});
    const late = bench.upstream.publish();
    await whileFrozen(bench, () => twoSweeps(bench));
    assert.deepEqual(await bench.sweep(), [id]);
    assert.equal((await bench.row(id)).duplicate_of, late.id);
  });

  it('is no check of it either where the post was listed before', async (t) => {
    const bench = await sweptBench(t);
    const id = await secondAttempt(bench, {});
    await bench.sweep();
    const late = bench.upstream.publish();
    bench.clock.advance(HOUR);
    await whileFrozen(bench, () => twoSweeps(bench));
    assert.deepEqual(await bench.sweep(), [id]);
    assert.equal((await bench.row(id)).duplicate_of, late.id);
  });

  it('is no check of a row without a post, where it does not list what was sent last to the same board', async (t) => {
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

  it('counts a day after the row was sent: its post may be gone', async (t) => {
    const bench = await sweptBench(t);
    const id = await secondAttempt(bench, {});
    bench.upstream.posts = bench.upstream.posts.slice(-1);
    for (const [hours, left] of [
      [12, 2],
      [11, 2],
      [2, 1],
      [1, 0],
    ] as const) {
      bench.clock.advance(hours * HOUR);
      await bench.sweep();
      assert.equal((await bench.row(id)).checks_left, left, `${hours}`);
    }
  });
});

describe('the look after a sweep', () => {
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

  it('is taken twice, the second time half an hour after the first', async (t) => {
    const { bench, id } = await confirmedLater(t);
    const left: number[] = [];
    for (const pause of [MINUTE, 10 * MINUTE, 31 * MINUTE, HOUR]) {
      bench.clock.advance(pause);
      await bench.sweep();
      left.push((await bench.row(id)).checks_left);
    }
    assert.deepEqual(left, [1, 1, 0, 0]);
  });

  it('waits while a twin is under way: the post may be the twin’s', async (t) => {
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

  it('takes the wish of another customer in nearly the same words for no second post', async (t) => {
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

  it('accuses nobody of posts that stood before, or that others wrote long before', async (t) => {
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

  it('shows on an uncertain row what has turned up since, and leaves the decision to the person', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    for (let n = 0; n < 2; n++) {
      bench.upstream.outcomes = [unknown()];
      await push(bench.context, id);
      bench.clock.advance(2 * MINUTE);
      await reconcileRow(bench.context, id);
    }
    const late = [bench.upstream.publish().id];
    bench.clock.advance(MINUTE);
    assert.deepEqual(await bench.sweep(), [id]);
    assert.equal((await bench.row(id)).duplicate_of, null, 'the first may be its own');
    late.push(bench.upstream.publish().id);
    bench.clock.advance(HOUR);
    assert.deepEqual(await bench.sweep(), [id]);
    const { state, candidates, duplicate_of } = await bench.row(id);
    assert.deepEqual(
      { state, candidates, duplicate_of },
      { state: 'uncertain', candidates: late, duplicate_of: late[1] },
    );
    const change = { now: bench.clock.now(), postId: late[1] ?? 0 };
    const resolved = await bench.store.move(id, { from: ['uncertain'], to: 'confirmed' }, change);
    assert.equal(resolved?.duplicate_of, null, 'a row is no duplicate of its own post');
  });
});

describe('what a person had to choose from', () => {
  async function undecided(t: TestContext): Promise<{ bench: Bench; id: number; posts: number[] }> {
    const bench = benchFor(t);
    const id = await bench.add();
    bench.upstream.duringCreate = () => void [bench.upstream.publish(), bench.upstream.publish()];
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, id);
    bench.clock.advance(2 * MINUTE);
    assert.equal(await reconcileRow(bench.context, id), 'uncertain');
    const posts = bench.upstream.posts.map((post) => post.id).toReversed();
    return { bench, id, posts };
  }

  it('and did not choose is a second post of the row', async (t) => {
    const { bench, id, posts } = await undecided(t);
    const [first = 0, second = 0] = posts;
    resolve(bench.context, id, { id: first, url: null });
    bench.clock.advance(MINUTE);
    assert.deepEqual(await bench.sweep(), [id]);
    assert.equal((await bench.row(id)).duplicate_of, second);
    bench.clock.advance(HOUR);
    assert.deepEqual(await bench.sweep(), [], 'it is told once');
  });

  it('and is shown once more in the same words, however the service has changed them, is a second post', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add({ title: 'Tables', content: 'Larger.' });
    const shown = { title: 'Tische', content: 'Maschinell übersetzt und bearbeitet.' };
    bench.upstream.duringCreate = () => void bench.upstream.publish(shown);
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, id);
    bench.clock.advance(2 * MINUTE);
    assert.equal(await reconcileRow(bench.context, id), 'uncertain');
    resolve(bench.context, id, { id: bench.upstream.posts[0]?.id ?? 0, url: null });
    bench.clock.advance(MINUTE);
    const twin = bench.upstream.publish(shown);
    assert.deepEqual(await bench.sweep(), [id]);
    assert.equal((await bench.row(id)).duplicate_of, twin.id);
  });

  it('and is none of its own is not called a second post when its own turns up', async (t) => {
    const bench = benchFor(t);
    const id = await bench.add();
    const other = bench.upstream.publish({ title: 'A rack for bicycles', content: 'In front of the house.' });
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, id);
    bench.clock.advance(2 * MINUTE);
    assert.equal(await reconcileRow(bench.context, id), 'uncertain');
    bench.clock.advance(MINUTE);
    const own = bench.upstream.publish();
    assert.deepEqual(await bench.sweep(), [id]);
    const { candidates, duplicate_of } = await bench.row(id);
    assert.deepEqual({ candidates, duplicate_of }, { candidates: [other.id, own.id], duplicate_of: null });
  });

  it('may be named again by whoever mistyped it, but not where the answer named the post', async (t) => {
    const { bench, id, posts } = await undecided(t);
    const [first = 0] = posts;
    resolve(bench.context, id, { id: 777, url: null });
    assert.equal(resolve(bench.context, id, { id: first, url: null }).post_id, first);
    const sent = await bench.add({ title: 'Answered' });
    bench.upstream.duringCreate = () => {};
    bench.upstream.outcomes = [confirmed(900)];
    await push(bench.context, sent);
    assert.throws(() => resolve(bench.context, sent, { id: 778, url: null }), /confirmed already/);
  });

  it('stays on the row that was sent again all the same', async (t) => {
    const { bench, id, posts } = await undecided(t);
    bench.upstream.duringCreate = () => {};
    retry(bench.context, id);
    bench.upstream.outcomes = [confirmed(bench.upstream.publish().id)];
    await push(bench.context, id);
    const { state, candidates } = await bench.row(id);
    assert.equal(state, 'confirmed');
    assert.deepEqual(new Set(candidates), new Set(posts));
  });

  it('stays on the row that comes to wait for a second decision, and after that', async (t) => {
    const { bench, id, posts } = await undecided(t);
    const late = { title: 'Wish: dark mode', content: 'My eyes hurt.' };
    bench.upstream.duringCreate = () => void bench.upstream.publish(late);
    retry(bench.context, id);
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, id);
    bench.clock.advance(2 * MINUTE);
    assert.equal(await reconcileRow(bench.context, id), 'uncertain');
    const [newest] = bench.upstream.posts;
    assert.deepEqual((await bench.row(id)).candidates, [newest?.id, ...posts.toReversed()]);
    resolve(bench.context, id, { id: newest?.id ?? 0, url: null });
    bench.clock.advance(MINUTE);
    await bench.sweep();
    for (const post of posts) assert.ok((await bench.row(id)).candidates.includes(post));
  });

  it('is taken back from a row that it is called the second post of', async (t) => {
    const { bench, id, posts } = await undecided(t);
    const [first = 0, second = 0] = posts;
    resolve(bench.context, id, { id: first, url: null });
    bench.clock.advance(2 * MINUTE);
    await bench.sweep();
    assert.equal((await bench.row(id)).duplicate_of, second);
    const twin = await bench.add({ content: 'Another text.' });
    bench.store.move(twin, { from: ['ready'], to: 'uncertain' }, { now: bench.clock.now() });
    resolve(bench.context, twin, { id: second, url: null });
    assert.equal((await bench.row(id)).duplicate_of, null);
    bench.clock.advance(HOUR);
    await bench.sweep();
    assert.equal((await bench.row(id)).duplicate_of, null);
  });
});

describe('a row that was cancelled before it was sent again', () => {
  it('is told of where the post of its first attempt turns up', async (t) => {
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

  it('is told of also where its import was cancelled while it was looked for', async (t) => {
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

  it('is not looked at where it was never sent', async (t) => {
    const bench = benchFor(t);
    cancel(bench.context, await bench.add());
    bench.upstream.publish();
    bench.clock.advance(MINUTE);
    assert.deepEqual(await bench.sweep(), []);
    assert.deepEqual(bench.store.toCheck(), []);
  });
});

describe('a row that changed while the clock was ahead', () => {
  it('is checked by every sweep all the same', async (t) => {
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
