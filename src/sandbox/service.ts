import { type Resource, SEARCH_LIMIT, SEARCH_PARAMETER } from '../contract/endpoints.ts';
import type { Caller } from './access.ts';
import { type Answer, problem } from './answer.ts';
import { keyColumns, type Order, slice } from './listing.ts';
import {
  isCursor,
  nextPosition,
  PAGING_PARAMETERS,
  type PagingStyle,
  type Position,
  previousPosition,
  readPosition,
  writeLink,
} from './paging.ts';
import { searchPosts } from './search.ts';
import type { World } from './world.ts';

export interface ListSettings {
  paging: PagingStyle;
  order: Order;
  pageSize: number;
  authParam: string;
  echoToken: boolean;
  searchShape: 'envelope' | 'array';
}

export interface Envelope {
  next?: unknown;
  previous: unknown;
  results: unknown[] | null;
}

/** A page about to be answered, with what it takes to write another `next` on it. */
export interface Page {
  envelope: Envelope;
  position: Position;
  link(to: Position): string | number;
}

export type PageResult = { ok: true; page: Page } | { ok: false; answer: Answer };

export interface ListRequest {
  resource: Resource;
  caller: Caller;
  origin: string;
  path: string;
  query: URLSearchParams;
}

export function listPage(world: World, settings: ListSettings, request: ListRequest): PageResult {
  const list = { resource: request.resource, order: settings.order };
  const { paging, pageSize } = settings;
  const asked = readPosition(paging, request.query, pageSize, keyColumns(list).length);
  if (!asked.ok) {
    const errors = { [asked.parameter]: ['Not a valid position in the list.'] };
    return { ok: false, answer: problem(400, 'There is no such page.', errors) };
  }
  const { position } = asked;
  const found = slice(world.db, list, world.scope(request.caller.boards), position.start, position.limit);
  const link = linker(settings, request);
  const next = nextPosition(position, found);
  const previous = previousPosition(position, found);
  const envelope = { next: next && link(next), previous: previous && link(previous), results: found.rows };
  return { ok: true, page: { envelope, position, link } };
}

/** One flat list, whatever its length: there is no other page. */
export function searchPage(world: World, settings: ListSettings, request: ListRequest): Page {
  const text = request.query.get(SEARCH_PARAMETER) ?? '';
  const results = searchPosts(world.db, text, world.scope(request.caller.boards));
  return {
    envelope: { next: null, previous: null, results },
    position: {
      start: isCursor(settings.paging) ? { key: null, back: false } : { offset: 0 },
      limit: SEARCH_LIMIT,
    },
    link: linker(settings, request),
  };
}

/** Links keep what else the client asked for, but the token only where a test wants a service that careless. */
function linker({ paging, authParam, echoToken }: ListSettings, { origin, path, query }: ListRequest) {
  const keep = new URLSearchParams(query);
  for (const name of PAGING_PARAMETERS) keep.delete(name);
  if (!echoToken) keep.delete(authParam);
  return (to: Position): string | number => writeLink(paging, to, { origin, path, keep });
}
