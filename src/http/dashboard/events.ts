import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { PulseReader } from '../../store/pulse.ts';
import { assess, type Progress } from '../../worker/health.ts';
import type { Pulse } from './shapes.ts';

export interface EventOptions {
  pulse: PulseReader;
  progress(): Promise<Progress>;
  /** How often the file is asked whether anything has changed. */
  everyMs?: number;
}

/** A beat without news, so that proxies keep the connection and readiness is never older than this. */
const BEATS_WITHOUT_NEWS = 10;

/** Numbers that move without a reload: one server-sent event whenever something changed. Nobody listening costs nothing. */
export function addEvents(app: FastifyInstance, { pulse, progress, everyMs = 1000 }: EventOptions): void {
  const listeners = new Set<ServerResponse>();
  let timer: NodeJS.Timeout | undefined;
  let [seen, quiet] = [-1, 0];

  const beat = async (): Promise<void> => {
    const version = pulse.version();
    quiet = version === seen ? quiet + 1 : 0;
    if (quiet % BEATS_WITHOUT_NEWS !== 0) return;
    seen = version;
    const message = `data: ${JSON.stringify(await readPulse(pulse, progress, version))}\n\n`;
    for (const listener of listeners) listener.write(message);
  };
  const schedule = (): void => {
    timer = setTimeout(() => {
      beat()
        .catch((error: unknown) => app.log.warn({ err: error }, 'the numbers could not be read'))
        .finally(() => listeners.size > 0 && schedule());
    }, everyMs);
  };

  app.get('/data/events', async (request, reply) => {
    const first = await readPulse(pulse, progress, pulse.version());
    reply.hijack();
    const { raw } = reply;
    const headers = {
      ...reply.getHeaders(),
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
    };
    raw.writeHead(200, headers as Record<string, string>);
    raw.write(`data: ${JSON.stringify(first)}\n\n`);
    listeners.add(raw);
    if (listeners.size === 1) schedule();
    request.raw.on('close', () => {
      listeners.delete(raw);
      if (listeners.size === 0) clearTimeout(timer);
    });
  });
  app.addHook('preClose', async () => {
    clearTimeout(timer);
    for (const listener of listeners) listener.end();
    listeners.clear();
  });
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
