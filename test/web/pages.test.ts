import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createElement } from 'preact';
import type { JobState } from '../../src/http/dashboard/queues.ts';
import { page as board } from '../../src/web/pages/board.ts';
import { page as outboxRow } from '../../src/web/pages/outbox-row.ts';
import { page as people } from '../../src/web/pages/people.ts';
import { page as queues } from '../../src/web/pages/queues.ts';
import { page as settings } from '../../src/web/pages/settings.ts';
import { drawingOf, useAttempt } from '../../src/web/pages/sql.ts';
import { page as webhooks } from '../../src/web/pages/webhooks.ts';
import { until } from '../support/until.ts';
import { drawing } from './document.ts';
import { serve, shown } from './page.ts';

describe('the page of an outbox row', () => {
  const row = {
    ...{ id: 9, batch: 'form', line: null, title: 'Dark mode', content: 'Please add it.', board: 'bugs' },
    ...{ email: null, full_name: null, attempts: 1, post_id: null, matched: null, mark: null },
    ...{ first_sent_at: null, candidates: [3, 4], baseline: [] as number[], duplicate_of: null },
    ...{ last_error: null, erased_at: null as string | null, created_at: '2026-01-01T00:00:00.000Z' },
  };
  const post = (id: number, confirms: number | null, content = row.content) => ({
    ...{ id, title: row.title, content, url: `https://a.test/${id}`, board: 'bugs', deleted: 0, confirms },
    ...{ creator_email: null, creator_name: 'Ada', created: '2026-01-01T00:00:00.000Z' },
  });
  const nothing = { approve: false, retry: false, cancel: false, resolve: false, edit: false };
  const open = (t: TestContext, given: object, can: object = {}, posts: object[] = []) => {
    const detail = { attempts: [], edits: [], reason: null, posts, original: null };
    serve(t, { '/data/outbox/9': { ...detail, row: { ...row, ...given }, can: { ...nothing, ...can } } });
    return shown(outboxRow, '/outbox/9', ['9']);
  };

  it('offers the decisions that the service allows, and none for a row whose text was erased', async (t) => {
    const names = { approve: 'Approve', retry: 'Send again', cancel: 'Cancel', edit: 'Change and send' };
    for (const [decision, name] of Object.entries(names)) {
      assert.deepEqual((await open(t, { state: 'rejected' }, { [decision]: true })).buttons(), [name]);
      t.mock.restoreAll();
    }
    const all = { approve: true, retry: true, cancel: true, resolve: true, edit: true };
    const erased = await open(t, { state: 'rejected', erased_at: row.created_at }, all);
    assert.deepEqual(erased.buttons(), []);
    assert.match(erased.root.text, /cannot be sent again/);
  });

  it('offers each post that it may be, but not the outcome of another row', async (t) => {
    const posts = [post(3, null), post(4, 8)];
    const { root, links } = await open(t, { state: 'uncertain' }, { resolve: true }, posts);
    const offered = root.all('button').map((one) => one.attribute('id'));
    assert.deepEqual(offered, ['is-3', 'is-other']);
    assert.ok(links().includes('/outbox/8'));
  });

  it('marks the words of a post that the row does not have', async (t) => {
    const posts = [post(3, null, 'Please add it today.')];
    const { root } = await open(t, { state: 'uncertain' }, { resolve: true }, posts);
    assert.deepEqual(
      root.all('mark').map(({ text }) => text),
      ['it today.'],
    );
  });
});

describe('the page of the queues', () => {
  const job = (id: string, isScheduled: boolean) => ({
    ...{ id, what: `job ${id}`, at: '2026-01-01T00:00:00.000Z', attempts: 1, error: null, rows: null },
    isScheduled,
  });
  const counts = { running: 0, next: 0, planned: 2, failed: 1, done: 0 };
  const answer = (isPaused: boolean) => ({
    queues: [{ name: 'push', isPaused, counts }],
    jobs: [job('a', false), job('b', true)],
  });
  const open = (t: TestContext, state: JobState, isPaused = false) => {
    const sent = serve(t, { '/data/queues': answer(isPaused) });
    return shown(queues, `/queues?queue=push&state=${state}`).then((page) => ({ ...page, sent }));
  };

  it('offers what can be done with jobs of a state, and removes no planned job that its schedule makes again', async (t) => {
    const expected: Record<JobState, string[]> = {
      running: [],
      next: ['Remove'],
      planned: ['Run now', 'Remove', 'Run now'],
      failed: ['Run again', 'Remove', 'Run again', 'Remove'],
      done: ['Remove', 'Remove'],
    };
    for (const [state, names] of Object.entries(expected)) {
      const { buttons } = await open(t, state as JobState);
      assert.deepEqual(buttons(), ['Pause', ...names], state);
      t.mock.restoreAll();
    }
  });

  it('leads from each number to its jobs, and sends what a person chose', async (t) => {
    const { root, links, sent } = await open(t, 'failed', true);
    assert.ok(links().includes('/queues?queue=push&state=planned'));
    assert.ok(!links().includes('/queues?queue=push&state=done'), 'there is none to show');
    root.one('button', 'Resume').fire('click');
    root.one('button', 'Run again').fire('click');
    await until('both are sent', async () => sent.length === 2);
    assert.deepEqual(sent, [
      { path: '/data/queues/push/resume', body: {} },
      { path: '/data/queues/push/jobs/retry', body: { id: 'a' } },
    ]);
  });
});

