import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

/** Resolves as soon as the fact holds; fails with its name when it does not come about. For what gives no signal of its own. */
export async function until(
  fact: string,
  isSo: () => boolean | Promise<boolean>,
  limitMs = 300_000,
): Promise<void> {
  for (const end = performance.now() + limitMs; !(await isSo()); await delay(5))
    assert.ok(performance.now() < end, `waited in vain until ${fact}`);
}
