import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { loadSettings } from '../../config/load.ts';
import { openRules } from '../../src/app/rules.ts';
import type { Clock } from '../../src/base/clock.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { EngineDeps } from '../../src/rules/engine.ts';
import { tell, UPSTREAM } from '../reports/story.ts';

export interface RulesBench {
  path: string;
  deps: EngineDeps;
  /** The wall clock of the rules. */
  clock: { now: number };
  env: Record<string, string>;
}

export const MONDAY = Date.parse('2026-01-26T09:00:00.000Z');

/** The mirror of the story with a rules file; nothing runs by itself, and the clock stands. */
export async function openBench(
  t: TestContext,
  file: object,
  more: Record<string, string> = {},
): Promise<RulesBench> {
  const { path } = await tell(t);
  const folder = dirname(path);
  writeFileSync(join(folder, 'rules.yaml'), JSON.stringify(file));
  const env = {
    FEEDBACK_BASE_URL: UPSTREAM,
    DATA_DIR: folder,
    MIRROR_PATH: path,
    RULES_FILE: join(folder, 'rules.yaml'),
    WEBHOOK_ALLOW: '127.0.0.1',
    TZ: 'UTC',
    ...more,
  };
  const input = { flags: {}, env, cwd: folder, isTerminal: false };
  const rules = openRules(loadSettings(input), input);
  t.after(() => rules.close());
  const clock = { now: MONDAY };
  const wall: Clock = { ...systemClock, now: () => clock.now };
  return { path, env, clock, deps: { ...rules.deps, clock: wall, random: () => 0 } };
}
