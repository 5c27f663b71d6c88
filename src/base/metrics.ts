import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
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
   * takes too long loses its own series and no other.
   */
  observe(read: () => Promise<Gauges>): void;
  startAtZero(known: KnownLabels): void;
  text(): Promise<string>;
  /** The same as data, to be shown together with others. */
  read(): Promise<MetricObjectWithValues<MetricValue<string>>[]>;
  readonly contentType: string;
}

interface PassInfo {
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

/** States by name; an unknown value is left out. */
export type Gauges = Partial<Record<keyof typeof STATES, readonly GaugeValue[]>>;

export interface GaugeValue {
  labels?: Record<string, string>;
  value: number | null;
}

/** Counters that must be there from the start: an alert on growth does not see a series that begins above 0. */
export interface KnownLabels {
  passes: Pick<PassInfo, 'resource' | 'mode' | 'outcome'>[];
  pushes: readonly string[];
  reconciles: readonly string[];
  operations: readonly string[];
}

/** A scrape gives up after 10 s unless told otherwise; this leaves it most of that. */
const READ_WITHIN_MS = 2000;

const REQUEST_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const WORK_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400];

const ROW_CHANGES = ['inserted', 'updated', 'unchanged', 'deleted', 'quarantined'] as const;

interface MetricsOptions {
  readWithinMs?: number;
  /** The source is a label of all its series. No source measures the process. */
  source?: string | null;
}

/** A registry of its own, so that two services in one process do not count each other's work. */
export function createMetrics({
  readWithinMs = READ_WITHIN_MS,
  source = null,
}: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  if (source !== null) registry.setDefaultLabels({ source });
  const events = createEvents(registry);
  const states = createStates(registry);
  let isScraped = source !== null;
  const readers: (() => Promise<Gauges | null>)[] = [];
  const update = async (): Promise<void> => {
    if (!isScraped) collectProcess(registry);
    isScraped = true;
    const found = await Promise.all(readers.map((read) => read()));
    show(states, found);
  };
  return {
    ...counting(events),
    observe(read) {
      const reader = readWithin(readWithinMs, read);
      readers.push(async () => {
        const found = await reader();
        if (!found) events.failedReads.inc();
        return found;
      });
    },
    async text() {
      await update();
      return registry.metrics();
    },
    async read() {
      await update();
      return await registry.getMetricsAsJSON();
    },
    contentType: registry.contentType,
  };
}

type Counting = Pick<Metrics, 'request' | 'page' | 'pass' | 'push' | 'reconcile' | 'job' | 'startAtZero'>;

function counting(events: ReturnType<typeof createEvents>): Counting {
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
    startAtZero({ passes, pushes, reconciles, operations }) {
      for (const labels of passes) events.passes.inc(labels, 0);
      for (const outcome of pushes) events.pushes.inc({ outcome }, 0);
      for (const result of reconciles) events.reconciles.inc({ result }, 0);
      for (const operation of operations) {
        events.requests.inc({ operation, status: 'none' }, 0);
        events.retries.inc({ operation }, 0);
      }
    },
  };
}

/** Merges the metrics of several sources and of the process, each series once. */
export async function mergedText(all: readonly Pick<Metrics, 'read'>[]): Promise<string> {
  const read = await Promise.all(all.map((metrics) => metrics.read()));
  return await AggregatorRegistry.aggregate(read).metrics();
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

/** What is asked for at every scrape: what it tells, and by which labels. */
const STATES = {
  ready: ['1 while the service does its work, as /readyz judges it, else 0.', []],
  trouble_since_seconds: ['Since when something needs a person, in seconds since 1970.', ['symptom']],
  sync_lag_seconds: ['Time since the last complete pass.', ['resource', 'mode']],
  held_deletions: ['Rows that the mass-delete guard keeps until a person accepts.', ['resource']],
  quarantined_rows: ['Rows of the upstream that could not be read.', ['resource']],
  mirrored_rows: ['Rows of the mirror, live or deleted upstream.', ['resource', 'state']],
  outbox_rows: ['Rows of the outbox by state.', ['state']],
  outbox_oldest_unsent_seconds: ['Age of the oldest row that is on its way or waits to be sent.', []],
  webhook_lag_changes: ['Changes that a webhook endpoint was not told of yet.', ['webhook']],
  publish_lag_seconds: ['How far the copy in PostgreSQL is behind: what a lost disk would cost.', []],
  publish_behind_changes: ['Changes of the feed that the copy in PostgreSQL has not.', []],
  publish_age_seconds: ['Time since the copy in PostgreSQL was last brought up to date.', []],
  queue_jobs: ['Jobs of the queue by state.', ['queue', 'state']],
  backup_age_seconds: ['Age of the copy of the mirror that the service keeps.', []],
  export_age_seconds: ['Age of the last scheduled export.', []],
  file_bytes: ['Size of a file of the data folder; wal is what the mirror has still to take in.', ['file']],
} as const satisfies Record<string, [help: string, labels: readonly string[]]>;

function createStates(registry: Registry): Map<string, Gauge> {
  const gauge = gaugeIn(registry);
  return new Map(
    Object.entries(STATES).map(([name, [help, labels]]) => [name, gauge(name, help, [...labels])]),
  );
}

/** Reads all gauges in one turn of the event loop, so that two scrapes at the same time see whole states. */
function show(states: Map<string, Gauge>, found: readonly (Gauges | null)[]): void {
  for (const gauge of states.values()) {
    gauge.reset();
    // A gauge without labels is 0 after a reset, but its value is not known.
    gauge.remove({});
  }
  for (const part of found)
    for (const [name, readings] of Object.entries(part ?? {}))
      for (const { labels = {}, value } of readings) if (value !== null) states.get(name)?.set(labels, value);
}

/**
 * Memory, event loop and garbage collection, from the first scrape on: a service that is not scraped does not measure them.
 * prom-client's sums of handles, requests and resources are gauges called `_total`, which promtool refuses; they stay by type.
 */
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
