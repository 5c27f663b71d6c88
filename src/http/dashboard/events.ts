import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { PulseReader } from '../../store/pulse.ts';
import { assess, type Progress } from '../../worker/health.ts';
import { secure } from '../replies.ts';
import type { Pulse } from './shapes.ts';

export interface EventOptions {
  pulse: PulseReader;
  progress(): Promise<Progress>;
  log: Logger;
  /** How often the file is asked whether anything has changed. */
  everyMs?: number;
}

/** A beat without news, so that proxies keep the connection and readiness is never older than this. */
const BEATS_WITHOUT_NEWS = 10;

/** Numbers that move without a reload: one server-sent event whenever something changed. Nobody listening costs nothing. */
export function addEvents(app: FastifyInstance, options: EventOptions): void {
  const { pulse, progress, log, everyMs = 1000 } = options;
  const listeners = new Set<ServerResponse>();
  let isBeating = false;
  let [seen, quiet] = [-1, 0];

  const beat = async (): Promise<void> => {
    const version = pulse.version();
    quiet = version === seen ? quiet + 1 : 0;
    if (quiet % BEATS_WITHOUT_NEWS !== 0) return;
    seen = version;
    const message = eventOf(await readPulse(pulse, progress, version));
    for (const listener of listeners) listener.write(message);
  };
  const schedule = (): void => {
    isBeating = listeners.size > 0;
    if (isBeating) setTimeout(() => void onTime(), everyMs).unref();
  };
  const onTime = async (): Promise<void> => {
    try {
      if (listeners.size > 0) await beat();
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'the numbers of the dashboard could not be read');
    }
    schedule();
  };

  app.get('/data/events', async (_request, reply) => {
    const first = eventOf(await readPulse(pulse, progress, pulse.version()));
    secure(reply).header('content-type', 'text/event-stream').hijack();
    const { raw } = reply;
    if (raw.destroyed) return;
    raw.writeHead(200, reply.getHeaders() as Record<string, string>).write(first);
    listeners.add(raw);
    raw.on('close', () => listeners.delete(raw));
    if (!isBeating) schedule();
  });
  app.addHook('preClose', async () => {
    for (const listener of listeners) listener.end();
    listeners.clear();
  });
}

function eventOf(pulse: Pulse): string {
  return `data: ${JSON.stringify(pulse)}\n\n`;
}

async function readPulse(
  pulse: PulseReader,
  progress: EventOptions['progress'],
  version: number,
): Promise<Pulse> {
  const { ready, checks } = assess(await progress());
  const vital = pulse.read();
  return {
    ...vital,
    version,
    isReady: ready,
    trouble: checks.find(({ ok }) => !ok)?.detail ?? null,
    waitingForYou: vital.outbox.uncertain,
  };
}
