import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { it, type TestContext } from 'node:test';
import { erasePerson, liftSuppression } from '../../src/erasure/erase.ts';
import { openErasureStore } from '../../src/erasure/store/store.ts';
import { exportMirror } from '../../src/export/export.ts';
import { openExportSource } from '../../src/export/store/export.ts';
import { openMirrorStore } from '../../src/mirror/store/store.ts';
import { fakeClock } from '../support/clock.ts';
import { aComment, aPost, iso, minute } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';
import { openMirror, request, UPSTREAM } from './mirror.ts';

const EMAIL = 'zoe@planted.example';
const zoe = { ...wire.user, id: 50, email: EMAIL, name: 'Zoe', alias: null };
const HERS = { creator: zoe, content: 'Written by Zoe' };
const NAMING = { content: `Ask ${EMAIL}` };
const ROWS = [HERS, NAMING];

type Line = Record<string, unknown>;

/** Rows of a person and rows that name the person, with one version each; a copy of all of it, and then the erasure in minute 10. */
async function afterErasure(t: TestContext) {
  const { path } = await openMirror(t);
  const place = { path, upstream: UPSTREAM, holder: 'the test' };
  const [store, erasure] = [openMirrorStore(place), openErasureStore(place)];
  t.after(() => Promise.all([erasure.close(), store.close()]));
  const read = async (since: string | null): Promise<Map<string, Line>> => {
    const lines = new Map<string, Line>();
    for (const what of ['post_history', 'comment_history'] as const)
      for (const line of await exported(place, what, since))
        lines.set(`${what} ${line.comment_id ?? line.post_id} ${line.observed_at}`, line);
    return lines;
  };
  /** What the upstream shows: these rows, and one that stays as it is. */
  const show = (at: number, more: object = {}, rows: object[] = ROWS): void => {
    const { likes_count, ...post } = { likes_count: 0, ...more };
    sweep(store, 'posts', [...rows.map((row, i) => aPost(i + 1, { ...row, ...post })), aPost(9)], at);
    sweep(
      store,
      'comments',
      [...rows.map((row, i) => aComment(i + 1, { ...row, likes_count })), aComment(9)],
      at,
    );
  };
  show(0);
  const copy = await read(null);
  const { signal } = new AbortController();
  await erasePerson(
    { store: erasure, clock: fakeClock(minute(10)), signal, compact: async () => true },
    EMAIL,
  );
  return { erasure, show, copy, read };
}

async function exported(
  place: { path: string; upstream: string },
  what: 'post_history' | 'comment_history',
  since: string | null,
): Promise<Line[]> {
  const source = openExportSource(place);
  const stream = new PassThrough();
  const all = text(stream);
  await exportMirror(source, request({ stream }, { what: [what], since })).finally(() => source.close());
  stream.end();
  const lines = (await all).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
}

type Scene = Awaited<ReturnType<typeof afterErasure>>;

const LATER: Record<string, (scene: Scene) => void> = {
  'is voted for': ({ show }) => show(20, { votes_count: 99, likes_count: 9 }),
  'gets another url and is voted for': ({ show }) => {
    show(20, { url: '/moved' });
    show(30, { url: '/moved', votes_count: 99, likes_count: 9 });
  },
  'is deleted': ({ show }) => show(20, {}, []),
  'is filled again, because the person may come back': ({ erasure, show }) => {
    assert.ok(liftSuppression(erasure, EMAIL));
    show(20);
  },
};

for (const [name, change] of Object.entries(LATER))
  it(`an increment from before an erasure has the erased words of a row that then ${name}`, async (t) => {
    const scene = await afterErasure(t);
    const { copy, read } = scene;
    change(scene);
    for (const [key, line] of await read(iso(9))) copy.set(key, line);
    assert.deepEqual(copy, await read(null));
    assert.equal(JSON.stringify(copy.get(`post_history 1 ${iso(0)}`)).includes('Zoe'), false);
  });