describe('the page of the settings', () => {
  const line = (name: string, from: string, value: string | null = null) => ({
    ...{ name, from, value, otherwise: 'off', meaning: `what ${name.toLowerCase()} means` },
  });
  const lines = [
    line('PUSH_PER_MINUTE', 'environment', '60'),
    line('SYNC_HEAD_EVERY', 'default'),
    line('UNHEARD_OF', 'default'),
  ];
  const names = (root: Awaited<ReturnType<typeof shown>>['root']): string[] =>
    root
      .all('td')
      .flatMap((cell) => (/^[A-Z_]+/.exec(cell.text)?.[0] ? [cell.all('code')[0]?.text ?? ''] : []));

  it('hides the defaults until they are asked for or searched, and shows each setting once', async (t) => {
    serve(t, { '/data/settings': { settings: lines } });
    const { root } = await shown(settings, '/settings');
    assert.deepEqual(names(root), ['PUSH_PER_MINUTE']);
    const [search, tick] = root.all('input');
    tick?.fire('change', { checked: true });
    await until('the defaults', async () => names(root).length > 1);
    assert.deepEqual(
      names(root),
      lines.map(({ name }) => name),
    );
    tick?.fire('change', { checked: false });
    search?.fire('input', { value: ' HEAD means ' });
    await until('what is searched', async () => names(root).join() === 'SYNC_HEAD_EVERY');
    search?.fire('input', { value: 'nothing of this kind' });
    await until('that nothing is found', async () => root.text.includes('No setting has these words.'));
  });
});

describe('the page of the webhooks', () => {
  const open = async (t: TestContext, given: object) => {
    const webhook = {
      ...{ id: 'crm', host: 'crm.test', lag: 0, lost: 0, isOwn: true, format: 'standard', types: null },
      ...{ boards: null, rule: null, disabled_why: null, disabled_at: null, failing_since: null },
      ...given,
    };
    const at = '2026-01-01T00:00:00.000Z';
    const sent = { at, status: 200, error: null, ms: 5 };
    const deliveries = [
      { ...sent, change: 7, type: 'post.created' },
      { ...sent, change: 0, type: 'webhook.test' },
    ];
    serve(t, { '/data/webhooks/': { deliveries }, '/data/webhooks': { webhooks: [webhook] } });
    const page = await shown(webhooks, '/webhooks');
    t.mock.restoreAll();
    return page;
  };

  it('offers a pause while it is told, another try while it fails, and the way back after that', async (t) => {
    const then = '2026-01-01T00:00:00.000Z';
    const given: [string, object][] = [
      ['Pause', {}],
      ['Try again now', { failing_since: then }],
      ['Go on', { disabled_at: then, disabled_why: 'a person paused it', failing_since: then }],
    ];
    for (const [name, facts] of given) {
      const { buttons } = await open(t, facts);
      // A test is not sent again.
      assert.deepEqual(buttons().slice(1), ['Send a test', name, 'Remove', 'Send again']);
    }
  });

  it('removes none that the settings name', async (t) => {
    assert.ok(!(await open(t, { isOwn: false })).buttons().includes('Remove'));
  });
});

