import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from '@opentelemetry/api';
import type { Settings } from '../../config/load.ts';
import { codeOf, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { missingPackage, versionText } from '../base/program.ts';
import { currentSource, WORK_CHANNEL, type Work } from '../base/tracing.ts';

/** What may take longer than the collector has to be told of the last spans when the service stops. */
const FLUSH_MS = 2000;

/**
 * Sends upstream requests, passes and creates as spans to the collector that the settings name. Returns what ends it. A service without
 * the packages runs all the same: platforms set the variable for everything that runs on them.
 */
export async function startTracing({ otlpEndpoint }: Settings, log: Logger): Promise<() => Promise<void>> {
  if (otlpEndpoint === null) return async () => undefined;
  try {
    return await exportSpans(otlpEndpoint);
  } catch (error) {
    const missing = missingPackage(error);
    if (missing === null) throw error;
    log.warn(
      { event: 'tracing.unavailable' },
      `OTEL_EXPORTER_OTLP_ENDPOINT is set, but no traces are sent: ${messageOf(missing)}. ${missing.hint}`,
    );
    return async () => undefined;
  }
}

async function exportSpans(endpoint: URL): Promise<() => Promise<void>> {
  const [api, { BatchSpanProcessor, TracerProvider }, { OTLPTraceExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
  const url = `${endpoint.href.replace(/\/+$/, '')}/v1/traces`;
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': process.env.OTEL_SERVICE_NAME || 'feedback-mirror' }),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url, timeoutMillis: FLUSH_MS }) }),
    ],
  });
  const tracer = provider.getTracer('feedback-mirror', versionText());
  const current = new AsyncLocalStorage<Span>();
  const spans = new WeakMap<Work, Span>();
  WORK_CHANNEL.start.bindStore(current, (work) => {
    const parent = current.getStore();
    const around = parent ? api.trace.setSpan(api.ROOT_CONTEXT, parent) : api.ROOT_CONTEXT;
    const source = currentSource();
    const span = tracer.startSpan(work.name, source ? { attributes: { source } } : {}, around);
    spans.set(work, span);
    return span;
  });
  const ended = (work: Work): void => {
    const span = spans.get(work)?.setAttributes(work.attributes);
    // The code alone: a message can quote what a person wrote.
    if (work.error !== undefined)
      span?.setAttribute('error.type', codeOf(work.error)).setStatus({ code: api.SpanStatusCode.ERROR });
    span?.end();
  };
  const listeners = {
    start: () => undefined,
    end: () => undefined,
    asyncStart: () => undefined,
    asyncEnd: ended,
    error: () => undefined,
  };
  WORK_CHANNEL.subscribe(listeners);
  return async () => {
    WORK_CHANNEL.unsubscribe(listeners);
    WORK_CHANNEL.start.unbindStore(current);
    await provider.shutdown();
  };
}
