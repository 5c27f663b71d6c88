import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Comment, Post } from '../../src/contract/decode.ts';
import { type MirrorStore, openMirrorStore } from '../../src/mirror/store/store.ts';
import { openSearchReads, type SearchReads } from '../../src/search/search.ts';
import { folderFor } from '../support/folder.ts';
import { placeNewMirror } from '../support/mirror.ts';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';

export const UPSTREAM = 'http://upstream.test';

export interface Shelf {
  path: string;
  store: MirrorStore;
  search: SearchReads;
  /** The ids that a text finds, best first. */
  ids(text: string, options?: Parameters<SearchReads['find']>[1]): Promise<number[]>;
}

export interface ShelfOptions {
  comments?: Comment[];
  isIndexed?: boolean;
}

/** A mirror with these posts, indexed unless the test wants otherwise. */
export async function shelfOf(
  t: TestContext,
  posts: Post[],
  { comments = [], isIndexed = true }: ShelfOptions = {},
): Promise<Shelf> {
  const path = join(folderFor(t, 'search'), 'mirror.db');
  placeNewMirror(path);
  const store = openMirrorStore({ path, upstream: UPSTREAM, holder: 'test' });
  await sweep(store, 'posts', posts, 1);
  if (comments.length > 0) await sweep(store, 'comments', comments, 1);
  if (isIndexed) while (await store.index());
  const search = openSearchReads({ path, upstream: UPSTREAM });
  t.after(async () => {
    await search.close();
    await store.close();
  });
  const ids: Shelf['ids'] = async (text, options) =>
    (await search.find(text, options)).hits.map((hit) => hit.id);
  return { path, store, search, ids };
}

export const post = (id: number, title: string, content = 'Nothing to add.'): Post =>
  aPost(id, { title, content });
