import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assess, type Progress } from '../../src/service/health.ts';
import { type Differences, HOUR, MINUTE, NO_TROUBLES, NOW, progressWith, SECOND } from './healthy.ts';

/** What a look at this progress must find: the failing check with its words, or null for a service that is ready. */
type Case = [what: string, differences: Differences, failing: string | null, detail: RegExp];

function table(cases: Case[]): void {
  for (const [what, differences, failing, detail] of cases) {
    it(what, () => {
      const { ready, checks } = assess(progressWith(differences));
      const bad = checks.filter(({ ok, warning }) => !ok && !warning);
      assert.equal(ready, failing === null);
      assert.deepEqual(
        bad.map(({ name }) => name),
        failing === null ? [] : [failing],
      );
      const said = (failing === null ? checks : bad).map((check) => `${check.name}: ${check.detail}`);
      assert.match(said.join('\n'), detail);
    });
  }
}

const REFUSED = {
  resource: 'posts',
  code: 'unauthorised',
  since: '2026-11-15T11:02:00.000Z',
  at: '2026-11-15T11:59:00.000Z',
  error: 'Listing posts, page 1, at the.host failed: the upstream answered 401.',
} as const;

function running(mode: 'sweep' | 'head', sinceMs: number, lastPageMs: number) {
  return { mode, since: NOW - sinceMs, lastPageAt: NOW - lastPageMs };
}

describe('a service that works', () => {
  table([
    ['is ready', {}, null, /posts: the last complete sweep ended 20 min ago/],
    [
      'is ready while it sweeps',
      { posts: { running: running('sweep', 30 * SECOND, SECOND) } },
      null,
      /a sweep has run for 30 s/,
    ],
  ]);

  it('has one check for everything it judges', () => {
    const names = assess(progressWith()).checks.map(({ name }) => name);
    assert.deepEqual(names, ['mirror', 'queue', 'loop', 'posts', 'comments', 'outbox', 'upstream']);
  });
});

describe('the file of the mirror', () => {
  table([
    [
      'makes it not ready when it was removed',
      { mirror: 'removed' },
      'mirror',
      /was removed .* restart the service/,
    ],
    [
      'makes it not ready when it was replaced',
      { mirror: 'replaced' },
      'mirror',
      /another file .* restart the service/,
    ],
  ]);
});

describe('a full disk', () => {
  it('is named by the checks of the mirror and of a queue that cannot write', () => {
    const queue = { kind: 'embedded', reachable: false } as const;
    const troubles = { ...NO_TROUBLES, disk: { since: new Date(NOW).toISOString(), error: '4 KB are free' } };
    const { ready, checks } = assess(progressWith({ troubles, queue }));
    const failed = checks.filter(({ ok, warning }) => !ok && !warning);
    assert.equal(ready, false);
    assert.deepEqual(
      failed.map(({ name, runbook }) => [name, runbook]),
      [
        ['mirror', 'docs/operations.md#disk-full'],
        ['queue', 'docs/operations.md#disk-full'],
      ],
    );
  });

  it('is not named while the queue of another machine is away', () => {
    const { checks } = assess(progressWith({ queue: { kind: 'redis', reachable: false } }));
    assert.equal(checks.find(({ name }) => name === 'queue')?.runbook, 'docs/operations.md#queue-away');
  });
});

describe('the queue and its loop', () => {
  table([
    [
      'make it not ready when the queue is away',
      { queue: { kind: 'redis', reachable: false } },
      'queue',
      /redis queue does not answer/,
    ],
    ['may pause for a minute', { lastTickAt: NOW - 60 * SECOND }, null, /loop: .*60 s ago/],
    [
      'are stuck after more than that',
      { lastTickAt: NOW - 61 * SECOND },
      'loop',
      /61 s ago, one is due every 10 s/,
    ],
    [
      'have three turns where a turn takes long',
      { tickEveryMs: 30 * SECOND, lastTickAt: NOW - 90 * SECOND },
      null,
      /loop/,
    ],
    ['and not four', { tickEveryMs: 30 * SECOND, lastTickAt: NOW - 91 * SECOND }, 'loop', /every 30 s/],
    [
      'have to show one tick first',
      { startedAt: NOW - 4 * SECOND, lastTickAt: null },
      'loop',
      /start 4 s ago/,
    ],
    [
      'are not alarmed by a clock that was set back',
      { lastTickAt: NOW + 5 * MINUTE },
      null,
      /loop: .* 0 s ago/,
    ],
  ]);
});

