import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Trouble } from '../../mirror/decide/troubles.ts';
import { assess, type Health, type Progress } from '../../service/health.ts';
import type { LiveStatsReader, MirrorStats } from '../../state/live-stats.ts';
import { canWrite, openStream } from '../server/replies.ts';

/**
 * What the server sends to every page of the dashboard: data only. Both sides take their types from here and from the rooms that
 * read the data, so that they cannot drift apart.
 */
export interface LiveStats extends MirrorStats {
  /** Another number whenever rows of the mirror or the outbox have changed. */
  version: number;
  isReady: boolean;
  /** Why it is not ready, in words. */
  failing: string | null;
  /** What a person has to see to, the worst first. */
  troubles: Trouble[];
  /** Outbox rows that a person has to decide about. */
  toDecide: number;
}

interface EventOptions {
  stats: LiveStatsReader;
  progress(): Promise<Progress>;
  log: Logger;
  everyMs?: number;
}

/** A beat without news, so that proxies keep the connection and readiness is never older than this. */
const BEATS_WITHOUT_NEWS = 10;

/** Numbers that move without a reload: one server-sent event whenever something changed. Nobody listening costs nothing. */
export function addEvents(app: FastifyInstance, options: EventOptions): void {
  const { stats, progress, log, everyMs = 1000 } = options;
  const listeners = new Set<ServerResponse>();
  let isBeating = false;
  let [seen, quiet] = [-1, 0];

  const beat = async (): Promise<void> => {
    const version = stats.version();
    quiet = version === seen ? quiet + 1 : 0;
    if (quiet % BEATS_WITHOUT_NEWS !== 0) return;
    seen = version;
    const message = eventOf(await readStats(stats, progress, version));
    for (const listener of listeners) if (canWrite(listener)) listener.write(message);
  };
  const schedule = (): void => {
    isBeating = listeners.size > 0;
    if (isBeating) setTimeout(() => void onTime(), everyMs).unref();
  };
  const onTime = async (): Promise<void> => {
    try {
      if (listeners.size > 0) await beat();
    } catch (error) {
      log.warn(
        { event: 'dashboard.stats.failed' },
        `the numbers of the dashboard could not be read: ${messageOf(error)}`,
      );
    }
    schedule();
  };

  app.get('/data/events', async (_request, reply) => {
    const first = eventOf(await readStats(stats, progress, stats.version()));
    const raw = openStream(reply, first);
    if (!raw) return;
    listeners.add(raw);
    raw.on('close', () => listeners.delete(raw));
    if (!isBeating) schedule();
  });
  app.addHook('preClose', async () => {
    for (const listener of listeners) listener.end();
    listeners.clear();
  });
}

function eventOf(stats: LiveStats): string {
  return `data: ${JSON.stringify(stats)}\n\n`;
}

async function readStats(
  stats: LiveStatsReader,
  progress: EventOptions['progress'],
  version: number,
): Promise<LiveStats> {
  const found = await progress();
  const { ready, checks, troubles } = assess(found, (iso) => iso);
  const mirror = stats.read();
  return {
    ...mirror,
    version,
    isReady: ready,
    failing: failingOf(checks),
    troubles,
    toDecide: mirror.outbox.uncertain + mirror.outbox.proposed,
  };
}

/** The first thing that is wrong, and where the runbook says what to do. */
function failingOf(checks: Health['checks']): string | null {
  const failed = checks.find(({ ok, warning }) => !ok && !warning);
  if (!failed) return null;
  return failed.runbook ? `${failed.detail} (${failed.runbook})` : failed.detail;
}
