import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

/** No test waits longer for anything. */
const LIMIT_MS = 30_000;

/** For scripts that run for minutes under faults. */
export const LONG_RUN_MS = 300_000;

/** Looks again after a tenth of the time that has passed, within these bounds: what comes late is not asked for 200 times a second. */
const [SHORTEST_MS, LONGEST_MS] = [5, 20];

/** Resolves soon after the fact holds; fails with its name when it does not come about. For what gives no signal of its own. */
export async function until(
  fact: string,
  isSo: () => boolean | Promise<boolean>,
  limitMs = LIMIT_MS,
): Promise<void> {
  const began = performance.now();
  while (!(await isSo())) {
    const waited = performance.now() - began;
    assert.ok(waited < limitMs, `waited ${limitMs / 1000} s in vain until ${fact}`);
    await delay(Math.max(SHORTEST_MS, Math.min(LONGEST_MS, waited / 10)));
  }
}
