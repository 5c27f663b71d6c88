import type { Client, Page } from '../../src/api/client.ts';
import { walkPages } from '../../src/api/walk.ts';
import { AppError } from '../../src/base/errors.ts';
import type { Post } from '../../src/contract/decode.ts';
import { post } from './rows.ts';

/** The upstream's list as the API's own document leaves it open: no order, page size or shape of `next` is promised. */
export interface Manners {
  posts: number;
  pageSize: number;
  paging: 'page' | 'offset' | 'cursor';
  /**
   * `turns`: each sweep meets another server, which may sort the list in another way. `dates` and `ties`: by creation time or votes
   * without a second key, so that the order of equal rows depends on the offset, as in PostgreSQL.
   */
  order: 'newest' | 'oldest' | 'activity' | 'votes' | 'random' | 'turns' | 'dates' | 'ties';
  /** Rows of the first import that share a creation time. */
  sameDate: number;
  /** Changes before each request: half of them new posts, half deletions, unless `bumps` says otherwise. */
  rate: number;
  /** The share of changes that are votes or comments on a post. */
  bumps: number;
  /** How likely a page leaves out one living row in silence. */
  omission: number;
  /** How likely each living row is left out of each read. */
  leak: number;
  /** Every page but the last loses its last row. */
  losesLast: boolean;
  /** How likely a sweep reads a replica that is as old as the sweep before. */
  lag: number;
  /** Troubles of a whole sweep may come twice in a row, which the promise leaves out. */
  repeats: boolean;
  /** How likely a sweep meets a list that ends up to this many rows early. */
  truncation: { chance: number; rows: number };
  /** How likely a sweep meets one page that is empty and ends the list. */
  emptyPage: number;
}

interface Row {
  id: number;
  votes: number;
  /** When somebody last wrote about it, in changes since the beginning. */
  active: number;
}

export interface SimulatedList {
  client: Client;
  requests: number;
  /** Answers after which a page is asked for again, or that end the list early. */
  refusals: number;
  /** Called between two sweeps: what goes wrong during the next one. */
  newSweep(): void;
  /** From now on nothing changes and nothing goes wrong, or that is over. */
  quiet: boolean;
  alive(id: number): boolean;
  ids(): number[];
  delete(id: number): void;
  /** Every deletion, in order. */
  readonly deleted: { id: number; atRequest: number }[];
}

export function simulatedList(manners: Manners, random: () => number): SimulatedList {
  const { pageSize, order, paging } = manners;
  let rows: Row[] = [];
  let nextId = 1;
  let changes = 0;
  let snapshot: Row[] = [];
  let replica: Row[] | null = null;
  let cut = 0;
  let emptyAt = -1;
  let wasBad = false;
  let turn: keyof typeof COMPARE = 'newest';
  const deleted: SimulatedList['deleted'] = [];
  const pick = (n: number): number => Math.floor(random() * n);
  const add = (): void => void rows.push({ id: nextId++, votes: pick(4), active: ++changes });
  const remove = (id: number): void => {
    rows = rows.filter((row) => row.id !== id);
    deleted.push({ id, atRequest: list.requests });
  };
  for (let n = 0; n < manners.posts; n++) add();

  const change = (): void => {
    const victim = rows[pick(rows.length)];
    if (random() < manners.bumps && victim)
      Object.assign(victim, { votes: victim.votes + 1, active: ++changes });
    else if (random() < 0.5) add();
    else if (victim) remove(victim.id);
  };
  const dateOf = ({ id }: Row): number => (id <= manners.posts ? Math.floor(id / manners.sameDate) : id);
  const sorted = (cursor: string): Row[] => {
    const shown = [...(replica ?? rows)];
    const tie = (a: Row, b: Row): number => hash(a.id, cursor) - hash(b.id, cursor);
    if (order === 'random') for (let i = shown.length - 1; i > 0; i--) swap(shown, i, pick(i + 1));
    else if (order === 'dates') shown.sort((a, b) => dateOf(b) - dateOf(a) || tie(a, b));
    else if (order === 'ties') shown.sort((a, b) => b.votes - a.votes || tie(a, b));
    else shown.sort(COMPARE[order === 'turns' ? turn : order]);
    return cut > 0 ? shown.slice(0, Math.max(1, shown.length - cut)) : shown;
  };

  const read = (cursor: string): Page<Post> => {
    list.requests++;
    if (!list.quiet) for (let due = manners.rate; due > 0; due--) if (random() < due) change();
    const all = sorted(cursor);
    const from = startOf(all, cursor, { paging, pageSize });
    if (from > all.length && from > 0) {
      list.refusals++;
      throw new AppError('refused', 'Invalid page.');
    }
    const shown = all.slice(from, from + pageSize);
    const isEnd = from + pageSize >= all.length;
    const next = isEnd ? null : cursorAfter(shown.at(-1), from + pageSize, { paging, pageSize });
    if (emptyAt >= 0 && emptyAt-- === 0) {
      list.refusals++;
      return pageOf([], cursor, null);
    }
    if (list.quiet) return pageOf(shown, cursor, next);
    if (random() < manners.omission) shown.splice(pick(shown.length), 1);
    if (manners.losesLast && !isEnd) shown.pop();
    const left = manners.leak > 0 ? shown.filter(() => random() >= manners.leak) : shown;
    if (left.length === 0) list.refusals++;
    return pageOf(left, cursor, next);
  };

  const list: SimulatedList = {
    client: clientOf(read),
    requests: 0,
    refusals: 0,
    quiet: false,
    deleted,
    newSweep() {
      [replica, cut, emptyAt] = [null, 0, -1];
      if (order === 'turns') turn = TURNS[pick(TURNS.length)] ?? turn;
      // Troubles of a whole sweep do not come twice in a row: that is what the promise leaves out.
      const mayBeBad = (manners.repeats || !wasBad) && !list.quiet;
      if (mayBeBad && random() < manners.lag) replica = snapshot;
      else if (mayBeBad && random() < manners.truncation.chance) cut = 1 + pick(manners.truncation.rows);
      else if (mayBeBad && random() < manners.emptyPage) emptyAt = 1 + pick(rows.length / pageSize);
      wasBad = replica !== null || cut > 0;
      snapshot = rows.map((row) => ({ ...row }));
    },
    alive: (id) => rows.some((row) => row.id === id),
    ids: () => rows.map(({ id }) => id),
    delete: remove,
  };
  return list;
}

