import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { spansOf, startCollector } from '../support/collector.ts';
import { openSite } from '../support/mirror-site.ts';
import { until } from '../support/until.ts';
import { importTitles, logOf, startService } from './runs.ts';

describe('traces', () => {
  it('nest upstream requests in passes and creates, without texts and names', async (t) => {
    const collector = await startCollector(t);
    const site = await openSite(t);
    const service = await startService(site, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await importTitles(site, ['Teleport to the office']);
    const named = (name: string) => spansOf(collector).find((span) => span.name === name);
    await until('a create, a sweep and their requests', () =>
      ['push', 'sync posts sweep', 'GET listPosts', 'POST createPost'].every((name) => named(name)),
    );
    await service.stop();
    const [push, create] = [named('push'), named('POST createPost')];
    assert.equal(create?.parentSpanId, push?.spanId);
    assert.equal(create?.traceId, push?.traceId);
    assert.ok(
      push?.attributes.some(({ key, value }) => key === 'outcome' && value.stringValue === 'confirmed'),
    );
    const told = JSON.stringify(collector.received);
    assert.match(told, /"service.name","value":\{"stringValue":"feedback-mirror"/);
    assert.doesNotMatch(told, /Teleport|@|token/i);
  });

  it('are left out in one sentence where their packages are not installed', async (t) => {
    const site = await openSite(t);
    const without = join(site.folder, 'without.mjs');
    writeFileSync(without, WITHOUT_SDK);
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', NODE_OPTIONS: `--import=${without}` };
    const service = await startService(site, env);
    await service.stop();
    const said = logOf(service).filter(({ event }) => event === 'tracing.unavailable');
    assert.equal(said.length, 1, service.said());
    assert.match(
      said[0]?.msg ?? '',
      /needs the package @opentelemetry\/sdk-trace.* npm install @opentelemetry\/api@/,
    );
  });
});

/** What Node says where a package is not there. */
const WITHOUT_SDK = `
  import { registerHooks } from 'node:module';
  registerHooks({
    resolve(name, context, next) {
      if (name === '@opentelemetry/sdk-trace')
        throw new Error("Cannot find package '@opentelemetry/sdk-trace' imported from here");
      return next(name, context);
    },
  });`;
