import { iso } from '../base/clock.ts';
import type { Packed } from '../mirror/index/columns.ts';
import { firstBy, numbered, rowsFrom, rowsIn, rowsUpTo, rowsWhere, setOf } from '../mirror/index/select.ts';
import type { KnownCustomer } from '../segments/people.ts';
import { openOnly, postFactsOf } from './lists.ts';
import type { Row } from './report.ts';
import type { ReportReader } from './store.ts';
import { bestOf, flagged, placesOf, selected, type TallyQuestion } from './tally.ts';

/** Reports about those who wrote. */

const POSTS = ['id', 'created', 'board', 'status', 'votes', 'creator', 'gone'] as const;
const COMMENTS = ['post', 'created', 'creator', 'gone'] as const;
type Posts = Packed<(typeof POSTS)[number]>;
type Comments = Packed<(typeof COMMENTS)[number]>;

const PEOPLE = 'SELECT id, name, email FROM users WHERE id IN (SELECT value FROM json_each($ids))';

/** Whoever is not of the team and wrote something in the period. */
export async function customers(reader: ReportReader, asked: TallyQuestion): Promise<Row[]> {
  const { posts, comments, team } = await reader.columns({ posts: POSTS, comments: COMMENTS });
  const [people, isTeam] = [numbered(posts.creator, comments.creator), setOf(team)];
  const most = posts.rows + comments.rows;
  const [asks, says, lasts] = [
    new Int32Array(most),
    new Int32Array(most),
    new Float64Array(most).fill(Number.NEGATIVE_INFINITY),
  ];
  const wrote = (counts: Int32Array, creator: number, at: number): void => {
    if (isTeam(creator)) return;
    const place = people.of(creator);
    counts[place] = (counts[place] ?? 0) + 1;
    lasts[place] = Math.max(lasts[place] ?? at, at);
  };
  const count = (counts: Int32Array, { creator, created }: Posts | Comments, rows: Int32Array): void => {
    for (let n = 0; n < rows.length; n++) {
      const i = rows[n] ?? 0;
      wrote(counts, creator[i] ?? 0, created[i] ?? 0);
    }
  };
  count(asks, posts, selected(posts, asked));
  count(says, comments, said(posts, comments, asked));
  const total = (i: number): number => (asks[i] ?? 0) + (says[i] ?? 0);
  const { ids } = people;
  const isMeant = (i: number): boolean => asked.only === null || asked.only.has(ids[i] ?? 0);
  const ties = (a: number, b: number): number =>
    (asks[b] ?? 0) - (asks[a] ?? 0) || (ids[a] ?? 0) - (ids[b] ?? 0);
  const best = firstBy(rowsUpTo(ids.length), asked.limit, { weight: total, ties }, isMeant);
  const chosen = best.map((i) => ids[i] ?? 0);
  const known = await peopleOf(reader, chosen);
  return best.map((i) => ({
    ...known(ids[i] ?? 0),
    posts: asks[i] ?? 0,
    comments: says[i] ?? 0,
    wrote: total(i),
    last_active: iso(lasts[i] ?? 0),
  }));
}

/** Customers by the votes on what they asked for, with the post that has the most of them. */
export async function requests(reader: ReportReader, asked: TallyQuestion): Promise<Row[]> {
  const { posts, team } = await reader.columns({ posts: POSTS });
  const [rows, isTeam, isDelivered] = [selected(posts, asked), setOf(team), setOf(asked.delivered)];
  const people = numbered(posts.creator);
  const sums: { id: number; posts: number; votes: number; delivered: number; top: number }[] = [];
  for (let n = 0; n < rows.length; n++) {
    const i = rows[n] ?? 0;
    const creator = posts.creator[i] ?? 0;
    if (isTeam(creator)) continue;
    const place = people.of(creator);
    const sum = sums[place] ?? { id: creator, posts: 0, votes: 0, delivered: 0, top: i };
    sums[place] = sum;
    const votes = posts.votes[i] ?? 0;
    sum.posts++;
    sum.votes += votes;
    if (isDelivered(posts.status[i] ?? 0)) sum.delivered++;
    const more = votes - (posts.votes[sum.top] ?? 0);
    if (more > 0 || (more === 0 && (posts.id[i] ?? 0) < (posts.id[sum.top] ?? 0))) sum.top = i;
  }
  const best = bestOf(sums, asked.limit, (a, b) => b.votes - a.votes || a.id - b.id);
  const [writers, tops] = [best.map(({ id }) => id), best.map(({ top }) => posts.id[top] ?? 0)];
  const [known, titles] = [await peopleOf(reader, writers), await postFactsOf(reader, tops)];
  return best.map(({ id, top, ...counts }) => {
    const post = posts.id[top] ?? 0;
    return { ...known(id), ...counts, top_post: post, top_title: titles.get(post)?.title ?? null };
  });
}

