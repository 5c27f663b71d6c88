import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { spansOf, startCollector } from '../support/collector.ts';
import { until } from '../support/until.ts';
import { place, start, states, tokenOf, untilReady } from './place.ts';

describe('the service of several sources', () => {
  it('sends the posts of each source to its own service, with its own token', async (t) => {
    const site = await place(t, { acme: { posts: 5 }, beta: { posts: 5 } });
    const service = await start(t, site);
    await untilReady(service, ['acme', 'beta']);
    for (const name of ['acme', 'beta']) {
      const board =
        (
          await site.run(['query', 'SELECT name FROM boards LIMIT 1', '--format', 'csv', '--source', name])
        ).stdout
          .trim()
          .split('\n')
          .at(-1) ?? '';
      const made = await site.run([
        'create',
        '--board',
        board,
        '--title',
        `For ${name}`,
        '--wait',
        '--source',
        name,
      ]);
      assert.equal(made.code, 0, made.stderr);
    }
    for (const name of ['acme', 'beta']) {
      const found = await fetch(`${site.sandboxes[name]?.url}/api/v1/posts/?search=For`, {
        headers: { authorization: `Bearer ${tokenOf(name)}` },
      });
      const { results } = (await found.json()) as { results: { title: string }[] };
      assert.deepEqual(
        results.filter(({ title }) => title.startsWith('For ')).map(({ title }) => title),
        [`For ${name}`],
      );
    }
  });

  it('names the source in the spans of its sweeps and head passes', async (t) => {
    const collector = await startCollector(t);
    const site = await place(t, { acme: { posts: 5 }, beta: { posts: 5 } });
    site.write(['acme', 'beta'], { acme: '    head_every: 1s\n', beta: '    head_every: 1s\n' });
    const service = await start(t, site, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const sourcesOf = (name: string): string[] =>
      spansOf(collector)
        .filter((span) => span.name === name)
        .flatMap(({ attributes }) => attributes.filter(({ key }) => key === 'source'))
        .map(({ value }) => String(value.stringValue));
    await until('both have swept, and looked at the newest posts', () =>
      ['sync posts sweep', 'sync posts head'].every((name) => {
        const found = sourcesOf(name);
        return found.includes('acme') && found.includes('beta');
      }),
    );
    const [sweep] = spansOf(collector).filter(({ name }) => name === 'sync posts sweep');
    assert.ok(
      spansOf(collector).some(
        ({ name, parentSpanId }) => name === 'GET listPosts' && parentSpanId === sweep?.spanId,
      ),
    );
    assert.equal(await service.stop(), 0);
  });

  it('goes on with the others where one is refused and one cannot be reached', async (t) => {
    const site = await place(t, { acme: { posts: 5 }, beta: { posts: 5 }, gamma: { posts: 5 } });
    const yaml = `sources:
  acme: { base_url: '${site.sandboxes.acme?.url}', token: ${tokenOf('acme')} }
  beta: { base_url: '${site.sandboxes.beta?.url}', token: not-the-token }
  gamma: { base_url: 'http://127.0.0.1:9', token: ${tokenOf('gamma')} }
`;
    writeFileSync(join(site.folder, 'sources.yaml'), yaml);
    const service = await start(t, site);
    await until('acme is ready', async () => (await states(service)).acme === true);
    const { status, body } = await service.json('/readyz');
    assert.equal(status, 200);
    assert.deepEqual(body.sources, { acme: true, beta: false, gamma: false });
  });
});
