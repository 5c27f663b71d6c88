import assert from 'node:assert/strict';
import { it } from 'node:test';
import { checkName, checkTag, healthText, queueName, stateName } from '../../src/web/pages/sync-words.ts';

it('checks and queues are named by what they are for, and a name without words stays', () => {
  assert.deepEqual(['loop', 'deletions-held'].map(checkName), ['Jobs are run', 'Deletions held']);
  assert.deepEqual(['ticks', 'of-somebody'].map(queueName), ['Look for work', 'of-somebody']);
  assert.deepEqual(['delayed', 'failed'].map(stateName), ['planned for later', 'failed']);
});

it('a trouble that keeps nothing from running is not called ok', () => {
  const held = { name: 'deletions-held', ok: false, warning: true, detail: '' } as const;
  const [posts, mirror] = [
    { name: 'posts', ok: false, detail: '' },
    { name: 'mirror', ok: true, detail: '' },
  ];
  const checks = [held, mirror, posts];
  assert.deepEqual(
    checks.map((check) => checkTag(check)[0]),
    ['look', 'ok', 'not ok'],
  );
  const textOf = (checks: Parameters<typeof healthText>[0]['checks']) =>
    healthText({ ready: true, troubles: [], checks });
  assert.deepEqual(
    [textOf(checks), textOf([held, mirror]), textOf([mirror])],
    ['2 of 3 checks need you', '1 of 2 checks needs you', 'all checks pass'],
  );
});
