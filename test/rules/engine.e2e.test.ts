import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { Webhook } from 'standardwebhooks';
import type { Channel } from '../../src/contract/telling.ts';
import { deliverTo, lookAtRules, pauseRule, previewLetter, viewRules } from '../../src/rules/engine.ts';
import { keepTelling } from '../../src/service/rules.ts';
import { openReceiver } from '../webhooks/receiver.ts';
import { MONDAY, openBench, type RulesBench } from './bench.ts';
import { openMailServer } from './mail-server.ts';

const WEEK = 7 * 86_400_000;
const never = new AbortController().signal;
const SECRET = Buffer.alloc(32, 7).toString('base64');

async function deliver({ deps }: RulesBench): Promise<void> {
  for (const channel of deps.channels as readonly Channel[]) await deliverTo(deps, channel, never);
}

const DIGEST = { name: 'monday', what: 'digest', every: 'weekly', at: 'mon 09:00', zone: 'UTC' };

describe('rules', () => {
  it('say once in the log why one fails with every look', async (t) => {
    const rule = { name: 'pro', what: 'customer', segment: 'plan=Pro', every: 'at-once', to: ['pm'] };
    const channels = { pm: { webhook: 'http://127.0.0.1:9/', secret: SECRET } };
    const { deps, clock } = await openBench(t, { channels, rules: [rule] });
    const [stop, logged] = [new AbortController(), [] as string[]];
    let looks = 0;
    const reload = (): void => {
      clock.now += 60_000;
      if (++looks === 5) stop.abort();
    };
    const quiet = (): void => undefined;
    const log = { info: quiet, warn: quiet, error: (_: object, text: string) => logged.push(text) };
    const app = {
      ...{ log, rules: { deps, reload, lock: () => ({ ok: true, release: quiet }) } },
      clock: { ...deps.clock, sleep: () => new Promise((resolve) => setImmediate(resolve)) },
    };
    await keepTelling({ app, signal: stop.signal } as never, { lookMs: 1, deliverMs: 1 });
    assert.deepEqual(logged, ['the rule pro could not be looked at: no customers were imported yet']);
  });

  it('send a digest by mail once a week, with what is new, climbs, was shipped and waits', async (t) => {
    const mail = await openMailServer(t);
    const file = { channels: { pm: { mail: ['pm@example.com'] } }, rules: [{ ...DIGEST, to: ['pm'] }] };
    const more = {
      SMTP_URL: mail.url,
      MAIL_FROM: 'Feedback <feedback@example.com>',
      DASHBOARD_URL: 'https://fb.example.com',
    };
    const bench = await openBench(t, file, more);
    bench.clock.now = MONDAY - WEEK;
    assert.equal((await lookAtRules(bench.deps)).made, 0, 'a new rule begins with the next moment');
    bench.clock.now = MONDAY;
    assert.deepEqual(await lookAtRules(bench.deps), { made: 1, failures: [] });
    assert.equal((await lookAtRules(bench.deps)).made, 0);
    await deliver(bench);
    await deliver(bench);
    assert.equal(mail.taken.length, 1);
    const [{ raw = '', subject = '' } = {}] = mail.taken;
    assert.equal(subject, 'Feedback of the last 7 days, 2026-01-26');
    const text = raw.replaceAll('=\r\n', '');
    assert.match(text, /Shipped\r\n-+\r\n\* Dark mode for the editor/);
    assert.match(text, /Waiting for an answer/);
    assert.match(text, /https:\/\/fb\.example\.com\/posts\/101/);
    assert.match(text, /color-scheme/);
    assert.doesNotMatch(text, /<img|Ann|Bob/);
    assert.deepEqual(
      viewRules(bench.deps).map(({ waiting, failed, next }) => [waiting, failed, next]),
      [[0, 0, '2026-02-02T09:00:00.000Z']],
    );
  });

  it('make one message of the weeks that the service was off, and none that was told before', async (t) => {
    const receiver = await openReceiver(t);
    const file = { channels: { slack: { slack: receiver.url } }, rules: [{ ...DIGEST, to: ['slack'] }] };
    const bench = await openBench(t, file);
    bench.clock.now = MONDAY - 4 * WEEK;
    await lookAtRules(bench.deps);
    bench.clock.now = MONDAY + 5 * 3_600_000;
    assert.equal((await lookAtRules(bench.deps)).made, 1);
    bench.clock.now = MONDAY - 86_400_000;
    assert.equal((await lookAtRules(bench.deps)).made, 0, 'the clock was set back');
    bench.clock.now = MONDAY + 6 * 3_600_000;
    assert.equal((await lookAtRules(bench.deps)).made, 0);
    await deliver(bench);
    const [{ body = '' } = {}] = receiver.received;
    const { text, blocks } = JSON.parse(body) as { text: string; blocks: { text: { text: string } }[] };
    assert.equal(text, 'Feedback of the last 28 days, 2026-01-26');
    assert.match(body, /\*Most votes gained\*\\n• <[^|]+\|Dark mode in the editor> \(\+\d/);
    assert.ok(blocks.some((block) => block.text.text.includes('<https://upstream.test/')));
  });

  it('tell at once of new posts, statuses and customers, signed, in the forms of Slack, Teams and webhooks', async (t) => {
    const [slack, teams, hook] = [await openReceiver(t), await openReceiver(t), await openReceiver(t)];
    const file = {
      channels: {
        slack: { slack: slack.url },
        teams: { teams: teams.url },
        hook: { webhook: hook.url, secret: SECRET },
      },
      rules: [
        {
          name: 'posts',
          what: 'new-posts',
          boards: ['features'],
          every: 'at-once',
          to: ['slack', 'teams', 'hook'],
        },
        { name: 'done', what: 'status', statuses: ['Done'], every: 'at-once', to: ['hook'] },
        { name: 'quiet', what: 'customer', every: 'at-once', to: ['hook'] },
      ],
    };
    const bench = await openBench(t, file);
    await lookAtRules(bench.deps);
    const db = new Database(bench.path);
    db.exec("UPDATE rules SET position = 0, checked_at = '2026-01-01T00:00:00.000Z'");
    db.close();
    assert.deepEqual((await lookAtRules(bench.deps)).failures, []);
    await deliver(bench);
    assert.match(JSON.parse(slack.received[0]?.body ?? '{}').text, /1 new post/);
    assert.match(slack.received[0]?.body ?? '', /Dark mode in the editor/);
    const card = JSON.parse(teams.received[0]?.body ?? '{}') as {
      attachments: { content: { type: string } }[];
    };
    assert.equal(card.attachments[0]?.content.type, 'AdaptiveCard');
    assert.equal(hook.received.length, 2, 'nobody belongs to an imported customer');
    for (const { body, headers } of hook.received)
      new Webhook(SECRET).verify(body, headers as Record<string, string>);
    assert.match(hook.received.map(({ body }) => body).join('\n'), /Planned → Done|Open → Done/);
  });

  it('are tried again where a channel is away, and that channel holds up no other', async (t) => {
    const [away, works] = [await openReceiver(t), await openReceiver(t)];
    away.plan.push(503, 'die');
    const file = {
      channels: { away: { webhook: away.url, secret: SECRET }, works: { slack: works.url } },
      rules: [{ ...DIGEST, to: ['away', 'works'] }],
    };
    const bench = await openBench(t, file);
    bench.clock.now = MONDAY - WEEK;
    await lookAtRules(bench.deps);
    bench.clock.now = MONDAY;
    await lookAtRules(bench.deps);
    await deliver(bench);
    assert.deepEqual([away.received.length, works.received.length], [1, 1]);
    await deliver(bench);
    assert.equal(away.received.length, 1, 'not before its time');
    bench.clock.now += 6000;
    await deliver(bench);
    bench.clock.now += 400_000;
    await deliver(bench);
    const repeated = away.received.map(
      ({ body }) => (JSON.parse(body) as { data: { isRepeated: boolean } }).data.isRepeated,
    );
    assert.deepEqual(repeated, [false, false, true], 'only after an attempt without an answer');
    assert.equal(away.distinct(), 1);
    assert.equal(works.received.length, 1);
  });

  it('wait in line behind a message that the channel did not take', async (t) => {
    const away = await openReceiver(t);
    away.plan.push(503);
    const channels = { away: { webhook: away.url, secret: SECRET } };
    const rules = ['one', 'two'].map((name) => ({ ...DIGEST, name, to: ['away'] }));
    const bench = await openBench(t, { channels, rules });
    bench.clock.now = MONDAY - WEEK;
    await lookAtRules(bench.deps);
    bench.clock.now = MONDAY;
    assert.equal((await lookAtRules(bench.deps)).made, 2);
    const [channel] = bench.deps.channels as readonly [Channel];
    const { sent, failed } = await deliverTo(bench.deps, channel, never);
    assert.deepEqual([sent, failed?.kind, away.received.length], [0, 'refused', 1]);
  });

  it('give up after the last attempt, show why without an address, and send again when asked', async (t) => {
    const mail = await openMailServer(t, () => 'refuse');
    const file = { channels: { pm: { mail: ['pm@example.com'] } }, rules: [{ ...DIGEST, to: ['pm'] }] };
    const bench = await openBench(t, file, { SMTP_URL: mail.url, MAIL_FROM: 'feedback@example.com' });
    bench.clock.now = MONDAY - WEEK;
    await lookAtRules(bench.deps);
    bench.clock.now = MONDAY;
    await lookAtRules(bench.deps);
    for (let i = 0; i < 11; i++) {
      await deliver(bench);
      bench.clock.now += 26 * 3_600_000;
    }
    const [view] = viewRules(bench.deps);
    assert.deepEqual([view?.failed, view?.waiting], [1, 0]);
    assert.match(view?.lastError ?? '', /try again later/);
    assert.doesNotMatch(view?.lastError ?? '', /pm@example/);
    mail.plan.push('take');
    assert.equal(bench.deps.store.retryFailed('monday'), 1);
    await deliver(bench);
    assert.equal(mail.taken.length, 1);
    assert.doesNotMatch(mail.taken[0]?.subject ?? '', /repeated/, 'every attempt before was refused');
  });

  it('say that a mail is repeated where the server took it and gave no answer', async (t) => {
    const mail = await openMailServer(t);
    mail.plan.push('break');
    const file = { channels: { pm: { mail: ['pm@example.com'] } }, rules: [{ ...DIGEST, to: ['pm'] }] };
    const bench = await openBench(t, file, { SMTP_URL: mail.url, MAIL_FROM: 'feedback@example.com' });
    bench.clock.now = MONDAY - WEEK;
    await lookAtRules(bench.deps);
    bench.clock.now = MONDAY;
    await lookAtRules(bench.deps);
    await deliver(bench);
    bench.clock.now += 6000;
    await deliver(bench);
    assert.deepEqual(
      mail.taken.map(({ subject }) => subject.startsWith('[repeated]')),
      [false, true],
    );
    assert.equal(mail.taken[0]?.id, mail.taken[1]?.id);
  });

  it('tell nothing while they are paused, and nothing of that time afterwards', async (t) => {
    const receiver = await openReceiver(t);
    const rule = { name: 'posts', what: 'new-posts', every: 'at-once', to: ['slack'] };
    const bench = await openBench(t, { channels: { slack: { slack: receiver.url } }, rules: [rule] });
    const [known] = bench.deps.rules;
    assert.ok(known);
    pauseRule(bench.deps, known, true);
    const db = new Database(bench.path);
    db.exec('UPDATE rules SET position = 0');
    db.close();
    assert.equal((await lookAtRules(bench.deps)).made, 0);
    pauseRule(bench.deps, known, false);
    assert.equal((await lookAtRules(bench.deps)).made, 0);
    assert.match((await previewLetter(bench.deps, known)).subject, /new post/);
  });

  it('tell of a post once, when it has had no reply for so many days', async (t) => {
    const receiver = await openReceiver(t);
    const rule = { name: 'late', what: 'unanswered', days: 7, every: 'at-once', to: ['slack'] };
    const bench = await openBench(t, { channels: { slack: { slack: receiver.url } }, rules: [rule] });
    // Post 106 was written on 22 December.
    bench.clock.now = Date.parse('2025-12-28T00:00:00.000Z');
    assert.equal((await lookAtRules(bench.deps)).made, 0);
    bench.clock.now = Date.parse('2025-12-29T12:00:00.000Z');
    assert.equal((await lookAtRules(bench.deps)).made, 1);
    bench.clock.now += 3_600_000;
    assert.equal((await lookAtRules(bench.deps)).made, 0);
    await deliver(bench);
    assert.match(receiver.received[0]?.body ?? '', /1 post without a reply for 7 days.*Crash while saving/);
  });
});
