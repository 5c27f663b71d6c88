import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createClient } from '../../../src/api/client.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { parseJson } from '../../../src/base/json.ts';
import { Secret } from '../../../src/base/secret.ts';
import type { Comment, Post } from '../../../src/contract/decode.ts';
import { openMirrorStore } from '../../../src/mirror/store/store.ts';
import { syncOnce } from '../../../src/mirror/sweep/engine.ts';
import { type ListPlace, openReplicaReads } from '../../../src/replica/replica.ts';
import { openReplica } from '../../contract-api/servers.ts';
import { COMMENTS, call, json, POSTS, type Problem, posts, walk } from '../../sandbox/client.ts';
import { folderFor, temporaryFolder } from '../../support/folder.ts';
import { placeNewMirror } from '../../support/mirror.ts';
import { aComment, aPost } from '../../support/rows.ts';
import { sweep } from '../../support/steps.ts';
import * as wire from '../../support/wire.ts';

const UPSTREAM = 'http://upstream.test';

async function withMirror(
  work: (mirror: {
    path: string;
    hold(posts: Post[], comments?: Comment[]): Promise<void>;
    reads: ReturnType<typeof openReplicaReads>;
  }) => Promise<void>,
): Promise<void> {
  const folder = temporaryFolder('lists');
  const path = join(folder, 'mirror.db');
  placeNewMirror(path);
  const store = openMirrorStore({ path, upstream: UPSTREAM, holder: 'test' });
  const reads = openReplicaReads({ path, upstream: UPSTREAM });
  let at = 0;
  try {
    await work({
      path,
      reads,
      async hold(all, comments = []) {
        await sweep(store, 'posts', all, ++at, { acceptDeletes: true });
        await sweep(store, 'comments', comments, at, { acceptDeletes: true });
      },
    });
  } finally {
    await reads.close();
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

const START: ListPlace = { id: null, side: 'after' };

describe('the lists from the mirror', () => {
  it('are those of the upstream: posts to the byte, comments but for the order of keys in an undocumented status', async (t) => {
    const api = await openReplica(t, { posts: 40, pageSize: 50 });
    const results = async (url: string, path: string): Promise<string> => {
      const text = (await call({ url }, path)).body.toString();
      return `{${text.slice(text.indexOf('"results"'))}`;
    };
    const sent = await results(api.upstream, POSTS);
    assert.ok(sent.length > 10_000 && (await results(api.url, POSTS)) === sent);
    assert.deepEqual(
      JSON.parse(await results(api.url, COMMENTS)),
      JSON.parse(await results(api.upstream, COMMENTS)),
    );
  });

  it("return undocumented fields, nulls, and times in the upstream's spelling", async () => {
    await withMirror(async ({ hold, reads }) => {
      const creator = {
        ...wire.post.creator,
        email: null,
        name: null,
        registered: '2024-05-06 07:08:09+02:00',
        plan: { tier: 3 },
      };
      const sent = {
        ...wire.post,
        id: 7,
        created: '2024-05-06T07:08:09.123456Z',
        creator,
        board: { ...wire.post.board, secret: true },
        status: { ...wire.post.status, order: 1 },
        tags: ['a', 'b'],
      };
      const comment = {
        ...wire.comment,
        id: 9,
        status: { name: 'Done' },
        creator,
        post: { ...wire.comment.post, id: 7, pinned: null },
        created: '2024-05-06T07:08Z',
        votes: 1,
      };
      await hold([aPost(7, sent)], [aComment(9, comment)]);
      assert.deepEqual((await reads.page('posts', START, 10)).rows, [sent]);
      assert.deepEqual((await reads.page('comments', START, 10)).rows, [comment]);
    });
  });

  it('begin with the highest number there can be', async () => {
    await withMirror(async ({ hold, reads }) => {
      await hold([1, Number.MAX_SAFE_INTEGER].map((id) => aPost(id)));
      const { rows } = await reads.page('posts', START, 10);
      assert.deepEqual(
        rows.map(({ id }) => id),
        [Number.MAX_SAFE_INTEGER, 1],
      );
    });
  });

  it('return numbers of any length unchanged', async () => {
    await withMirror(async ({ hold, reads }) => {
      const long = '{"big":9007199254740993,"huge":1e400}';
      await hold([aPost(7, parseJson(long) as Record<string, unknown>)]);
      const [row] = (await reads.page('posts', START, 10)).rows;
      const { big, huge } = row as unknown as Record<string, unknown>;
      assert.equal(JSON.stringify({ big, huge }), long);
    });
  });

  it('show nothing that was deleted, and no link to a page that has nothing', async () => {
    await withMirror(async ({ hold, reads }) => {
      await hold([1, 2, 3, 4].map((id) => aPost(id)));
      await hold([2, 3].map((id) => aPost(id)));
      const page = await reads.page('posts', START, 2);
      assert.deepEqual(
        [page.rows.map((row) => row.id), page.hasMore, page.hasEarlier],
        [[3, 2], false, false],
      );
      const empty = await reads.page('posts', { id: 2, side: 'after' }, 2);
      assert.deepEqual(empty, { rows: [], hasMore: false, hasEarlier: false });
    });
  });

  it('show every remaining row once while rows are added and deleted between two pages', async () => {
    const ids = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 40 });
    const upheavals = fc.array(ids, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        upheavals,
        fc.integer({ min: 1, max: 7 }),
        fc.boolean(),
        async (worlds, size, back) => {
          await withMirror(async ({ hold, reads }) => {
            const seen: number[] = [];
            const stayed = new Set(worlds[0]);
            let place: ListPlace = back ? { id: -1, side: 'before' } : START;
            for (let turn = 0; ; turn++) {
              const world = worlds[turn];
              if (world) {
                await hold(world.map((id) => aPost(id)));
                for (const id of stayed) if (!world.includes(id)) stayed.delete(id);
              }
              const { rows } = await reads.page('posts', place, size);
              seen.push(...rows.map((row) => row.id));
              const edge = back ? rows[0] : rows.at(-1);
              if (!edge) break;
              place = { id: edge.id, side: back ? 'before' : 'after' };
            }
            assert.equal(new Set(seen).size, seen.length, 'none twice');
            for (const id of stayed) assert.ok(seen.includes(id), `${id} stayed and was not seen`);
          });
        },
      ),
      { numRuns: 25 },
    );
  });

  it('can be mirrored again by our own client: a copy of the copy equals the upstream', async (t) => {
    const api = await openReplica(t, { posts: 33, pageSize: 7 }, { isFresh: false });
    const folder = folderFor(t, 'second');
    const place = { path: join(folder, 'mirror.db'), upstream: api.url, holder: 'test' };
    const client = createClient({
      baseUrl: api.url,
      auth: { kind: 'query', parameter: 'token' },
      token: () => new Secret('x'),
    });
    const store = openMirrorStore(place);
    const { signal } = new AbortController();
    for (const resource of ['posts', 'comments'] as const)
      await syncOnce(
        { client, store, clock: systemClock, signal, ahead: 1, onPage: () => {} },
        { resource, mode: 'sweep', wait: true },
      );
    const reads = openReplicaReads(place);
    t.after(async () => {
      await reads.close();
      await store.close();
      await client.close();
    });
    assert.deepEqual((await reads.page('posts', START, 100)).rows.toReversed(), api.world.posts());
    assert.deepEqual((await reads.page('comments', START, 1000)).rows.toReversed(), api.world.comments());
    const found = await client.search('report');
    assert.ok(found.rows.length > 0 && found.rejects.length === 0);
  });

  it('refuse a page by its number and what they would ignore, in a sentence', async (t) => {
    const api = await openReplica(t, { posts: 9, pageSize: 4 }, { tokenParameter: 'api_key' });
    const refused = async (path: string) => {
      const reply = await call(api, path);
      assert.equal(reply.status, 400, path);
      return json<Problem>(reply);
    };
    const { errors } = await refused(`${POSTS}?page=2`);
    assert.match(errors?.page?.[0] ?? '', /no numbered pages: .* follow the address in next/);
    for (const page of ['0', '', '01', 'x']) await refused(`${COMMENTS}?page=${page}`);
    for (const place of ['page=2', 'page=abc', 'cursor=zzz']) await refused(`${POSTS}?search=the&${place}`);
    const { detail } = await refused(`${POSTS}?board=bugs`);
    assert.equal(detail, 'This list takes search and cursor: "board" would change nothing.');
    assert.match((await refused(`${COMMENTS}?search=x`)).detail, /^This list takes cursor: "search"/);
    for (const query of ['page=1', 'token=x', 'api_key=x', 'search=the&page=1'])
      assert.equal((await call(api, `${POSTS}?${query}`)).status, 200, query);
  });

  it('ask for the HTTP_TOKEN where there is one', async (t) => {
    const api = await openReplica(t, { posts: 3 }, { token: 'canary' });
    for (const path of [POSTS, COMMENTS, `${POSTS}?search=x`, '/api/v1/openapi.json', '/api/v1/outbox/1'])
      assert.equal((await call(api, path)).status, 401, path);
    assert.equal((await posts(api, POSTS, { token: 'canary' })).results.length, 3);
    await assert.rejects(walk(api), 'a client without the token sees no row');
  });
});
