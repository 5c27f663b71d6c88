import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import type { ErrorCode } from '../../src/base/errors.ts';
import { TROUBLES, type TroubleFacts, troublesOf, troubleText } from '../../src/mirror/decide/troubles.ts';

const NONE: TroubleFacts = {
  failures: [],
  paused: null,
  closed: null,
  lists: [],
  disk: null,
  newToken: null,
};
const [TEN, NOW] = ['2026-11-18T10:02:00.000Z', Date.parse('2026-11-18T10:15:00Z')];

function texts(facts: Partial<TroubleFacts>): string[] {
  return troublesOf({ ...NONE, ...facts }, NOW).map((trouble) =>
    troubleText(trouble, (time) => time.slice(11, 16)),
  );
}

function failed(code: ErrorCode, error = 'Listing posts failed: why.', since = TEN) {
  return { resource: 'posts' as const, code, since, at: since, error };
}

describe('the troubles of a mirror', () => {
  it('are none while every pass succeeds', () => {
    assert.deepEqual(texts({}), []);
  });

  it('name a refused token once, whoever met it, since the first refusal', () => {
    const facts = {
      failures: [failed('unauthorised', 'one', '2026-11-18T10:05:00.000Z'), failed('unauthorised', 'two')],
      paused: 'the upstream refused the token (401) at 2026-11-18T10:09:00.000Z',
    };
    assert.deepEqual(texts(facts), [
      'the feedback service refused the token since 10:02 (sending is paused): put a new one in .env or sources.yaml, no restart needed',
    ]);
  });

  it('say what became of a token that was put in later', () => {
    const refusedAt = (at: string) => [{ ...failed('unauthorised'), at }];
    const told = (at: string, problem: string | null, since = '2026-11-18T10:09:00.000Z') =>
      /\((.*)\)/.exec(texts({ failures: refusedAt(at), newToken: { since, problem } })[0] ?? '')?.[1];
    assert.equal(told('2026-11-18T10:08:00.000Z', null), 'the one of 10:09 is tried now');
    assert.equal(told('2026-11-18T10:09:05.000Z', null), 'the one of 10:09 was refused too');
    const empty = 'FEEDBACK_API_TOKEN is empty';
    assert.equal(told('2026-11-18T10:09:05.000Z', empty), `the one of 10:09 cannot be used: ${empty}`);
    assert.equal(told('2026-11-18T10:09:05.000Z', null, '2026-11-18T09:00:00.000Z'), undefined);
  });

  it('tell one cause of two lists once', () => {
    const failures = [
      'posts, page 1, at the.host failed',
      'comments, page 3, at the.host failed (5 attempts)',
    ].map((what) => failed('unreachable', `Listing ${what}: the connection was refused.`));
    assert.deepEqual(texts({ failures }), [
      'the feedback service is down or out of reach since 10:02 (the connection was refused): check the feedback service or FEEDBACK_BASE_URL; a service that runs tries again by itself',
    ]);
  });

  it('tell a service that cannot be reached from one that asks for no calls', () => {
    const [away = ''] = texts({ failures: [failed('unreachable', 'the connection was refused.')] });
    assert.match(
      away,
      /^the feedback service is down or out of reach since 10:02 \(the connection was refused\): check the feedback service/,
    );
    const closed = { since: TEN, until: '2026-11-18T10:20:00.000Z' };
    const [throttled = ''] = texts({ closed });
    assert.match(
      throttled,
      /^the feedback service asks for no calls since 10:02, until 10:20: nothing is lost/,
    );
    assert.deepEqual(texts({ closed: { since: TEN, until: '2026-11-18T10:14:59.000Z' } }), []);
    assert.deepEqual(
      texts({ closed: { since: '2026-11-18T10:14:58.000Z', until: '2026-11-18T10:15:02.000Z' } }),
      [],
    );
  });

  it('show what the service answered last, and no earlier trouble that this answer ends', () => {
    const at = (minute: string): string => `2026-11-18T10:${minute}:00.000Z`;
    const shown = (facts: Partial<TroubleFacts>): string[] =>
      troublesOf({ ...NONE, ...facts }, NOW).map(({ symptom }) => symptom);
    const long = { since: at('10'), until: at('20') };
    const away = (minute: string) => [failed('unreachable', 'posts failed: 503.', at(minute))];
    assert.deepEqual(shown({ failures: away('02'), closed: long }), ['throttled'], '429 after 503');
    assert.deepEqual(shown({ failures: away('12'), closed: long }), ['upstream-away'], '503 after 429');
    const short = { since: at('10'), until: '2026-11-18T10:10:05.000Z' };
    assert.deepEqual(shown({ failures: away('02'), closed: short }), [], 'a short 429 shows that it answers');
    const refused = (minute: string) => [failed('unauthorised', 'refused.', at(minute))];
    assert.deepEqual(shown({ failures: [...away('02'), ...refused('05')] }), ['token-refused']);
    assert.deepEqual(shown({ failures: [...refused('02'), ...away('05')] }), ['upstream-away']);
    const both = ['token-refused', 'throttled'];
    assert.deepEqual(shown({ failures: refused('02'), closed: long }), both, '429 says nothing of a token');
    const broken = [failed('protocol', 'no envelope', at('05'))];
    assert.deepEqual(shown({ failures: [...away('02'), ...broken] }), ['bad-answers']);
    assert.deepEqual(shown({ failures: broken, closed: long }), ['throttled', 'bad-answers']);
  });

  it('put the worst first, and name what a list lacks and what is held', () => {
    const list = { lastSweepAt: TEN, lacks: '4 rows came on two pages.', held: 1, heldSince: TEN };
    const told = texts({
      disk: { since: TEN, error: 'the disk is full' },
      failures: [failed('protocol', 'no envelope')],
      lists: [{ resource: 'comments', ...list }],
    });
    assert.deepEqual(
      told.map((text) => text.replace(/\): .*$/, ')')),
      [
        'nothing can be written to the disk since 10:02 (the disk is full)',
        'the feedback service answers something unexpected since 10:02 (no envelope)',
        'many rows vanished at once, so their deletions are held since 10:02 (1 comment)',
        'the feedback service leaves rows out of a list since 10:02 (comments: 4 rows came on two pages)',
      ],
    );
  });

  it('have the same words in the alerts, with the time of the metric', () => {
    const { groups } = parse(readFileSync(join(import.meta.dirname, '../../deploy/alerts.yml'), 'utf8')) as {
      groups: { rules: { expr: string; annotations: { summary: string; description: string } }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    for (const [symptom, [what, advice]] of Object.entries(TROUBLES)) {
      const rule = rules.find(({ expr }) => expr.includes(`trouble_since_seconds{symptom="${symptom}"}`));
      assert.ok(rule, symptom);
      assert.ok(rule.annotations.summary.endsWith(what), rule.annotations.summary);
      assert.equal(rule.annotations.description, `Since {{ $value | humanizeTimestamp }}: ${advice}.`);
    }
  });
});
