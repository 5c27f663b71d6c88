import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  hindranceLines,
  NO_ROWS,
  outboxListText,
  pausedText,
  showText,
  stateNamed,
  stateText,
} from '../../src/cli/outbox-text.ts';
import type { OutboxRow } from '../../src/outbox/decide/types.ts';
import { edit, pauseBatch, sendEdited } from '../../src/outbox/person.ts';
import { push } from '../../src/outbox/send/push.ts';
import type { BatchRow } from '../../src/outbox/store/batches.ts';
import type { ViewedPost } from '../../src/outbox/store/view.ts';
import { benchFor, MINUTE, TEXT } from '../outbox/bench.ts';

describe('an import that was paused, told', () => {
  it('says that it is paused also if all of its rows are being sent', () => {
    const told = (rows: number, sending: number) => pausedText({ batch: 'b1', rows, sending });
    assert.equal(told(0, 3), 'batch b1: paused; 3 rows are on their way');
    assert.equal(told(0, 1), 'batch b1: paused; 1 row is on its way');
    assert.equal(told(5, 0), 'batch b1: paused; 5 rows wait');
    assert.equal(told(1, 2), 'batch b1: paused; 1 row waits, 2 rows are on their way');
    assert.equal(told(0, 0), 'batch b1: paused');
  });

  it('counts the rows that wait and those on their way', async (t) => {
    const bench = benchFor(t);
    const ids = [await bench.add({ title: 'A' }, 'one'), await bench.add({ title: 'B' }, 'one')];
    bench.upstream.duringCreate = () =>
      assert.deepEqual(pauseBatch(bench, 'one'), { batch: 'one', rows: 1, sending: 1 });
    await push(bench.context, ids[0] ?? 0);
    assert.equal(bench.upstream.created.length, 1);
  });
});

describe('a row of the outbox, shown', () => {
  it('was first sent at its first attempt, also where it was edited and sent again', async (t) => {
    const bench = benchFor(t);
    const { store, clock, upstream } = bench;
    const id = await bench.add();
    upstream.outcomes = [{ outcome: 'rejected', reason: 'no such board', httpStatus: 400, serverTime: null }];
    await push(bench.context, id);
    clock.advance(MINUTE);
    sendEdited(bench, edit(bench, id, { board: 'bugs' }));
    await push(bench.context, id);
    const [first, second] = store.attempts(id);
    assert.notEqual(first?.started_at, second?.started_at);
    const shown = showText(await bench.row(id), store.attempts(id), []);
    assert.match(shown, new RegExp(`^first sent +${first?.started_at}$`, 'm'));
  });
});

function aRow(changes: Partial<OutboxRow> = {}): OutboxRow {
  const row = {
    id: 12,
    batch: 'b1',
    line: 3,
    state: 'ready',
    attempts: 0,
    post_id: null,
    candidates: [],
    baseline: [],
  };
  return { ...TEXT, ...row, duplicate_of: null, matched: null, last_error: null, ...changes } as OutboxRow;
}

describe('the states of rows', () => {
  it('are named as people read them or as machines do', () => {
    assert.deepEqual([' Sent ', 'confirmed', 'NEEDS A DECISION', 'queued', 'unknown'].map(stateNamed), [
      'confirmed',
      'confirmed',
      'uncertain',
      'ready',
      null,
    ]);
    assert.equal(stateText({ confirmed: 1200, ready: 0, rejected: 1 }), '1,200 sent, 1 rejected');
    assert.equal(stateText({}), 'empty');
  });
});

