import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { SyncState } from '../../src/http/dashboard/sync.ts';
import { checkName, checkTag, queueName, stateName } from '../../src/web/pages/sync-words.ts';

it('checks and queues are named by what they are for, and a name without words stays', () => {
  assert.deepEqual(['loop', 'deletions-held'].map(checkName), ['Jobs are run', 'Deletions held']);
  assert.deepEqual(['ticks', 'of-somebody'].map(queueName), ['Look for work', 'of-somebody']);
  assert.deepEqual(['delayed', 'failed'].map(stateName), ['planned for later', 'failed']);
});

it('a trouble that keeps nothing from running is not called ok', () => {
  const troubles = [{ symptom: 'deletions-held' }] as unknown as SyncState['health']['troubles'];
  const tagOf = (name: string, ok: boolean) => checkTag({ name, ok, detail: '' }, troubles)[0];
  assert.deepEqual(
    [tagOf('deletions-held', true), tagOf('posts', true), tagOf('posts', false)],
    ['look', 'ok', 'not ok'],
  );
});
