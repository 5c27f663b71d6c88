import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { readWithin } from './timeout.ts';

/** What the service counts about itself, for Prometheus. Labels hold kinds of things only, never ids, names or texts. */
export interface Metrics {
  request(info: { operation: string; status: number | null; ms: number; retry: boolean }): void;
  page(resource: string, rows: number): void;
  pass(info: PassInfo): void;
  push(outcome: string): void;
  reconcile(result: string): void;
  job(info: { queue: string; name: string; outcome: 'completed' | 'failed'; seconds: number }): void;
  /**
   * Asked at every scrape for what is a state rather than an event. One reader for each source: one that fails or
   * takes too long loses its own series and nobody else's.
   */
  observe(read: () => Promise<Partial<Gauges>>): void;
  text(): Promise<string>;
  readonly contentType: string;
}

export interface PassInfo {
  resource: string;
  mode: string;
  outcome: string;
  seconds: number;
  inserted: number;
  updated: number;
  unchanged: number;
  deleted: number;
  quarantined: number;
}

export interface Gauges {
  /** Seconds since the last complete pass, by resource and mode; null where there was none. */
  lag: { resource: string; mode: string; seconds: number | null }[];
  outbox: Record<string, number>;
  queues: { queue: string; state: string; jobs: number }[];
  rows: { resource: string; live: number; deleted: number }[];
}

/** A scrape gives up after 10 s unless told otherwise; this leaves it most of that. */
const READ_WITHIN_MS = 2000;

const REQUEST_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** From a head pass that finds nothing new to a sweep of millions of rows. */
const WORK_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400];

const ROW_CHANGES = ['inserted', 'updated', 'unchanged', 'deleted', 'quarantined'] as const;

/** A registry of its own, so that two services in one process (in tests) do not count each other's work. */
export function createMetrics({ readWithinMs = READ_WITHIN_MS } = {}): Metrics {
  const registry = new Registry();
  const events = createEvents(registry);
  const states = createStates(registry);
  collectProcess(registry);
  const readers: (() => Promise<Partial<Gauges> | null>)[] = [];
  return {
    request({ operation, status, ms, retry }) {
      events.requests.inc({ operation, status: status ?? 'none' });
      if (retry) events.retries.inc({ operation });
      events.requestSeconds.observe({ operation }, ms / 1000);
    },
    page(resource, rows) {
      events.pages.inc({ resource });
      events.pageRows.inc({ resource }, rows);
    },
    pass({ resource, mode, outcome, seconds, ...counts }) {
      events.passes.inc({ resource, mode, outcome });
      events.passSeconds.observe({ resource, mode }, seconds);
      for (const change of ROW_CHANGES) events.rows.inc({ resource, change }, counts[change]);
    },
    push: (outcome) => events.pushes.inc({ outcome }),
    reconcile: (result) => events.reconciles.inc({ result }),
    job({ queue, name, outcome, seconds }) {
      events.jobSeconds.observe({ queue, job: name, outcome }, seconds);
    },
    observe(read) {
      const reader = readWithin(readWithinMs, read);
      readers.push(async () => {
        const found = await reader();
        if (!found) events.failedReads.inc();
        return found;
      });
    },
    async text() {
      const found = await Promise.all(readers.map((read) => read()));
      show(states, found);
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}

function createEvents(registry: Registry) {
  const counter = counterIn(registry);
  const histogram = histogramIn(registry);
  return {
    requests: counter('upstream_requests_total', 'Requests to the upstream by status; none: no answer.', [
      'operation',
      'status',
    ]),
    retries: counter('upstream_retries_total', 'Requests that repeated an earlier one.', ['operation']),
    requestSeconds: histogram(
      'upstream_request_duration_seconds',
      'Time until the upstream had answered.',
      REQUEST_SECONDS,
      ['operation'],
    ),
    pages: counter('sync_pages_total', 'Pages written to the mirror.', ['resource']),
    pageRows: counter('sync_page_rows_total', 'Rows on those pages.', ['resource']),
    passes: counter('sync_passes_total', 'Passes over a list that ended.', ['resource', 'mode', 'outcome']),
    passSeconds: histogram('sync_pass_duration_seconds', 'Time a pass took.', WORK_SECONDS, [
      'resource',
      'mode',
    ]),
    rows: counter('sync_rows_total', 'What ended passes did to the rows.', ['resource', 'change']),
    pushes: counter('push_outcomes_total', 'Attempts to send a post, by outcome.', ['outcome']),
    reconciles: counter('reconcile_results_total', 'Searches for an unclear post, by result.', ['result']),
    jobSeconds: histogram('job_duration_seconds', 'Time a job of the queue took.', WORK_SECONDS, [
      'queue',
      'job',
      'outcome',
    ]),
    failedReads: counter('state_read_failures_total', 'Gauges left out because their reader failed.', []),
  };
}

type States = ReturnType<typeof createStates>;

function createStates(registry: Registry) {
  const gauge = gaugeIn(registry);
  return {
    lag: gauge('sync_lag_seconds', 'Time since the last complete pass.', ['resource', 'mode']),
    outbox: gauge('outbox_rows', 'Rows of the outbox by state.', ['state']),
    queues: gauge('queue_jobs', 'Jobs of the queue by state.', ['queue', 'state']),
    rows: gauge('mirrored_rows', 'Rows of the mirror, live or deleted upstream.', ['resource', 'state']),
  };
}

/** All at once, without a pause in between: a second scrape at the same time sees one whole state or the other. */
function show(states: States, found: readonly (Partial<Gauges> | null)[]): void {
  for (const gauge of Object.values(states)) gauge.reset();
  for (const { lag = [], outbox = {}, queues = [], rows = [] } of found.filter((part) => part !== null)) {
    for (const { resource, mode, seconds } of lag)
      if (seconds !== null) states.lag.set({ resource, mode }, seconds);
    for (const [state, count] of Object.entries(outbox)) states.outbox.set({ state }, count);
    for (const { queue, state, jobs } of queues) states.queues.set({ queue, state }, jobs);
    for (const { resource, live, deleted } of rows) {
      states.rows.set({ resource, state: 'live' }, live);
      states.rows.set({ resource, state: 'deleted' }, deleted);
    }
  }
}

/** prom-client's sums of handles, requests and resources are gauges called `_total`, which promtool refuses; they stay by type. */
function collectProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const what of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${what}_total`);
}

const PREFIX = 'feedback_mirror_';

function counterIn(registry: Registry) {
  return <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter({ name: PREFIX + name, help, labelNames, registers: [registry] });
}

function histogramIn(registry: Registry) {
  return <L extends string>(name: string, help: string, buckets: number[], labelNames: L[]) =>
    new Histogram({ name: PREFIX + name, help, buckets, labelNames, registers: [registry] });
}

function gaugeIn(registry: Registry) {
  return <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Gauge({ name: PREFIX + name, help, labelNames, registers: [registry] });
}
