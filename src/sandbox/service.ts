import { type Resource, SEARCH_LIMIT, SEARCH_PARAMETER } from '../contract/endpoints.ts';
import type { Caller } from './access.ts';
import { type Answer, problem } from './answer.ts';
import { type Behaviour, shown } from './behaviour.ts';
import { type Db, openCopy } from './database.ts';
import { keyColumns, type List, type Scope, searchPosts, slice } from './listing.ts';
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
import type { World } from './world.ts';

export interface ListSettings {
  paging: PagingStyle;
  pageSize: number;
  authParam: string;
  echoToken: boolean;
  searchShape: 'envelope' | 'array';
}

interface Envelope {
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

/** What lists are read from: the world, or a copy of it that is behind. */
export interface Source {
  db: Db;
  behaviour: Behaviour;
  draws: Random;
  scope(boards: readonly number[] | null): Scope;
}

/** A second database server of the service, which some reads are served from and which is behind. */
export class Replica {
  readonly #world: World;
  #copy: Db | null = null;
  #takenAt = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Takes the world over as it is now. */
  catchUp(): void {
    this.#world.scope(null);
    const copy = openCopy(this.#world.db.serialize());
    this.close();
    this.#copy = copy;
    this.#takenAt = this.#world.clock.now();
  }

  /** Behind by up to `ms`; without it the replica stays where it is. */
  source(ms = Number.POSITIVE_INFINITY): Source {
    if (this.#copy === null || this.#world.clock.now() - this.#takenAt >= ms) this.catchUp();
    const { behaviour, draws } = this.#world;
    const db = this.#copy ?? this.#world.db;
    return { db, behaviour, draws, scope: (boards) => ({ boards, hidden: true }) };
  }

  close(): void {
    this.#copy?.close();
    this.#copy = null;
  }
}

export function listPage(source: Source, settings: ListSettings, request: ListRequest): PageResult {
  const { db, behaviour, draws } = source;
  const { order } = behaviour;
  const list: List = {
    resource: request.resource,
    order,
    mix: order === 'random' ? 1 + draws.int(2 ** 30) : 1,
  };
  const { paging, pageSize } = settings;
  const asked = readPosition(paging, request.query, pageSize, keyColumns(list).length);
  if (!asked.ok) {
    const errors = { [asked.parameter]: ['Not a valid position in the list.'] };
    return { ok: false, answer: problem(400, 'There is no such page.', errors) };
  }
  const { position } = asked;
  const found = slice(db, list, source.scope(request.caller.boards), position.start, position.limit);
  const link = linker(settings, request);
  const next = nextPosition(position, found);
  const previous = previousPosition(position, found);
  const results = found.rows.map((row) => shown(row, list.resource, behaviour));
  const envelope = { next: next && link(next), previous: previous && link(previous), results };
  return { ok: true, page: { envelope, position, link } };
}

/** One flat list, whatever its length: there is no other page. */
export function searchPage(source: Source, settings: ListSettings, request: ListRequest): Page {
  const text = request.query.get(SEARCH_PARAMETER) ?? '';
  const found = searchPosts(source.db, text, source.scope(request.caller.boards));
  const results = found.map((row) => shown(row, 'posts', source.behaviour));
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