describe('a list of the outbox', () => {
  const LISTED = {
    ...{ rows: [aRow()], counts: { ...NO_ROWS, ready: 5, confirmed: 1 }, paused: null, refused: [] },
    ...{ filter: { state: null, batch: null }, batch: null, estimate: null },
  };
  const said = (changes: Partial<Parameters<typeof outboxListText>[0]> = {}) =>
    outboxListText({ ...LISTED, ...changes }, 200).split('\n');

  it('shows each row with the post that it became', () => {
    const [head, row] = said({
      rows: [aRow({ state: 'confirmed', post_id: 5, attempts: 2, email: 'ada@example.com' })],
    });
    const words = (line = '') => line.trim().split(/ {2,}/);
    assert.deepEqual(words(head), [
      'ID',
      'STATE',
      'BOARD',
      'GOES AS',
      'POST',
      'TRIES',
      'BATCH',
      'LINE',
      'TITLE',
    ]);
    assert.deepEqual(words(row), [
      '12',
      'Sent',
      'ideas',
      'ada@example.com',
      '#5',
      '2',
      'b1',
      '3',
      'Dark mode',
    ]);
  });

  it('says how many rows it does not show', () => {
    assert.ok(said().includes('The newest 1 of 6; --limit shows more.'));
    assert.ok(
      said({ filter: { state: 'ready', batch: null } }).includes('The newest 1 of 5; --limit shows more.'),
    );
    assert.ok(!said({ filter: { state: 'confirmed', batch: null } }).some((line) => /newest/.test(line)));
    assert.deepEqual(said({ rows: [] }), ['outbox: 5 queued, 1 sent']);
  });

  it('says whether an import is paused, and how long it takes', () => {
    const filter = { state: null, batch: 'b1' };
    const batch = (told: Partial<BatchRow>) =>
      ({ batch: 'b1', paused_at: null, cancelled_at: null, ...told }) as BatchRow;
    const last = (told: Partial<BatchRow>) => said({ filter, batch: batch(told) }).at(-1);
    assert.equal(last({}), 'batch b1: 5 queued, 1 sent');
    assert.equal(
      last({ paused_at: 'noon' }),
      'Paused at noon. Go on: feedback-mirror outbox resume --batch b1',
    );
    assert.match(last({ paused_at: 'noon', cancelled_at: 'one' }) ?? '', /^Cancelled at one: /);
    const lasting = (ms: number) =>
      said({ estimate: { rows: 5, perMinute: 5, ms, until: 0 } }).some((line) =>
        /a minute: about/.test(line),
      );
    assert.deepEqual([lasting(59_999), lasting(60_000)], [false, true]);
  });

  it('says why a row is where it is, and of a second post before all else', () => {
    const why = (changes: Partial<OutboxRow>) => {
      const lines = said({ rows: [aRow(changes)] });
      const at = lines.findIndex((line) => /^ID +WHY/.test(line));
      return at < 0 ? null : lines[at + 1]?.replace(/^12 +/, '').trim();
    };
    assert.equal(why({}), null);
    assert.equal(why({ last_error: 'no such board', state: 'rejected' }), 'no such board');
    assert.equal(why({ last_error: 'once', state: 'confirmed', post_id: 5 }), null);
    assert.equal(
      why({ duplicate_of: 7, state: 'confirmed', post_id: 5 }),
      'it left a second post upstream, 7',
    );
    assert.equal(
      why({ duplicate_of: 7, candidates: [7, 8], state: 'confirmed', post_id: 5 }),
      'it left a second post upstream, 7, and perhaps 8',
    );
    const left: Partial<OutboxRow> = { candidates: [5, 7], state: 'confirmed', post_id: 5 };
    assert.equal(why(left), 'it may have left another post upstream: 7');
    assert.equal(why({ ...left, matched: 'person' }), null);
    assert.equal(
      why({ candidates: [5, 7], state: 'uncertain', last_error: '2 posts could be this one' }),
      '2 posts could be this one',
    );
  });

  it('says what keeps rows from being sent', () => {
    const board = {
      board: 'ideas',
      kind: 'owner',
      since: 'a',
      refused_at: 'b',
      until: 'c',
      refusals: 1,
    } as const;
    const lines = hindranceLines({ paused: 'the token was refused', refused: [board] });
    assert.deepEqual(
      lines.map((line) => /^(Sending is paused: the token was refused|Not sent: )/.exec(line)?.[1]),
      ['Sending is paused: the token was refused', 'Not sent: '],
    );
    assert.deepEqual(hindranceLines({ paused: null, refused: [] }), []);
    assert.deepEqual(said({ paused: 'the token was refused', refused: [board] }).slice(-2), lines);
  });
});

