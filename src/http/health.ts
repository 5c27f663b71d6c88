import type { FastifyInstance } from 'fastify';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import { programVersion } from '../base/program.ts';
import { readWithin } from '../base/timeout.ts';
import { assess, type Progress } from '../worker/health.ts';

export interface HealthOptions {
  log: Logger;
  metrics: Metrics;
  progress(): Promise<Progress>;
  progressMs: number;
}

/** `/healthz`: the process answers. `/readyz`: it does its work. `/metrics`: what it did. */
export function addHealth(app: FastifyInstance, { log, metrics, progress, progressMs }: HealthOptions): void {
  const read = readWithin(progressMs, () => logged(progress, log));
  app.get('/healthz', async () => ({ status: 'ok', ...programVersion() }));
  app.get('/readyz', async (_request, reply) => {
    const found = await read();
    const answer = found ? { ...assess(found), ...summary(found) } : UNKNOWN;
    return reply.code(answer.ready ? 200 : 503).send(answer);
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
}

const UNKNOWN = {
  ready: false,
  checks: [
    {
      name: 'progress',
      ok: false,
      detail: 'the service could not tell in time how far it is; its log may say why',
    },
  ],
};

/** Of the queues only what is in them: a list of zeros hides the one number that matters. */
function summary({ now, startedAt, queue: { kind, depth } }: Progress) {
  const queue = { kind, depth: depth.filter(({ jobs }) => jobs > 0) };
  return { upSeconds: Math.round((now - startedAt) / 1000), queue };
}

async function logged(progress: () => Promise<Progress>, log: Logger): Promise<Progress> {
  try {
    return await progress();
  } catch (error) {
    log.error(
      { event: 'http.progress.failed', err: error },
      `the progress of the service cannot be read: ${messageOf(error)}`,
    );
    throw error;
  }
}