describe('the first sweep', () => {
  const never = { lastSweepAt: null, sweepDueAt: NOW - 3 * HOUR };
  table([
    [
      'has to be complete before the service is ready, however long it takes',
      { startedAt: NOW - 3 * HOUR, posts: { ...never, running: running('sweep', 3 * HOUR, 2 * SECOND) } },
      'posts',
      /first sweep has run for 3 h, its last page came 2 s ago/,
    ],
    [
      'is announced before it began',
      { startedAt: NOW - SECOND, posts: { ...never, sweepDueAt: NOW - SECOND } },
      'posts',
      /no complete sweep yet; one is due now/,
    ],
    [
      'is announced when it is planned for later',
      { comments: { lastSweepAt: null, sweepDueAt: NOW + 5 * MINUTE } },
      'comments',
      /one is due in 5 min/,
    ],
    [
      'is not taken for one when it is only the head',
      { posts: { ...never, sweepDueAt: NOW, running: running('head', SECOND, SECOND) } },
      'posts',
      /no complete sweep yet/,
    ],
  ]);
});

describe('a list', () => {
  const late = (ms: number) => ({ lastSweepAt: NOW - HOUR - ms, sweepDueAt: NOW - ms });
  table([
    ['may be due for a while', { posts: late(90 * SECOND) }, null, /posts/],
    ['is stuck when nobody sweeps it', { posts: late(91 * SECOND) }, 'posts', /due for 91 s, and none runs/],
    [
      'is given time when the service has just started',
      { startedAt: NOW - 80 * SECOND, posts: late(30 * MINUTE) },
      null,
      /posts/,
    ],
    [
      'is not due while the upstream wants no calls',
      { closedUntil: NOW + 1, posts: late(10 * MINUTE) },
      null,
      /posts/,
    ],
    [
      'gets its time again after the upstream wanted no calls',
      { closedUntil: NOW - 80 * SECOND, posts: late(10 * MINUTE) },
      null,
      /posts/,
    ],
    [
      'is stuck when a pass gets no page',
      { comments: { running: running('head', 95 * SECOND, 95 * SECOND) } },
      'comments',
      /a head pass is stuck: its last page came 95 s ago/,
    ],
    [
      'is not stuck when it gets none because it must not ask',
      { closedUntil: NOW + HOUR, comments: { running: running('sweep', HOUR, 30 * MINUTE) } },
      null,
      /upstream: is not called for another 60 min/,
    ],
    [
      'is swept for as long as it takes while pages come',
      { posts: { ...late(59 * MINUTE), running: running('sweep', 59 * MINUTE, SECOND) } },
      null,
      /posts/,
    ],
    [
      'is old after two intervals, whatever goes on',
      { posts: { ...late(62 * MINUTE), running: running('sweep', 62 * MINUTE, SECOND) } },
      'posts',
      /ended 2 h ago, a sweep has run for 62 min; that is too long ago/,
    ],
    [
      'is old after two intervals and the time that a sweep usually takes',
      {
        posts: {
          ...late(4 * HOUR),
          usualSweepMs: 3 * HOUR + 30 * MINUTE,
          running: running('sweep', 4 * HOUR, SECOND),
        },
      },
      null,
      /posts: .*5 h ago/,
    ],
    [
      'is not old because a sweep by hand ended just before the next one was due',
      {
        posts: {
          lastSweepAt: NOW - 3 * HOUR - MINUTE,
          sweepDueAt: NOW - 3 * HOUR,
          usualSweepMs: 2 * HOUR,
          running: running('sweep', 3 * HOUR, SECOND),
        },
      },
      null,
      /posts: .*3 h ago/,
    ],
    [
      'is old although the upstream is to blame',
      { closedUntil: NOW + HOUR, posts: late(2 * HOUR) },
      'posts',
      /3 h ago; that is too long ago/,
    ],
    [
      'is of unknown age when its last sweep is dated ahead, and has time for another',
      { posts: { lastSweepAt: NOW + 24 * HOUR, sweepDueAt: NOW - 80 * SECOND } },
      null,
      /posts: the last complete sweep is dated 24 h ahead of the clock, which was set since; another is due/,
    ],
    [
      'is stuck when that other one does not come',
      { posts: { lastSweepAt: NOW + 24 * HOUR, sweepDueAt: NOW - 91 * SECOND } },
      'posts',
      /due for 91 s, and none runs/,
    ],
    [
      'is not late before the attempt that follows a failed one',
      {
        posts: { lastSweepAt: NOW - 90 * MINUTE, sweepDueAt: NOW - 30 * MINUTE, retryAt: NOW - 80 * SECOND },
      },
      null,
      /posts: the last complete sweep ended 90 min ago/,
    ],
    [
      'has the words of the trouble that keeps it from being read, and no others',
      { posts: { sweepDueAt: NOW - 91 * SECOND }, troubles: { ...NO_TROUBLES, failures: [REFUSED] } },
      'posts',
      /^posts: the feedback service refused the token since \d\d:02 \w+$/,
    ],
    [
      'is too old when that other one does not end',
      {
        posts: {
          lastSweepAt: NOW + 24 * HOUR,
          sweepDueAt: NOW - HOUR,
          running: running('sweep', HOUR, SECOND),
        },
      },
      'posts',
      /dated 24 h ahead .*a sweep has run for 60 min; the next one takes too long/,
    ],
    [
      'is old when the service was down for days',
      { startedAt: NOW - SECOND, posts: { lastSweepAt: NOW - 97 * HOUR, sweepDueAt: NOW - 96 * HOUR } },
      'posts',
      /4 days ago/,
    ],
  ]);
});