describe('a row that needs a decision, shown', () => {
  const post = (id: number, more: Partial<ViewedPost> = {}): ViewedPost =>
    ({
      id,
      title: `Post ${id}`,
      content: '',
      board: 'Ideas',
      url: `/p/${id}`,
      created: 'then',
      deleted: 0,
      confirms: null,
      ...more,
    }) as ViewedPost;
  const lines = (row: Partial<OutboxRow>, posts: ViewedPost[]) =>
    showText(aRow(row), [], posts)
      .split('\n')
      .map((line) => line.trim().replace(/ +/g, ' '));

  it('is shown beside its candidate posts, with the commands that decide', () => {
    const shown = lines({ state: 'uncertain', candidates: [5, 6, 8], baseline: [8] }, [
      post(5, { deleted: 1 }),
      post(6, { confirms: 9 }),
      post(7),
      post(8),
    ]);
    assert.ok(shown.includes('it could be one of these posts:'));
    assert.ok(shown.includes('SENT #5 #6 #8'));
    assert.ok(shown.some((line) => /^#5 .*deleted since$/.test(line)));
    assert.ok(shown.some((line) => /^#6 .*confirms row 9$/.test(line)));
    assert.ok(!shown.some((line) => /^#7/.test(line)));
    assert.ok(shown.some((line) => /^#8 .*turned down before$/.test(line)));
    for (const command of ['resolve 12 --post NUMBER', 'retry 12', 'cancel 12'])
      assert.ok(
        shown.some((line) => line.endsWith(`feedback-mirror outbox ${command}`)),
        command,
      );
    assert.ok(
      lines({ state: 'uncertain', candidates: [5, 6] }, []).some((line) =>
        line.startsWith('#5, #6: not in the mirror.'),
      ),
    );
  });

  it('is not offered a post that confirms another row, but told which', () => {
    const shown = (...posts: ViewedPost[]) => lines({ state: 'uncertain', candidates: [5, 6] }, posts);
    const offers = (all: string[]) => all.some((line) => line.includes('outbox resolve'));
    const taken = shown(post(5, { confirms: 9 }), post(6, { confirms: 10 }));
    assert.equal(offers(taken), false);
    assert.ok(taken.includes('None of them is free: post 5 confirms row 9, post 6 confirms row 10.'));
    assert.ok(taken.some((line) => line.endsWith('feedback-mirror outbox retry 12')));
    assert.ok(offers(shown(post(5, { confirms: 9 }), post(6))));
    assert.ok(offers(shown(post(5, { confirms: 9 }))), 'the mirror does not know the other');
  });

  it('shows other commands in every other state', () => {
    const commands = (state: OutboxRow['state']) =>
      lines({ state }, []).flatMap((line) => /feedback-mirror outbox (\S+) 12/.exec(line)?.[1] ?? []);
    const states = ['proposed', 'rejected', 'cancelled', 'ready', 'confirmed'] as const;
    assert.deepEqual(states.map(commands), [
      ['approve', 'edit', 'cancel'],
      ['edit', 'retry'],
      ['retry'],
      [],
      [],
    ]);
  });

  it('is not mistaken for one that was sent and is not listed yet', () => {
    const hidden = (row: Partial<OutboxRow>, posts: ViewedPost[]) =>
      lines(row, posts).some((line) => line.startsWith('No pass has listed post 5 yet.'));
    const sent = { state: 'confirmed', post_id: 5 } as const;
    assert.deepEqual([hidden(sent, []), hidden(sent, [post(5)]), hidden({}, [])], [true, false, false]);
    const found = { ...sent, matched: 'similar 0.99' };
    assert.deepEqual([hidden(found, []), hidden({ ...sent, matched: 'person' }, [])], [false, true]);
    assert.ok(lines(sent, [post(5, { confirms: 12 })]).includes('in the mirror:'));
  });
});
