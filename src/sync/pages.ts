import type { Client, Page } from '../api/client.ts';
import type { Comment, Post } from '../contract/decode.ts';
import type { Resource } from '../contract/endpoints.ts';
import type { MirrorStore, PageResult, PageRows, Pass } from '../store/mirror/seam.ts';

export type AnyPage = Page<Post> | Page<Comment>;

export function walk(
  client: Client,
  resource: Resource,
  options: Parameters<Client['posts']>[0],
): AsyncGenerator<AnyPage, void, undefined> {
  return resource === 'posts' ? client.posts(options) : client.comments(options);
}

/** The page's rows with the name of their list, as the store wants them. */
export function rowsOf(resource: Resource, { rows }: { rows: (Post | Comment)[] }): PageRows {
  return { resource, rows } as PageRows;
}

/** Writes what a page shows and nothing more: no checkpoint, and nothing concluded from what it does not show. */
export async function writeShown(
  store: MirrorStore,
  pass: Pass,
  page: Page<Post | Comment>,
): Promise<PageResult> {
  return await store.applyPage({
    pass,
    page: rowsOf(pass.resource, page),
    rejects: page.rejects,
    observedAt: page.receivedAt,
    absence: null,
    keepIds: false,
    state: null,
  });
}
