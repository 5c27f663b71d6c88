import { loadSettings } from '../../config/load.ts';
import { openRules } from '../../src/app/rules.ts';
import { deliverTo } from '../../src/rules/engine.ts';

/** Delivers what waits, once, as a process that can be killed: by the settings of its environment. */
const input = { flags: {}, env: process.env, cwd: process.cwd(), isTerminal: false };
const { deps, lock, close } = openRules(loadSettings(input), input);
const held = lock();
if (!held.ok) throw new Error(`the lock is held: ${held.holder}`);
deps.store.noteInterrupted();
for (const channel of deps.channels) await deliverTo(deps, channel, new AbortController().signal);
held.release();
await close();