const COMPARE = {
  newest: (a: Row, b: Row) => b.id - a.id,
  oldest: (a: Row, b: Row) => a.id - b.id,
  activity: (a: Row, b: Row) => b.active - a.active,
  votes: (a: Row, b: Row) => b.votes - a.votes || b.id - a.id,
};

const TURNS = Object.keys(COMPARE) as (keyof typeof COMPARE)[];

function swap(rows: Row[], i: number, j: number): void {
  [rows[i], rows[j]] = [rows[j] as Row, rows[i] as Row];
}

function hash(id: number, cursor: string): number {
  let mixed = Math.imul(id, 0x9e3779b1);
  for (const letter of cursor) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x85ebca77);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

type Paging = Pick<Manners, 'paging' | 'pageSize'>;

/** A cursor names the row it comes after: where that row has moved or gone, the list goes on where it would stand. */
function startOf(all: readonly Row[], cursor: string, { paging, pageSize }: Paging): number {
  if (cursor === '') return 0;
  const value = Number(cursor.slice(cursor.indexOf('=') + 1));
  if (paging === 'offset') return value;
  if (paging === 'page') return (value - 1) * pageSize;
  const at = all.findIndex(({ id }) => id === value);
  if (at >= 0) return at + 1;
  const isRising = (all.at(-1)?.id ?? 0) > (all[0]?.id ?? 0);
  const behind = all.findIndex(({ id }) => (isRising ? id > value : id < value));
  return behind < 0 ? all.length : behind;
}

function cursorAfter(last: Row | undefined, offset: number, { paging, pageSize }: Paging): string {
  if (paging === 'offset') return `offset=${offset}`;
  return paging === 'page' ? `page=${offset / pageSize + 1}` : `after=${last?.id}`;
}

function pageOf(rows: readonly Row[], cursor: string, next: string | null): Page<Post> {
  const receivedAt = Date.parse('2026-01-01T00:00:00Z');
  const posts = rows.map(({ id, votes }) => post(id, { votes_count: votes }));
  return {
    rows: posts,
    rejects: [],
    number: 1,
    cursor,
    next,
    serverTime: null,
    receivedAt,
    bytes: 0,
  };
}

function clientOf(read: (cursor: string) => Page<Post>): Client {
  const arrive = async (cursor: string) => {
    const { rows, rejects, ...page } = read(cursor);
    return { ...page, decode: () => ({ rows, rejects }) };
  };
  const client: Pick<Client, 'posts' | 'page'> = {
    posts: (options = {}) =>
      walkPages(arrive, options, (failure) => new AppError('protocol', failure.message)),
    page: (async (_: string, cursor: string) => read(cursor)) as unknown as Client['page'],
  };
  return client as Client;
}
