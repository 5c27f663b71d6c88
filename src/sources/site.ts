import type { FastifyInstance } from 'fastify';
import { pastOrNull } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { type Metrics, mergedText } from '../base/metrics.ts';
import { readWithin } from '../base/timeout.ts';
import { addChanges } from '../http/changes.ts';
import { addPageOfAll } from '../http/dashboard/assets.ts';
import { splitMount } from '../http/server/guard.ts';
import type { Sites } from '../http/server/server.ts';
import { assess, type Health } from '../service/health.ts';
import { feedOfAll } from './feed.ts';
import type { RunningSource } from './running.ts';
import type { SourceSet } from './set.ts';

/** What one source shows to others: on the overview, in the switcher and to probes. */
export interface SourceState {
  name: string;
  host: string;
  ready: boolean;
  /** Since the last complete pass over the posts; null where there was none. */
  lagSeconds: number | null;
  /** Posts that came within a day. */
  newPosts: number;
  trouble: string[];
  checks: Health['checks'];
}

/** Addresses of the program itself, also where there is one source. */
const OWN = /^\/(healthz|readyz|metrics|login|login\.css|logout|data\/sources|assets\/.*)$/;

/** `/s/acme/…` is the source acme. Where there is one source, every address of today leads to it. */
export function sitesOf(set: SourceSet): Sites {
  return (url) => {
    const { name, rest } = splitMount(url);
    const [only, second] = set.all();
    const isOnly = name === null && only && !second && !OWN.test(rest.split('?', 1)[0] ?? '');
    const source = isOnly ? only : set.find(name ?? '');
    return source ? () => source.site() : null;
  };
}

export interface SourcesAnswer {
  sources: Omit<SourceState, 'checks'>[];
}

const ANSWER_MS = 3000;

interface Own {
  metrics: Metrics;
  log: Logger;
  /** Of the fleet; left out where this machine is alone. A machine of a fleet that has no source is ready once it has asked PostgreSQL. */
  checks?: () => Health['checks'];
  /** Whether browsers sign in. */
  hasLogin: boolean;
}

/** Health, metrics, changes and the overview of all sources. */
export function addOverview(
  app: FastifyInstance,
  set: SourceSet,
  { metrics: own, log, hasLogin, checks: fleetChecks }: Own,
): void {
  const read = (): Promise<SourceState[]> => Promise.all(set.all().map(stateOf));
  app.get('/readyz', async (_request, reply) => {
    const sources = await read();
    // A restart helps no source whose service is away, and would stop the others.
    const ofFleet = fleetChecks?.() ?? null;
    const isIdle = sources.length === 0 && ofFleet !== null && ofFleet.every(({ ok }) => ok);
    const ready = sources.some((source) => source.ready) || isIdle;
    const checks = sources.flatMap(({ name, checks }) =>
      checks.map((check) => ({ ...check, name: `${name} ${check.name}` })),
    );
    const states = Object.fromEntries(sources.map((source) => [source.name, source.ready]));
    return reply
      .code(ready ? 200 : 503)
      .send({ ready, sources: states, checks: [...checks, ...(ofFleet ?? [])] });
  });
  app.get('/metrics', async (_request, reply) =>
    reply.type(own.contentType).send(await mergedText([own, ...set.all().map(({ metrics }) => metrics)])),
  );
  app.get(
    '/data/sources',
    async (): Promise<SourcesAnswer> => ({
      sources: (await read()).map(({ checks: _, ...source }) => source),
    }),
  );
  const { feed, close } = feedOfAll(set);
  addChanges(app, { feed, log });
  app.addHook('onClose', async () => close());
  addPageOfAll(app, { hasLogin });
}

async function stateOf(source: RunningSource): Promise<SourceState> {
  const { name, host } = source.plan;
  const progress = await readWithin(ANSWER_MS, () => source.progress())();
  const app = source.app();
  if (!progress || !app) {
    const detail = source.trouble() ?? 'it is being opened';
    const checks = [{ name: 'source', ok: false, detail }];
    return { name, host, ready: false, lagSeconds: null, newPosts: 0, trouble: [detail], checks };
  }
  const { ready, checks } = assess(progress);
  const now = app.clock.now();
  const passes = app.state.lastPasses().filter(({ resource }) => resource === 'posts');
  const last = pastOrNull(Math.max(0, ...passes.map(({ finishedAt }) => finishedAt ?? 0)) || null, now);
  return {
    name,
    host,
    ready,
    lagSeconds: last === null ? null : Math.round((now - last) / 1000),
    newPosts: app.state.insertedSince('posts', now - DAY_MS),
    trouble: checks.filter(({ ok }) => !ok).map(({ detail }) => detail),
    checks,
  };
}

const DAY_MS = 86_400_000;
