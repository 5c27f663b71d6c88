import { setImmediate } from 'node:timers/promises';
import type { Client, Page } from '../../api/client.ts';
import type { Clock } from '../../base/clock.ts';
import type { Comment, Post } from '../../contract/decode.ts';
import type { Resource } from '../../contract/endpoints.ts';
import type { PageResult, PageRows, PageWrite, Pass } from '../decide/types.ts';
import type { MirrorStore } from '../store/store.ts';

/** What a pass works with. */
export interface PassContext {
  client: Client;
  store: MirrorStore;
  clock: Clock;
  signal: AbortSignal;
  /** Pages under way while one is written. */
  ahead: number;
  onPage: (pass: Pass) => void;
  /** Another process has the list, and we wait for it: who, in words. */
  onWait?: (holder: string) => void;
}

export type AnyPage = Page<Post> | Page<Comment>;

export function walk(
  client: Client,
  resource: Resource,
  options: Parameters<Client['posts']>[0],
): AsyncGenerator<AnyPage, void, undefined> {
  return resource === 'posts' ? client.posts(options) : client.comments(options);
}

/** Writes a page. Unless `rest` says otherwise, what it does not show means nothing, and there is nothing to resume. */
export function writePage(
  { store, clock }: Pick<PassContext, 'store' | 'clock'>,
  pass: Pass,
  page: Page<Post | Comment>,
  rest: Partial<Pick<PageWrite, 'shown' | 'state'>> = {},
): PageResult {
  return store.applyPage({
    pass,
    page: { resource: pass.resource, rows: page.rows } as PageRows,
    rejects: page.rejects,
    ...(page.repeated && { repeated: page.repeated }),
    observedAt: page.receivedAt,
    ...(page.ageMs !== undefined && { ageMs: page.ageMs }),
    now: clock.now(),
    shown: null,
    state: null,
    ...rest,
  });
}

/** Every row into the indexes, in steps, with a turn for everything else in between. */
export async function indexAll(
  { store, signal }: Pick<PassContext, 'store' | 'signal'>,
  swept: Resource | null,
): Promise<void> {
  while (store.index(swept)) {
    signal.throwIfAborted();
    await setImmediate();
  }
}