/**
 * The rows of the customers file, grouped by one of its columns, with what these people wrote. One person can stand in the mirror more
 * than once under the same e-mail; each row of the file still counts once.
 */
export async function segments(reader: ReportReader, asked: TallyQuestion): Promise<Row[]> {
  const { posts, comments } = await reader.columns({ posts: POSTS, comments: COMMENTS });
  const wrote = new Map(asked.customers.flatMap(({ users }) => users.map((id) => [id, nothing()])));
  const isListed = setOf([...wrote.keys()]);
  for (const i of selected(posts, asked, rowsIn(posts.creator, isListed))) {
    const person = wrote.get(posts.creator[i] ?? 0);
    if (!person) continue;
    person.posts++;
    person.votes += posts.votes[i] ?? 0;
  }
  for (const i of said(posts, comments, asked, rowsIn(comments.creator, isListed))) {
    const person = wrote.get(comments.creator[i] ?? 0);
    if (person) person.comments++;
  }
  return [...Map.groupBy(asked.customers, ({ group }) => group)]
    .map(([segment, listed]) => {
      const each = listed.map(({ users }) => users.map((id) => wrote.get(id) ?? nothing()));
      const total = (what: keyof Wrote): number => each.flat().reduce((sum, person) => sum + person[what], 0);
      return {
        segment,
        customers: listed.length,
        found: each.filter((people) => people.length > 0).length,
        heard: each.filter((people) => people.some((person) => person.posts + person.comments > 0)).length,
        amount: amountOf(listed.map(({ amount }) => amount)),
        posts: total('posts'),
        comments: total('comments'),
        votes: total('votes'),
      };
    })
    .sort(
      (a, b) =>
        byAmount(a.amount, b.amount) ||
        b.posts + b.comments - a.posts - a.comments ||
        b.votes - a.votes ||
        byText(a.segment, b.segment),
    )
    .slice(0, asked.limit);
}

interface Wrote {
  posts: number;
  comments: number;
  votes: number;
}

function nothing(): Wrote {
  return { posts: 0, comments: 0, votes: 0 };
}

