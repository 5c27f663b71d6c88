import { type Resource, SEARCH_LIMIT, SEARCH_PARAMETER } from '../contract/endpoints.ts';
import { problemAnswer, type SandboxAnswer } from './answer.ts';
import type { SandboxDb } from './database.ts';
import { keyColumns, type ListOrder, type Order, readSlice, searchPosts } from './listing.ts';
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
import type { Random } from './random.ts';

export interface ListSettings {
  paging: PagingStyle;
  pageSize: number;
  authParam: string;
}

interface Envelope {
  next?: unknown;
  previous: unknown;
  results: unknown[] | null;
}

/** A page about to be answered, with what it takes to write another `next` on it. */
export interface ListPage {
  envelope: Envelope;
  position: Position;
  link(to: Position): string | number;
}

export type ListResult = { ok: true; page: ListPage } | { ok: false; answer: SandboxAnswer };

export interface SandboxListRequest {
  resource: Resource;
  origin: string;
  path: string;
  query: URLSearchParams;
}

/** What lists are read from. */
export interface ListSource {
  db: SandboxDb;
  order: Order;
  draws: Random;
  /** Called before each read. */
  settle(): void;
}

export function listPage(
  source: ListSource,
  settings: ListSettings,
  request: SandboxListRequest,
): ListResult {
  const { db, order, draws } = source;
  const list: ListOrder = {
    resource: request.resource,
    order,
    mix: order === 'random' ? 1 + draws.int(2 ** 30) : 1,
  };
  const { paging, pageSize } = settings;
  const asked = readPosition(paging, request.query, pageSize, keyColumns(list).length);
  if (!asked.ok) {
    const errors = { [asked.parameter]: ['Not a valid position in the list.'] };
    return { ok: false, answer: problemAnswer(400, 'There is no such page.', errors) };
  }
  const { position } = asked;
  source.settle();
  const found = readSlice(db, list, position.start, position.limit);
  const link = linker(settings, request);
  const next = nextPosition(position, found);
  const previous = previousPosition(position, found);
  const envelope = {
    next: next && link(next),
    previous: previous && link(previous),
    results: found.rows,
  };
  return { ok: true, page: { envelope, position, link } };
}

/** One flat list, whatever its length: there is no other page. */
export function searchPage(
  source: ListSource,
  settings: ListSettings,
  request: SandboxListRequest,
): ListPage {
  const text = request.query.get(SEARCH_PARAMETER) ?? '';
  source.settle();
  const results = searchPosts(source.db, text);
  return {
    envelope: { next: null, previous: null, results },
    position: {
      start: isCursor(settings.paging) ? { key: null, back: false } : { offset: 0 },
      limit: SEARCH_LIMIT,
    },
    link: linker(settings, request),
  };
}

/** Links keep what else the client asked for, but never the token. */
function linker({ paging, authParam }: ListSettings, { origin, path, query }: SandboxListRequest) {
  const keep = new URLSearchParams(query);
  for (const name of PAGING_PARAMETERS) keep.delete(name);
  keep.delete(authParam);
  return (to: Position): string | number => writeLink(paging, to, { origin, path, keep });
}
