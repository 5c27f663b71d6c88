import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { changedRules, rulesIn, rulesText } from '../../config/rules.ts';
import { folderFor } from '../support/folder.ts';

function read(t: TestContext, text: string) {
  return rulesIn(text, folderFor(t, 'rules'), 'UTC');
}

const CHANNELS = `channels:
  pm: { mail: [pm@example.com] }
  team: { slack: 'https://hooks.slack.com/services/T/B/secret' }
`;

describe('the file of rules', () => {
  it('is YAML or JSON, with rules and channels by name', (t) => {
    const { rules, channels } = read(
      t,
      `${CHANNELS}rules:
  - { name: monday, what: digest, every: weekly, at: Tuesday 7:30, zone: Europe/Berlin, to: [pm, team] }
  - { name: late, what: unanswered, days: 3, boards: [bugs], every: at-once, to: [team] }
`,
    );
    assert.deepEqual(
      channels.map(({ name, kind }) => [name, kind]),
      [
        ['pm', 'mail'],
        ['team', 'slack'],
      ],
    );
    assert.deepEqual(rules[0]?.at, { weekday: 2, hour: 7, minute: 30 });
    assert.deepEqual([rules[0]?.zone, rules[1]?.zone], ['Europe/Berlin', 'UTC']);
    assert.deepEqual([rules[1]?.days, rules[1]?.boards], [3, ['bugs']]);
  });

  it('is refused where its aliases stand for millions of values', (t) => {
    const levels = Array.from({ length: 8 }, (_, i) => {
      const inner = i === 0 ? 'x' : `*a${i - 1}`;
      return `a${i}: &a${i} [${Array(9).fill(inner).join(', ')}]`;
    });
    assert.throws(() => read(t, levels.join('\n')), /the rules cannot be used: Excessive alias count/);
  });

  it('is refused with every mistake at once, and without a secret', (t) => {
    const wrong = `channels:
  team: { slack: 'https://user:hunter2@hooks.slack.com/x' }
  odd: { mail: [pm], teams: 'https://example.com' }
  pm: { mail: [pm@example.com] }
rules:
  - { name: a, what: digest, every: at-once, to: [pm] }
  - { name: b, what: votez, every: daily, to: [pm] }
  - { name: c, what: status, every: daily, at: noon, to: [nobody] }
  - { name: d, what: status, evry: daily, to: [pm] }
  - { name: e, what: votes, every: daily, sources: all, to: [pm] }
  - { name: f, what: digest, every: daily, sources: all, boards: [bugs], to: [pm] }
`;
    assert.throws(
      () => read(t, wrong),
      (error: { message: string; code: string }) => {
        for (const said of [
          /channel "team": "slack" must not hold a user name/,
          /channel "odd": it needs exactly one of/,
          /rule 1: "digest" can come daily or weekly, not at-once/,
          /rule 2: "what" must be one of digest, new-posts/,
          /rule 5: "sources" is for a digest/,
          /rule 6: a digest over all sources is for all boards/,
          /rule 3: there is no channel "nobody"/,
          /rule 4: there is no field "evry"/,
        ])
          assert.match(error.message, said);
        assert.doesNotMatch(error.message, /hunter2/);
        return error.code === 'usage';
      },
    );
    assert.throws(() => read(t, 'rules: [\n- x: }\n'), /not YAML: line \d/);
    assert.throws(() => rulesText('/nowhere.yaml'), /cannot be read \(ENOENT\)/);
  });

  it('keeps its comments and the other rules where one is set or removed', (t) => {
    const text = `# who is told
${CHANNELS}rules:
  # on Mondays
  - { name: monday, what: digest, every: weekly, to: [pm] }
  - { name: late, what: unanswered, every: daily, to: [team] }
`;
    const given = { name: 'late', what: 'unanswered', every: 'daily', days: 3, to: ['pm', 'team'] };
    const set = changedRules(text, { rule: 'late', given });
    assert.match(set, /# who is told[\s\S]*# on Mondays/);
    const names = (of: string) => read(t, of).rules.map(({ name, days }) => [name, days]);
    assert.deepEqual(names(set), [
      ['monday', 7],
      ['late', 3],
    ]);
    const without = changedRules(changedRules(set, { rule: 'monday', given: null }), {
      rule: 'late',
      given: null,
    });
    assert.deepEqual(names(without), []);
    const channel = changedRules('', { channel: 'pm', given: { mail: ['pm@example.com'] } });
    const first = changedRules(channel, {
      rule: 'a',
      given: { name: 'a', what: 'votes', every: 'daily', to: ['pm'] },
    });
    assert.deepEqual(names(first), [['a', 7]]);
    assert.throws(() => read(t, changedRules(first, { channel: 'pm', given: null })), /no channel "pm"/);
  });
});
