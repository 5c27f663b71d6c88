import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { RulesAnswer, TestAnswer } from '../../src/http/dashboard/rules.ts';
import { openReceiver } from '../webhooks/receiver.ts';
import { openOnSandbox } from './site.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');

it('channels and rules are set, tested and removed over HTTP, and no address of a channel is shown', async (t) => {
  const receiver = await openReceiver(t);
  const site = await openOnSandbox(t, { env: { WEBHOOK_ALLOW: '127.0.0.1' } });
  await site.sweep();
  assert.deepEqual(await site.get<RulesAnswer>('/data/rules'), { rules: [], channels: [] });
  const channel = { name: 'crm', webhook: `${receiver.url}?key=hidden`, secret: KEY };
  const rule = { name: 'monday', what: 'digest', every: 'weekly', at: 'tue 7:30', to: ['crm'] };
  const early = await site.send('/data/rules', rule);
  assert.equal(early.status, 400);
  assert.match(early.body, /there is no channel \\"crm\\"/);
  const added = await site.send('/data/channels', channel);
  assert.doesNotMatch(added.body, /hidden/);
  const set = await site.post<RulesAnswer>('/data/rules', rule);
  assert.deepEqual(set.channels, [{ name: 'crm', kind: 'webhook' }]);
  assert.partialDeepStrictEqual(set.rules, [
    { name: 'monday', what: 'digest', every: 'weekly', to: ['crm'] },
  ]);
  const { results } = await site.post<TestAnswer>('/data/rules/monday/test');
  assert.deepEqual(
    results.map(({ outcome }) => outcome.kind),
    ['sent'],
  );
  assert.match(receiver.received[0]?.body ?? '', /\[test\] Feedback of the last 7 days/);

  // A path would have the service read files of its machine.
  const path = await site.send('/data/channels', { name: 'odd', slack_file: '/etc/hostname' });
  assert.equal(path.status, 400);
  const used = await site.send('/data/channels/crm/remove');
  assert.match(used.body, /there is no channel \\"crm\\"/);
  assert.deepEqual((await site.post<RulesAnswer>('/data/rules/monday/remove')).rules, []);
  assert.deepEqual((await site.post<RulesAnswer>('/data/channels/crm/remove')).channels, []);
});

it('a change of the file of rules is taken in, and one with a mistake changes nothing', async (t) => {
  const site = await openOnSandbox(t);
  const { rules, settings } = site.station.app;
  assert.ok(rules);
  const path = join(settings.dataDir, 'rules.yaml');
  const text = `channels: { crm: { webhook: 'https://crm.example.com/', secret: '${KEY}' } }
rules: [{ name: late, what: unanswered, every: daily, to: [crm] }]
`;
  writeFileSync(path, text);
  rules.reload();
  assert.deepEqual(
    rules.deps.rules.map(({ name }) => name),
    ['late'],
  );
  writeFileSync(path, text.replace('daily', 'yearly'));
  assert.throws(() => rules.reload(), /"every" must be one of/);
  rules.reload();
  const shown = await site.get<RulesAnswer>('/data/rules');
  assert.deepEqual(
    shown.rules.map(({ name, every }) => [name, every]),
    [['late', 'daily']],
  );
  assert.match(readFileSync(path, 'utf8'), /yearly/);
});
