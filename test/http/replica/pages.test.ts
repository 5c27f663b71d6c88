import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import Fastify, { type FastifyPluginAsync } from 'fastify';
import { ENDPOINTS } from '../../../src/contract/endpoints.ts';
import { type ReplicaDeps, replica } from '../../../src/http/replica/index.ts';
import { fakeClock } from '../../support/clock.ts';

const { listPosts, listComments } = ENDPOINTS;

type Answer = Record<string, unknown> & { status: number };

async function served(t: TestContext, more: Partial<ReplicaDeps> = {}) {
  const asked: unknown[][] = [];
  const slice = { rows: [{ id: 35 }, { id: 36 }], hasEarlier: false, hasMore: true };
  const reads = {
    page: async (...request: unknown[]) => {
      asked.push(request);
      return slice;
    },
    search: async (text: string) => [{ id: 1, text }],
  };
  const outbox = { find: (id: number) => (id === 5 ? { id, state: 'ready', title: 'Hidden' } : null) };
  const app = Fastify();
  t.after(() => app.close());
  const deps = { reads, outbox, clock: fakeClock(), upstream: null, ...more } as unknown as ReplicaDeps;
  const plugin: FastifyPluginAsync = async (scope) => replica(deps)(scope);
  await app.register(plugin);
  const get = async (url: string, method: 'GET' | 'HEAD' = 'GET'): Promise<Answer> => {
    const { statusCode, body } = await app.inject({ url, method, headers: { host: 'mirror.test:81' } });
    return { ...(JSON.parse(body || '{}') as object), status: statusCode };
  };
  return { asked, slice, get };
}

describe('a page of the copied API', () => {
  it('leads to the next and the one before, under the name by which it was called, where there are such', async (t) => {
    const { asked, slice, get } = await served(t);
    const first = await get(listPosts.path);
    const here = `http://mirror.test:81${listPosts.path}?cursor=`;
    assert.deepEqual([first.next, first.previous, first.results], [`${here}n10`, null, slice.rows]);
    Object.assign(slice, { hasEarlier: true, hasMore: false });
    const last = await get(`${listComments.path}?cursor=n10`);
    const there = `http://mirror.test:81${listComments.path}?cursor=`;
    assert.deepEqual([last.next, last.previous], [null, `${there}pz`]);
    await get(`${listPosts.path}?cursor=pz`);
    assert.deepEqual(asked, [
      ['posts', { id: null, side: 'after' }, 100],
      ['comments', { id: 36, side: 'after' }, 100],
      ['posts', { id: 35, side: 'before' }, 100],
    ]);
    Object.assign(slice, { rows: [], hasEarlier: true, hasMore: true });
    const none = await get(listPosts.path);
    assert.deepEqual([none.next, none.previous], [null, null]);
  });

  it('accepts only cursors that it gave out, and no page numbers', async (t) => {
    const { asked, get } = await served(t);
    const wrong = ['', 'n', 'x10', 'n010', 'nZ', 'n10 ', `n${'z'.repeat(11)}`, `n${'1'.repeat(12)}`];
    for (const cursor of wrong)
      assert.equal((await get(`${listPosts.path}?cursor=${encodeURIComponent(cursor)}`)).status, 400, cursor);
    assert.equal((await get(`${listPosts.path}?page=2`)).status, 400);
    assert.deepEqual(asked, []);
    assert.equal((await get(`${listPosts.path}?page=1`)).status, 200);
  });

  it('refuses unknown parameters, and accepts the token parameter', async (t) => {
    const { get } = await served(t, { tokenParameter: 'api_key' });
    const status = async (path: string, query: string) => (await get(`${path}?${query}`)).status;
    assert.deepEqual(
      [await status(listPosts.path, 'token=x'), await status(listPosts.path, 'api_key=x')],
      [200, 200],
    );
    for (const [path, query] of [
      [listPosts.path, 'board=ideas'],
      [listComments.path, 'search=dark'],
    ] as const)
      assert.equal(await status(path, query), 400, query);
    const { errors } = await get(`${listPosts.path}?${'x'.repeat(100)}=1`);
    assert.deepEqual(Object.keys(errors as object), ['x'.repeat(64)]);
    assert.equal((await (await served(t)).get(`${listPosts.path}?api_key=x`)).status, 400);
  });

  it('has one page for a search, and a blank search is the list', async (t) => {
    const { asked, get } = await served(t);
    const found = await get(`${listPosts.path}?search=50%25%20off%zz`);
    assert.deepEqual(
      [found.next, found.previous, found.results],
      [null, null, [{ id: 1, text: '50% off%zz' }]],
    );
    for (const query of ['search=dark&page=2', 'search=dark&cursor=n10']) {
      const { status, errors } = await get(`${listPosts.path}?${query}`);
      assert.deepEqual([status, /A search is one page/.test(JSON.stringify(errors))], [400, true]);
    }
    assert.deepEqual(asked, []);
    await get(`${listPosts.path}?search=%20`);
    assert.equal(asked.length, 1);
  });

  it('of the outbox shows what became of a row, and none of its words', async (t) => {
    const { get } = await served(t);
    const row = await get('/api/v1/outbox/5');
    assert.deepEqual([row.status, row.id, row.state, 'title' in row], [200, 5, 'ready', false]);
    for (const id of ['6', '5x', '05.0', '1'.repeat(16)])
      assert.equal((await get(`/api/v1/outbox/${id}`)).status, 404, id);
    assert.equal((await get(listPosts.path, 'HEAD')).status, 404);
  });
});
