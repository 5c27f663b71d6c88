import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { until } from '../support/until.ts';
import { place, start, states, tokenOf, untilReady } from './place.ts';

describe('the service of several sources', () => {
  it('serves each below its name, and an overview of all', async (t) => {
    const site = await place(t, { acme: { posts: 30 }, beta: { posts: 10 } });
    const service = await start(t, site);
    await untilReady(service, ['acme', 'beta']);
    for (const [name, posts] of [['acme', 30] as const, ['beta', 10] as const]) {
      const api = await service.json(`/s/${name}/api/v1/posts/`);
      assert.equal(api.status, 200);
      assert.equal((api.body.results as unknown[]).length, posts);
      const changes = await service.json(`/s/${name}/api/changes?since=0`);
      assert.equal(changes.status, 200);
      const [change] = changes.body.changes as { source: string }[];
      assert.equal(change?.source, name);
      const ready = await service.json(`/s/${name}/readyz`);
      assert.equal(ready.body.ready, true);
      const page = await (
        await fetch(`${service.url}/s/${name}/posts`, { headers: { accept: 'text/html' } })
      ).text();
      assert.match(page, new RegExp(`href="/s/${name}/posts"`));
    }
    const overview = await (await fetch(`${service.url}/`)).text();
    assert.match(overview, /<html data-all/);
    assert.doesNotMatch(overview, /href="\/posts"/);
    assert.match(await (await fetch(`${service.url}/docs/operations.md`)).text(), /^# Operations/);
    const all = await service.json('/api/changes?since=');
    const seen = (all.body.changes as { source: string }[]).map(({ source }) => source);
    assert.deepEqual([...new Set(seen)].sort(), ['acme', 'beta']);
    assert.deepEqual((await service.json(`/api/changes?since=${all.body.next}`)).body.changes, []);
    const { sources } = (await service.json('/data/sources')).body as {
      sources: { name: string; newPosts: number }[];
    };
    assert.deepEqual(
      sources.map(({ name, newPosts }) => [name, newPosts]),
      [
        ['acme', 0],
        ['beta', 0],
      ],
    );
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    assert.match(metrics, /^feedback_mirror_ready\{source="acme"\} 1$/m);
    assert.match(metrics, /^feedback_mirror_mirrored_rows\{.*source="beta".*\} 10$/m);
    assert.equal(metrics.match(/^# TYPE feedback_mirror_ready /gm)?.length, 1);
    assert.match(metrics, /^process_resident_memory_bytes /m);
    assert.match(service.said(), /"source":"acme"/);
    assert.equal((await service.json('/s/gamma/readyz')).status, 404);
    const listed = await site.run(['sources', '--json']);
    const { sources: lines } = JSON.parse(listed.stdout) as { sources: { state: string }[] };
    assert.deepEqual(
      lines.map(({ state }) => state),
      ['ready', 'ready'],
    );
    assert.equal(await service.stop(), 0);
  });

  it('says once which source is in trouble', async (t) => {
    const site = await place(t, { acme: { posts: 5 }, beta: { posts: 5 } });
    site.write(['acme', 'beta'], { beta: '    head_every: 1s\n' });
    const service = await start(t, site);
    await untilReady(service, ['acme', 'beta']);
    site.sandboxes.beta?.revoke(tokenOf('beta'));
    const troubles = async (): Promise<string[][]> => {
      const { sources } = (await service.json('/data/sources')).body as { sources: { trouble: string[] }[] };
      return sources.map(({ trouble }) => trouble);
    };
    await until('the trouble is known', async () => (await troubles()).some(({ length }) => length > 0));
    const [acme, beta] = await troubles();
    assert.deepEqual([acme?.length, beta?.length], [0, 1]);
    assert.match(beta?.[0] ?? '', /refused the token/);
    const { sources } = JSON.parse((await site.run(['sources', '--json'])).stdout) as {
      sources: { state: string }[];
    };
    assert.deepEqual(
      sources.map(({ state }) => state),
      ['ready', 'trouble'],
    );
  });

  it('takes up a change of the file without a restart of the other sources', async (t) => {
    const site = await place(t, { acme: { posts: 5 }, beta: { posts: 5 } });
    site.write(['acme']);
    const service = await start(t, site);
    await untilReady(service, ['acme']);
    const startedAt = (await service.json('/s/acme/readyz')).body.upSeconds as number;
    const plain = await service.json('/api/v1/posts/');
    assert.equal((plain.body.results as unknown[]).length, 5, 'one source answers at the addresses of today');
    site.write(['acme', 'beta']);
    await untilReady(service, ['acme', 'beta']);
    writeFileSync(join(site.folder, 'sources.yaml'), 'sources: { acme: { base_url: nowhere } }');
    await until('the file is refused', () => service.said().includes('sources.wrong'));
    assert.deepEqual(Object.keys(await states(service)), ['acme', 'beta']);
    site.write(['acme', 'beta'], { beta: '    push_per_minute: 7\n' });
    await until('the change is seen', () => service.said().includes('source.changed'));
    await untilReady(service, ['acme', 'beta']);
    site.write(['acme']);
    await until('the source has stopped', () => service.said().includes('source.removed'));
    assert.match(
      service.said(),
      /beta is no longer in sources.yaml: it has stopped, and its data stays in data\/beta/,
    );
    assert.ok(existsSync(join(site.folder, 'data/beta/mirror.db')));
    await untilReady(service, ['acme']);
    const upSeconds = (await service.json('/s/acme/readyz')).body.upSeconds as number;
    assert.ok(upSeconds >= startedAt);
    assert.equal(
      service
        .said()
        .match(/"event":"source.started","source":"acme"|"source":"acme","event":"source.started"/g)?.length,
      1,
    );
  });
});
