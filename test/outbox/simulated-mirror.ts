import type { Client } from '../../src/api/client.ts';
import type { Clock } from '../../src/base/clock.ts';
import { codeOf } from '../../src/base/errors.ts';
import type { PassMode } from '../../src/mirror/decide/types.ts';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import { syncOnce } from '../../src/mirror/sweep/engine.ts';
import { checkAfterSweep } from '../../src/outbox/send/after-check.ts';
import type { OutboxStore } from '../../src/outbox/store/store.ts';

/** The mirror of the same upstream, kept by the real engine while rows are sent. */
export interface Mirror {
  sweeps: number;
  passIfDue(): Promise<void>;
  sweep(): Promise<void>;
}

export interface MirrorParts {
  clock: Clock;
  client: Client;
  store: MirrorStore;
  outbox: OutboxStore;
}

const HEAD_EVERY_MS = 120_000;

export function simulatedMirror({ clock, client, store, outbox }: MirrorParts, sweepEveryMs: number): Mirror {
  let isBusy = false;
  let headAt = clock.now();
  let sweepAt = clock.now();
  const pass = async (mode: PassMode): Promise<void> => {
    const context = {
      client,
      store,
      clock,
      signal: new AbortController().signal,
      ahead: 1,
      onPage: () => {},
    };
    const outcome = await syncOnce(context, { resource: 'posts', mode });
    if (!outcome.done || mode === 'head') return;
    mirror.sweeps++;
    await checkAfterSweep(outbox, clock, outcome.summary.startedAt);
  };
  const attempt = async (mode: PassMode): Promise<boolean> => {
    isBusy = true;
    try {
      await pass(mode);
      return true;
    } catch (error) {
      if (codeOf(error) !== 'unreachable') throw error;
      return false;
    } finally {
      isBusy = false;
    }
  };
  const mirror: Mirror = {
    sweeps: 0,
    async passIfDue() {
      if (isBusy) return;
      const isSweep = clock.now() >= sweepAt;
      if (!isSweep && clock.now() < headAt) return;
      headAt = clock.now() + HEAD_EVERY_MS;
      if (await attempt(isSweep ? 'sweep' : 'head')) if (isSweep) sweepAt = clock.now() + sweepEveryMs;
    },
    async sweep() {
      while (!(await attempt('sweep')));
    },
  };
  return mirror;
}