/** Posts by the customers of the file who made them or commented on them, each customer once a post. */
export async function demand(reader: ReportReader, asked: TallyQuestion): Promise<Row[]> {
  const { posts, comments } = await reader.columns({ posts: POSTS, comments: COMMENTS });
  const lines = new Map<number, number[]>();
  for (const [line, { users }] of asked.customers.entries())
    for (const user of users) lines.set(user, [...(lines.get(user) ?? []), line]);
  const isListed = setOf([...lines.keys()]);
  /** A post and a customer in one number, so that sorting them takes little time. */
  const voices: number[] = [];
  const customers = asked.customers.length;
  const speak = (place: number, user: number): void => {
    for (const line of lines.get(user) ?? []) voices.push(place * customers + line);
  };
  for (const i of openOnly(posts, asked, rowsIn(posts.creator, isListed))) speak(i, posts.creator[i] ?? 0);
  const placeOf = placesOf(posts.id);
  const spoken = said(posts, comments, { ...asked, board: null }, rowsIn(comments.creator, isListed));
  const places = spoken.map((i) => placeOf(comments.post[i] ?? 0));
  const always = { since: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
  const isOpen = flagged(posts.rows, openOnly(posts, { ...asked, ...always }, places));
  for (let n = 0; n < places.length; n++)
    if (isOpen(places[n] ?? 0)) speak(places[n] ?? 0, comments.creator[spoken[n] ?? 0] ?? 0);
  const asks = byPost(Float64Array.from(voices).sort(), asked.customers);
  const idAt = (at: number): number => posts.id[asks.places[at] ?? 0] ?? 0;
  const best = firstBy(rowsUpTo(asks.places.length), asked.limit, {
    weight: (at) => asks.amounts[at] ?? 0,
    ties: (a, b) => (asks.counts[b] ?? 0) - (asks.counts[a] ?? 0) || idAt(a) - idAt(b),
  });
  const titles = await postFactsOf(reader, best.map(idAt));
  return best.map((at) => {
    const [post, who] = [idAt(at), asks.heard(at).flatMap((line) => asked.customers[line] ?? [])];
    const parts = [...Map.groupBy(who, ({ group }) => group ?? '(none)')].map(([part, own]) => ({
      part,
      n: own.length,
    }));
    parts.sort((a, b) => b.n - a.n || byText(a.part, b.part));
    const segments = parts.map(({ part, n }) => `${n} ${part}`).join(', ');
    const amount = amountOf(who.map((customer) => customer.amount));
    return { ...titles.get(post), post, customers: who.length, amount, segments };
  });
}

/** Voices in order, by the place of their post: what its customers are worth, below every amount where none is known, and who they are. */
function byPost(voices: Float64Array, customers: readonly KnownCustomer[]) {
  const [places, starts] = [[] as number[], [] as number[]];
  const [amounts, counts] = [[] as number[], [] as number[]];
  for (let n = 0; n < voices.length; n++) {
    const voice = voices[n] ?? 0;
    if (voice === voices[n - 1]) continue;
    const place = Math.floor(voice / customers.length);
    if (place !== places.at(-1)) {
      places.push(place);
      amounts.push(Number.NEGATIVE_INFINITY);
      counts.push(0);
      starts.push(n);
    }
    const [at, amount] = [places.length - 1, customers[voice % customers.length]?.amount ?? null];
    const sum = amounts[at] ?? 0;
    counts[at] = (counts[at] ?? 0) + 1;
    if (amount !== null) amounts[at] = (sum === Number.NEGATIVE_INFINITY ? 0 : sum) + amount;
  }
  const heard = (at: number): number[] => [
    ...new Set(Array.from(voices.subarray(starts[at], starts[at + 1]), (voice) => voice % customers.length)),
  ];
  return { places, amounts, counts, heard };
}

/** The live comments of the period, on posts of the board, among some rows or all. */
function said(
  posts: Posts,
  comments: Comments,
  { since, until, board }: TallyQuestion,
  among: Int32Array = rowsFrom(comments.created, since),
): Int32Array {
  const placeOf = board === null ? null : placesOf(posts.id);
  return rowsWhere(among, (i) => {
    const at = comments.created[i] ?? 0;
    if (comments.gone[i] !== 0 || at < since || at >= until) return false;
    return placeOf === null || posts.board[placeOf(comments.post[i] ?? 0)] === board;
  });
}

async function peopleOf(reader: ReportReader, ids: readonly number[]): Promise<(id: number) => Row> {
  const rows = await reader.rows(PEOPLE, { ids: JSON.stringify(ids) });
  const byId = new Map(
    rows.map(({ id, name, email }) => [
      id,
      { user: id ?? null, customer: name ?? null, email: email ?? null },
    ]),
  );
  return (id) => byId.get(id) ?? {};
}

/** Without a number there is no sum. */
function amountOf(amounts: readonly (number | null)[]): number | null {
  const given = amounts.filter((amount) => amount !== null);
  return given.length === 0 ? null : given.reduce((sum, amount) => sum + amount, 0);
}

function byAmount(a: number | null, b: number | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return b - a;
}

function byText(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null);
  return a < b ? -1 : Number(a > b);
}