describe('the outbox', () => {
  const waiting = (ms: number) => ({ due: 1, oldestDueAt: NOW - ms });
  table([
    [
      'may hold a row for a moment',
      { outbox: { ...waiting(90 * SECOND), due: 3 } },
      null,
      /outbox: 3 rows are due, the oldest for 90 s/,
    ],
    [
      'is stuck when nothing is ever sent',
      { outbox: waiting(91 * SECOND) },
      'outbox',
      /1 row is due, the oldest for 91 s, and nothing was sent yet/,
    ],
    [
      'may be long as long as it moves',
      { outbox: { ...waiting(30 * HOUR), lastAttemptAt: NOW - 60 * SECOND } },
      null,
      /30 h/,
    ],
    [
      'is stuck when it stopped moving',
      { outbox: { ...waiting(30 * HOUR), lastAttemptAt: NOW - 2 * MINUTE } },
      'outbox',
      /the last attempt began 2 min ago/,
    ],
    [
      'is not stuck when the row became due after the last attempt',
      { outbox: { ...waiting(SECOND), lastAttemptAt: NOW - 30 * HOUR } },
      null,
      /outbox/,
    ],
    [
      'waits while the upstream wants no calls',
      { closedUntil: NOW + 1, outbox: waiting(HOUR) },
      null,
      /outbox/,
    ],
    ['is given time after a start', { startedAt: NOW - 80 * SECOND, outbox: waiting(HOUR) }, null, /outbox/],
    [
      'says why it is paused',
      { outbox: { paused: 'the upstream refused the token' } },
      'outbox',
      /sending is paused: the feedback service refused the token/,
    ],
    [
      'says which board takes no posts, for which no restart helps',
      { outbox: { refused: ['posts to ideas are answered with 403'] } },
      null,
      /nothing is due .*; posts to ideas are answered with 403/,
    ],
    [
      'is the business of the process that sends',
      { outbox: { ...waiting(HOUR), isSender: false } },
      null,
      /another process sends/,
    ],
  ]);
});

const WEBHOOK = { id: 'all', host: 'example.com', lag: 0, lost: 0, failingSince: null, disabledWhy: null };

describe('a webhook', () => {
  table([
    ['was told of everything', { webhooks: [WEBHOOK] }, null, /example\.com was told of every change/],
    [
      'can no longer be told of what is not kept',
      { webhooks: [{ ...WEBHOOK, lag: 9, lost: 4, disabledWhy: 'it answered 410' }] },
      null,
      /disabled, 9 changes behind \(4 of them not kept any more\): it answered 410/,
    ],
  ]);
});

