import { getPriority, setPriority } from 'node:os';
import { loadSettings, type Settings } from '../../config/load.ts';
import type { RequestInfo } from '../api/options.ts';
import { systemClock } from '../base/clock.ts';
import { AppError, plainFailure } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { inSource } from '../base/tracing.ts';
import type { Pass } from '../mirror/decide/types.ts';
import { openMirrorStore } from '../mirror/store/store.ts';
import { type SyncOutcome, syncOnce } from '../mirror/sweep/engine.ts';
import type { PassContext } from '../mirror/sweep/pages.ts';
import { openServiceState } from '../state/state.ts';
import { holder, mirrorOf } from './place.ts';
import type { SweepNews, SweepOrder } from './sweeps.ts';
import { startTracing } from './tracing.ts';
import { maskedLog, openClient, realToken, sharedGate } from './upstream.ts';

// This file is the process of `sweeps.ts`. Pages and creates go first where the processor is busy.
setPriority(Math.min(19, getPriority() + 5));
// Ctrl-C reaches every process of the terminal. The service says which sweeps stop, and when this process ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
serve();

function serve(): void {
  const underWay = new Map<number, AbortController>();
  const tell = (news: SweepNews): void => void process.send?.(news);
  process.on('message', (message) => {
    const order = message as SweepOrder;
    const { id } = order;
    if ('stop' in order) {
      underWay.get(id)?.abort(new AppError('interrupted', 'the service is stopping'));
      return;
    }
    const stop = new AbortController();
    underWay.set(id, stop);
    void sweep(order, stop.signal, tell)
      .then((outcome) => tell({ id, outcome }))
      .catch((error) => tell({ id, failure: plainFailure(error) }))
      .finally(() => underWay.delete(id));
  });
}

type Ordered = Exclude<SweepOrder, { stop: true }>;

/** What the sweeps of one source share while one of them is under way: an idle source holds nothing here. */
interface Opened {
  sweeps: Set<number>;
  parts: Promise<Parts>;
}

type Parts = Pick<PassContext, 'client' | 'store' | 'ahead'> & { name: string; close(): Promise<void> };

const sources = new Map<number, Opened>();

async function sweep(
  order: Ordered,
  signal: AbortSignal,
  tell: (news: SweepNews) => void,
): Promise<SyncOutcome> {
  const { id, source, request } = order;
  const opened = sources.get(source) ?? { sweeps: new Set([id]), parts: open(order, tell) };
  sources.set(source, opened);
  opened.sweeps.add(id);
  const onPage = (pass: Pass): void => tell({ id, page: { ...pass, state: null } });
  try {
    const { client, store, ahead, name } = await opened.parts;
    const context = { client, store, ahead, clock: systemClock, signal, onPage };
    return await inSource(name, () => syncOnce(context, request));
  } finally {
    opened.sweeps.delete(id);
    if (opened.sweeps.size === 0) {
      sources.delete(source);
      await opened.parts.then(({ close }) => close()).catch(() => undefined);
    }
  }
}

/** The requests are told under any sweep of the source: they count for the source. */
async function open({ source, input, cacheKb }: Ordered, tell: (news: SweepNews) => void): Promise<Parts> {
  const settings = loadSettings(input);
  const { token, log } = maskedLog(settings, realToken(settings, input), settings.logLevel);
  await traced(settings, log);
  const opened: { close(): unknown }[] = [];
  const keep = <T extends { close(): unknown }>(part: T): T => {
    opened.push(part);
    return part;
  };
  const close = async (): Promise<void> => {
    while (opened.length > 0) await opened.pop()?.close();
  };
  const mirror = { ...mirrorOf(settings), holder: holder('start') };
  const onRequest = (call: RequestInfo): void => {
    const [id] = sources.get(source)?.sweeps ?? [];
    if (id !== undefined) tell({ id, call });
  };
  try {
    const store = keep(openMirrorStore({ ...mirror, cacheKb }));
    const rateLimit = sharedGate(keep(openServiceState(mirror)), log);
    const url = settings.baseUrl?.href ?? '';
    const client = keep(openClient(settings, { url, token, log, rateLimit, env: input.env, onRequest }));
    return { client, store, ahead: settings.pagesAhead, name: settings.source ?? '', close };
  } catch (error) {
    await close();
    throw error;
  }
}

let tracing: Promise<unknown> | undefined;

/** Once for all sources: spans name theirs. */
async function traced(settings: Settings, log: Logger): Promise<void> {
  tracing ??= startTracing(settings, log);
  await tracing;
}