describe('the page of the people', () => {
  const person = {
    id: 5,
    name: null,
    email: 'ada@example.com',
    isTeam: 0,
    posts: 2,
    comments: 0,
    last: null,
  };
  const open = (t: TestContext, rows: object[], given: object = {}) => {
    serve(t, { '/data/people': { rows, total: 120, from: 1, pageRows: 50, ...given } });
    return shown(people, '/people?sort=name&from=51');
  };
  const none = { company: null, plan: null };

  it('leads to each person, to their posts, and to the pages beside this one in the same order', async (t) => {
    const rows = Array.from({ length: 50 }, (_, i) => ({ ...person, ...none, id: i + 1 }));
    const { links } = await open(t, rows, { from: 51 });
    assert.deepEqual(links().slice(1, 3), ['/people/1', '/posts?creator=1']);
    assert.deepEqual(links().slice(-2), ['/people?sort=name', '/people?sort=name&from=101']);
  });

  it('shows the segment where somebody of the page has one', async (t) => {
    const heads = async (rows: object[]): Promise<string[]> => {
      const { root } = await open(t, rows);
      t.mock.restoreAll();
      return root.all('th').map(({ text }) => text);
    };
    const ada = { ...person, company: 'A & B', plan: 'Pro' };
    assert.ok(!(await heads([{ ...person, ...none }])).includes('Segment'));
    assert.equal((await heads([ada, { ...person, ...none, id: 6 }]))[1], 'Segment');
    const { links } = await open(t, [ada]);
    assert.ok(links().includes('/companies/A%20%26%20B'));
  });
});

it('a board shows the first posts of each status, and leads to the others', async (t) => {
  const column = (id: number, posts: number) => ({
    ...{ status: { id, name: `Status ${id}`, color: null }, posts, votes: 9 },
    top: [{ id: 10 * id, title: 'A post', votes: 5 }],
  });
  const answer = {
    board: { name: 'Bugs', slug: 'bugs' },
    posts: 4,
    votes: 18,
    columns: [column(1, 1), column(2, 3)],
  };
  serve(t, { '/data/boards/bugs': answer });
  const { root, links } = await shown(board, '/boards/bugs', ['bugs']);
  const more = links().filter((href) => href?.includes('status='));
  assert.deepEqual(more, ['/posts?board=bugs&status=2&sort=votes']);
  assert.match(root.text, /2 more posts/);
});

describe('an answer of SQL', () => {
  const chartOf = (columns: string[], rows: (string | number | null)[][]) =>
    drawingOf({ columns, rows, more: null, ms: 1 })?.title ?? null;

  it('is drawn where its first column names each row and a number stands beside it', () => {
    const two = (first: string | number, second: string | number) => [
      [first, 1],
      [second, 2],
    ];
    assert.equal(chartOf(['board', 'votes'], two('Bugs', 'Ideas')), 'Votes by board');
    assert.equal(chartOf(['month', 'posts'], two('2026-01', '2026-02')), 'Posts by month');
    assert.equal(chartOf(['board', 'post_id'], two('Bugs', 'Ideas')), null, 'ids are no amounts');
    assert.equal(chartOf(['board', 'votes'], two('Bugs', 'Bugs')), null, 'one name twice');
    assert.equal(chartOf(['id', 'votes'], two(1, 2)), null, 'no names');
    assert.equal(chartOf(['board', 'votes'], two('Bugs', 'Ideas').slice(1)), null, 'one row');
    assert.equal(chartOf(['board', 'moved'], [...two('Bugs', 'Ideas'), ['Else', -1]]), null, 'below zero');
    assert.equal(
      chartOf(
        ['board', 'state'],
        [
          ['a', 'x'],
          ['b', 'y'],
        ],
      ),
      null,
      'no number',
    );
  });

  it('is never that of a statement that another one ended, and Cancel ends the last', async () => {
    const { root, draw } = drawing();
    let attempt: ReturnType<typeof useAttempt>['attempt'] = async () => undefined;
    const Answer = () => {
      const running = useAttempt();
      attempt = running.attempt;
      return createElement('p', null, running.shown as never);
    };
    draw(createElement(Answer, null) as never);
    const answers = [1, 2, 3].map(() => Promise.withResolvers<string>());
    const signals: AbortSignal[] = [];
    const run = (i: number): void =>
      void attempt((signal) => {
        signals[i] = signal;
        return answers[i]?.promise ?? Promise.resolve('');
      });
    run(0);
    await until('it runs', async () => root.text.startsWith('Running'));
    run(1);
    assert.deepEqual([signals[0]?.aborted, signals[1]?.aborted], [true, false]);
    answers[1]?.resolve('the second');
    await until('its answer', async () => root.text === 'the second');
    answers[0]?.resolve('the first');
    run(2);
    await until('the button', async () => root.all('button').length === 1);
    root.one('button', 'Cancel').fire('click');
    await until('the word', async () => root.text === 'Cancelled.');
    assert.ok(signals[2]?.aborted);
    answers[2]?.resolve('the third');
    await answers[2]?.promise;
    assert.equal(root.text, 'Cancelled.');
  });
});
