import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

/** No test waits longer for anything. */
const LIMIT_MS = 30_000;

/** For scripts that run for minutes under faults. */
export const LONG_RUN_MS = 300_000;

/** Resolves as soon as the fact holds; fails with its name when it does not come about. For what gives no signal of its own. */
export async function until(
  fact: string,
  isSo: () => boolean | Promise<boolean>,
  limitMs = LIMIT_MS,
): Promise<void> {
  for (const end = performance.now() + limitMs; !(await isSo()); await delay(5))
    assert.ok(performance.now() < end, `waited ${limitMs / 1000} s in vain until ${fact}`);
}