describe('the copy in PostgreSQL', () => {
  const copy = { place: 'db:5432', schema: 'feedback', behind: 0, behindSince: null, publishedAt: NOW };
  const whole = { ...copy, trouble: null, isElsewhere: false };
  table([
    [
      'is not there before it was first written',
      {
        copy: { ...whole, behind: null, behindSince: NOW - MINUTE, publishedAt: null, trouble: 'db is away' },
      },
      null,
      /db is away; no copy is known yet, and a lost disk would cost everything/,
    ],
    [
      'is needed before anything is accepted in a fleet',
      { needsCopy: true, copy: { ...whole, behind: null, behindSince: NOW - MINUTE, publishedAt: null } },
      'copy',
      /the first copy is being written: nothing is accepted before it is there/,
    ],
    ['costs nothing where it has everything', { copy: whole }, null, /a lost disk would cost nothing/],
    [
      'is written by another service',
      { copy: { ...whole, behindSince: NOW - HOUR, isElsewhere: true } },
      null,
      /copy: another service writes the copy in feedback$/m,
    ],
    [
      'may be a minute behind',
      { copy: { ...whole, behind: 1, behindSince: NOW - MINUTE } },
      null,
      /the copy in feedback at db:5432: a lost disk would cost the last 60 s, 1 change$/m,
    ],
    [
      'is late after a minute',
      { copy: { ...whole, behind: 2, behindSince: NOW - MINUTE - 1 } },
      null,
      /the copy in feedback is late: a lost disk would cost the last 60 s, 2 changes$/m,
    ],
    [
      'does not have what webhooks were not told yet',
      { copy: whole, webhooks: [{ ...WEBHOOK, lag: 3 }] },
      null,
      /a lost disk would cost only the 3 changes that webhooks were not told yet/,
    ],
  ]);
});

describe('a warning', () => {
  const copy = { place: null, schema: 'feedback', behind: 0, publishedAt: NOW, isElsewhere: false };
  const warned = (differences: Differences): string[] =>
    assess(progressWith(differences)).checks.flatMap(({ name, warning }) => (warning ? [name] : []));

  it('is of what a person has to see to, while the service is ready', () => {
    const late = { ...copy, behindSince: NOW - MINUTE - 1, trouble: null };
    const failing = { ...WEBHOOK, id: 'failing', failingSince: NOW - MINUTE };
    const disabled = { ...WEBHOOK, id: 'disabled', disabledWhy: 'it answered 410' };
    const differences = {
      copy: late,
      webhooks: [WEBHOOK, { ...WEBHOOK, id: 'behind', lag: 9 }, failing, disabled],
    };
    assert.deepEqual(warned(differences), ['webhook failing', 'webhook disabled', 'copy']);
    assert.equal(assess(progressWith(differences)).ready, true);
    assert.deepEqual(warned({ copy: { ...late, behindSince: null, trouble: 'db is away' } }), ['copy']);
    assert.deepEqual(warned({ copy: { ...late, behindSince: NOW - MINUTE } }), []);
    assert.deepEqual(warned({ copy: { ...late, isElsewhere: true } }), []);
  });
});

describe('the upstream', () => {
  table([
    ['may be called', {}, null, /upstream: may be called$/m],
    ['is left alone for a while', { closedUntil: NOW + MINUTE }, null, /is not called for another 60 s/],
    ['may be called again after that', { closedUntil: NOW }, null, /upstream: may be called$/m],
  ]);
});

describe('a wedge', () => {
  const wedges: [string, (at: number) => Progress][] = [
    ['of the loop', (at) => ({ ...progressWith({ lastTickAt: NOW }), now: at })],
    [
      'of a pass',
      (at) => ({ ...progressWith({ lastTickAt: at, posts: { running: running('sweep', 0, 0) } }), now: at }),
    ],
    [
      'of the schedule',
      (at) => ({ ...progressWith({ lastTickAt: at, posts: { sweepDueAt: NOW } }), now: at }),
    ],
    ['of sending', (at) => ({ ...progressWith({ lastTickAt: at, outbox: { oldestDueAt: NOW } }), now: at })],
  ];
  for (const [what, progressAt] of wedges) {
    it(`${what} shows within two minutes, and not at once`, () => {
      assert.equal(assess(progressAt(NOW)).ready, true);
      assert.equal(assess(progressAt(NOW + 50 * SECOND)).ready, true);
      assert.equal(assess(progressAt(NOW + 2 * MINUTE)).ready, false);
    });
  }
});
