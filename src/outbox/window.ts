import type { Page, Reject } from '../api/client.ts';
import { secondIn } from '../api/next.ts';
import { codeOf } from '../base/errors.ts';
import { isSameMoment, toInstant } from '../contract/datetime.ts';
import type { Post } from '../contract/decode.ts';
import type { OutboxStore } from '../store/outbox/store.ts';
import type { KnownPost, MirroredPost, OutboxRow, SentAuthor, SentPost } from '../store/outbox/types.ts';
import { learnAuthors } from './authors.ts';
import type { OutboxContext } from './context.ts';
import { contentHash } from './match.ts';
import { CLEARLY_SIMILAR, comparable, couldBeRewriting, similarity } from './similarity.ts';
import { isResting } from './states.ts';
import {
  type Answer,
  type BoundPost,
  type Question,
  type ScoredPost,
  type SeenPost,
  type Verdict,
  whoseAre,
} from './unaccounted.ts';

/** What reads of the upstream's list brought that the mirror did not know before. */
export interface Listed {
  posts: Map<number, SeenPost>;
  /** When the latest of our rows whose post is listed was sent, by board and kind: so far the list is up to date. */
  latest: Map<string, string>;
  /** Whom the list shows as the creators of our posts. */
  authors: SentAuthor[];
  /** Posts of ours that it showed. */
  ours: Set<number>;
  /** Those of them that were bound to their rows by their words, or by an answer that their words speak against; not by a person. */
  bound: Map<number, BoundPost>;
  /** How many posts that the mirror knows the read showed; null where it stopped before the end, because the rest is older. */
  shown: number | null;
  /** Times, on our clock, whose posts the list may have left out. */
  unseen: Stretch[];
}

interface Stretch {
  from: number;
  to: number;
  why: string;
}

/** A row on its way, or one that has not settled: a post may still prove to be its own. */
export function isUnsettled({ state, not_before, changed_at }: OutboxRow, now: number): boolean {
  if (state !== 'ambiguous') return state === 'sending';
  const at = new Date(now).toISOString();
  // A change in the future was made by a clock that was ahead: the time it set counts as come.
  return not_before !== null && not_before > at && changed_at <= at;
}

/** Asks of the mirror, and of what was just read besides, which posts nothing accounts for and whose they are. */
export function ask(store: OutboxStore, now: number, rows: readonly OutboxRow[], listed?: Listed): Answer {
  const question = questionOf(store, now, rows, listed);
  return whoseAre({
    ...question,
    rows: rows.filter((row) => !isResting(row)),
    resting: rows.filter(isResting),
  });
}

/**
 * The same about rows that are settled. A post that is clearly that of a row whose outcome is still to come is left to that row, unless
 * it has the very words of a settled one, and so is one that could be its own and is not clearly anybody's.
 */
export function askAboutSettled(
  store: OutboxStore,
  now: number,
  rows: readonly OutboxRow[],
): Map<number, ScoredPost[]> {
  const settled = new Set(rows.map(({ id }) => id));
  const open = store.claimants().filter(({ id }) => !settled.has(id));
  const question = questionOf(store, now, [...open, ...rows]);
  const said = new Set(rows.map(contentHash));
  for (const row of open) said.delete(contentHash(row));
  const isSaid = (post: SeenPost): boolean => said.has(contentHash(post));
  const first = whoseAre({ ...question, rows: open, posts: question.posts.filter((post) => !isSaid(post)) });
  const wanted = [...first.verdicts.values()].flatMap(postsOf);
  const isWanted = new Set(wanted.map(({ id }) => id));
  const isClear = new Set(wanted.filter(({ score }) => score >= CLEARLY_SIMILAR).map(({ id }) => id));
  const left = first.left.filter(({ id }) => !isClear.has(id));
  const { verdicts } = whoseAre({ ...question, rows, posts: [...question.posts.filter(isSaid), ...left] });
  const own = (verdict: Verdict): ScoredPost[] =>
    postsOf(verdict).filter(({ id, score }) => score >= CLEARLY_SIMILAR || !isWanted.has(id));
  return new Map([...verdicts].map(([id, verdict]) => [id, own(verdict)]));
}

function postsOf(verdict: Verdict): ScoredPost[] {
  if (verdict.kind === 'match') return [{ ...verdict.post, score: 1 }];
  return verdict.kind === 'candidates' ? verdict.posts : [];
}

function questionOf(store: OutboxStore, now: number, rows: readonly OutboxRow[], listed?: Listed): Question {
  const posts = new Map(listed?.posts);
  for (const stored of store.postsSince(windowOf(rows))) {
    const [post, read] = [fromMirror(stored), posts.get(stored.id)];
    // Made at another time, it is a new one under the number of the one that the mirror knows.
    const isOther = read?.listed !== undefined && !isSameMoment(stored.created, read.listed.created);
    posts.set(post.id, { ...post, ...read, firstSeenAt: isOther ? null : post.firstSeenAt });
  }
  const authors = learnAuthors([...store.sentAuthors(), ...(listed?.authors ?? [])]);
  const open = unaccounted(store, rows, [...posts.values()]);
  const { sweptAt } = store.knowledge();
  const question = { rows, posts: open, authors, now, sweptAt };
  const bound = listed && { bound: [...listed.bound.values()] };
  return { ...question, ...bound, isUnsettled: (row) => isUnsettled(row, now) };
}

/**
 * Without posts that confirm a row. One with the words of another row that is confirmed is perhaps that row's second one and confirms no
 * other. Where that row was once unclear, its own check shows the post; a row that is clearly like it is not sent again all the same.
 */
function unaccounted(store: OutboxStore, rows: readonly OutboxRow[], posts: SeenPost[]): SeenPost[] {
  const bound = store.boundPosts(posts.map(({ id }) => id));
  const hashes = new Map(posts.map((post) => [post.id, contentHash(post)]));
  const confirmed = store.confirmedHashes([...hashes.values()]);
  for (const row of rows) confirmed.delete(contentHash(row));
  const texts = confirmed.size === 0 ? [] : rows.filter(({ state }) => state !== 'confirmed').map(comparable);
  return posts.flatMap((post) => {
    if (post.reusedFrom === undefined && bound.has(post.id)) return [];
    const wasUnclear = confirmed.get(hashes.get(post.id) ?? '');
    if (wasUnclear === undefined) return [post];
    if (!wasUnclear) return [{ ...post, isSecond: true }];
    const shown = comparable(post);
    const isLike = texts.some((text) => similarity(text, shown, CLEARLY_SIMILAR) >= CLEARLY_SIMILAR);
    return isLike ? [{ ...post, isSecond: true }] : [];
  });
}

interface Window {
  /** When the earliest of the rows was first sent. */
  created: number;
  /** What was known before all of them; null where that cannot be told for one. */
  knownMaxId: number | null;
}

function windowOf(rows: readonly OutboxRow[]): Window {
  const asking = rows.filter((row) => !isResting(row));
  const all = asking.length > 0 ? asking : rows;
  const known = all.map((row) => row.known_max_id).filter((id) => id !== null);
  return {
    created: smallest(all.map((row) => Date.parse(row.first_sent_at ?? row.created_at))),
    knownMaxId: known.length < all.length ? null : smallest(known),
  };
}

/** A hundred thousand arguments are too many for Math.min. */
function smallest(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
}

/** Pages wholly before the window after which the rest of a newest-first list is older still. */
const OLD_PAGES = 2;

/** Every listed post that is new since the first of these rows was sent. In a list that is not newest first, that takes all of it. */
export async function readWindow(context: OutboxContext, rows: readonly OutboxRow[]): Promise<Listed> {
  const listed: Listed = {
    posts: new Map(),
    latest: new Map(),
    authors: [],
    ours: new Set(),
    bound: new Map(),
    shown: null,
    unseen: [],
  };
  const mirrored = new Set<number>();
  const window = windowOf(rows);
  const { sweptAt } = context.store.knowledge();
  const isLike = sameWords(rows);
  const wanted = new Set(rows.map(contentHash));
  const isNewestFirst = orderWatch();
  const start = new Date(window.created).toISOString();
  const isWholeKnown = sweptAt !== null && sweptAt < start;
  let oldPages = 0;
  let showsOurs = false;
  let unread = 0;
  for await (const page of pagesOf(context)) {
    context.onPage?.();
    const seen = [
      ...page.rows.map((post) => fromList(post, page)),
      ...page.rejects.map((reject) => fromReject(reject, --unread)),
    ];
    const known = context.store.knownPosts(seen.map(({ id }) => id));
    let isOld = true;
    for (const post of seen) {
      const former = known.get(post.id);
      const isReused = isLike(post) && (isOfAnother(former, post) || isMisnamed(former, post, start, wanted));
      const facts = isReused ? undefined : factsOf(former, post);
      if (facts?.first_seen_at) mirrored.add(post.id);
      const isNew = isRecent(window, { start, isWholeKnown }, post, facts);
      isOld &&= !isNew;
      if (facts?.kind && isYoung(window, { start, isWholeKnown }, post, facts))
        noteBound(listed, post, facts, wanted);
      if (facts?.kind) noteOurs(listed, post, facts);
      showsOurs ||= isNew && facts?.kind != null;
      if (facts?.kind || (!isNew && !(isUnknown(start, facts) && isLike(post)))) continue;
      const reused = isReused && former?.row ? { reusedFrom: former.row } : {};
      listed.posts.set(post.id, { ...post, firstSeenAt: facts?.first_seen_at ?? null, ...reused });
    }
    listed.unseen.push(...leftOutAfter(page), ...leftOutSince(page, context.settleMs));
    oldPages = isOld ? oldPages + 1 : 0;
    if (isNewestFirst(page, showsOurs) && oldPages >= OLD_PAGES) return listed;
  }
  return { ...listed, shown: mirrored.size };
}

/** Of the posts that the mirror knows, so many may be gone since it last looked; where more are missing, the list is not whole. */
const MISSING = { share: 0.02, least: 2 };

/** Why reads that did not show a post say nothing about it; null where they do. */
export function whyIncomplete(store: OutboxStore, reads: readonly Listed[]): string | null {
  const shown = reads.map((read) => read.shown ?? Number.POSITIVE_INFINITY).reduce((a, b) => Math.min(a, b));
  const live = store.liveCount();
  const isWhole = live - shown <= Math.max(MISSING.least, live * MISSING.share);
  return isWhole ? null : `the list showed ${shown} of the ${live} posts that the mirror knows`;
}

/** Why reads without a post of a row say nothing about it; final where no later read will. */
export interface Unseen {
  why: string;
  isFinal: boolean;
}

/** Why these reads say nothing about a post of this row that they did not show; null where one of them does. */
export function whyUnseen(store: OutboxStore, row: OutboxRow, reads: readonly Listed[]): Unseen | null {
  const attempts = store.attempts(row.id).map(({ started_at, ended_at, deadline_at }) => ({
    from: Date.parse(started_at) - DATE_SLACK_MS,
    to: Date.parse(ended_at ?? deadline_at) + DATE_SLACK_MS,
  }));
  const reasonIn = ({ unseen }: Listed): string | undefined =>
    unseen.find(({ from, to }) => attempts.some((attempt) => attempt.from < to && from < attempt.to))?.why;
  const reasons = reads.map(reasonIn);
  const [why] = reasons;
  return why === undefined || reasons.includes(undefined)
    ? whyUnlisted(store, row, reads)
    : { why, isFinal: false };
}

/** A list that does not show what was sent the same way and answered with a number does not show this row's post either. */
function whyUnlisted(
  store: OutboxStore,
  { board, kind }: OutboxRow,
  reads: readonly Listed[],
): Unseen | null {
  // A customer's post may wait for somebody to approve it: it says nothing about one of the owner.
  const kinds: OutboxRow['kind'][] = kind === 'owner' ? ['owner'] : ['as-user', 'owner'];
  const unlisted = kinds.flatMap((each) => firstUnlisted(store.latestSent({ board, kind: each }), reads));
  if (unlisted.length === 0) return null;
  const [posts, them] = unlisted.length === 1 ? ['the post', 'it'] : [`the ${unlisted.length} posts`, 'them'];
  const why = `the list does not show ${posts} last sent to this board, although the service gave ${them} a number`;
  return { why, isFinal: unlisted.some(({ isSwept }) => isSwept === 1) };
}

/** What was sent before one that is listed was listed too, and is gone. */
function firstUnlisted(sent: SentPost[], reads: readonly Listed[]): SentPost[] {
  const listed = sent.findIndex(({ id, isMirrored }) => isMirrored || reads.some(({ ours }) => ours.has(id)));
  return listed === -1 ? sent : sent.slice(0, listed);
}

/** The clock of an upstream is read to the second, from a header that was some time on its way. */
const DATE_SLACK_MS = 3000;
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const WHOLE_MINUTE = /T\d\d:\d\d(:00(\.0+)?)?(?![:.\d])/;
const FRACTION = /:\d\d\.\d*[1-9]/;

/** A `next` that names no more than the time of the last row goes on behind all posts of that second, or minute. */
function leftOutAfter({ rows, cursor, next, serverTime, receivedAt }: Page<Post>): Stretch[] {
  const last = rows.at(-1);
  if (!last || next === null || FRACTION.test(last.created)) return [];
  const second = secondIn(next, last, [cursor]);
  if (second === null) return [];
  const isAll = (pattern: RegExp): boolean => rows.every(({ created }) => pattern.test(created));
  const lasts = isAll(MIDNIGHT) ? DAY_MS : isAll(WHOLE_MINUTE) ? MINUTE_MS : SECOND_MS;
  const from = Date.parse(`${second}Z`) - (serverTime === null ? 0 : serverTime - receivedAt);
  const why = 'where two pages of the list meet it may leave out posts of the time at which this was sent';
  return [{ from, to: from + lasts, why }];
}

/** A cache in between that answers although it was asked not to shows the list as it was; then too a post may come late. */
function leftOutSince({ receivedAt, ageMs = 0 }: Page<Post>, settleMs: number): Stretch[] {
  const why = 'a cache in between showed the list as it was before this could be listed';
  return ageMs === 0 ? [] : [{ from: receivedAt - ageMs - settleMs, to: Number.POSITIVE_INFINITY, why }];
}

interface Start {
  start: string;
  isWholeKnown: boolean;
}

/** A post of ours is as old as the first attempt of its row. */
function isRecent(window: Window, from: Start, post: SeenPost, facts?: KnownPost): boolean {
  return facts?.kind ? (facts.first_sent_at ?? '') >= from.start : isYoung(window, from, post, facts);
}

/** By its id, by when the mirror first saw it, or by the time it shows itself, the post may be younger than the window's start. */
function isYoung(
  { created, knownMaxId }: Window,
  { start, isWholeKnown }: Start,
  post: SeenPost,
  facts?: KnownPost,
): boolean {
  if (knownMaxId !== null && post.id > knownMaxId) return true;
  return isUnknown(start, facts) && (isWholeKnown || (post.madeBy ?? created) >= created);
}

/** A service may give the number of a deleted post to a new one: made at another time, it is not the post that the mirror knows. */
function factsOf(facts: KnownPost | undefined, { listed }: SeenPost): KnownPost | undefined {
  if (!facts?.created || !listed || isSameMoment(facts.created, listed.created)) return facts;
  return { ...facts, first_seen_at: null };
}

/** Under the number of a post of ours that was deleted, or that the service has lost, another one may come. */
function isOfAnother(former: KnownPost | undefined, { title, listed }: SeenPost): boolean {
  // A person may have bound a row to a post with any words.
  if (!former?.created || !listed || former.title === null || !isCertain(former)) return false;
  const isGone =
    former.was_deleted === 1 || former.is_reused === 1 || !isSameMoment(former.created, listed.created);
  return isGone && titleOf({ title }) !== titleOf({ title: former.title });
}

/**
 * A gateway that mixes up answers, or a service that takes the second wish under one title for the first sent twice, lets one row name the
 * post of another, and so does one that has lost the former's post and given its number anew: this one was made since, and shows the title
 * of a row that is looked for, which cannot be made of that of the other.
 */
function isMisnamed(
  former: KnownPost | undefined,
  post: SeenPost,
  start: string,
  wanted: ReadonlySet<string>,
): boolean {
  if (!former || former.title === null || former.matched !== null || !isUnknown(start, former)) return false;
  const { title, content } = former;
  if (isWordsOfAnother(former, post, wanted)) return !isMadeOf({ title, content: content ?? '' }, post);
  return !isMadeOf({ title, content: '' }, { title: post.title, content: '' });
}

type Words = Pick<SeenPost, 'title' | 'content'>;

/** A post can be what a service made of these words, also by a cut that none is known to make. */
function isMadeOf(sent: Words, post: Words): boolean {
  const [whole, shown] = [comparable(sent), comparable(post)];
  const isCut = (['title', 'content'] as const).every((part) =>
    whole[part].letters.startsWith(shown[part].letters),
  );
  return isCut || couldBeRewriting(sent, shown);
}

/** It shows the very words of a row that is looked for, and not those of the row that it confirms. */
function isWordsOfAnother({ content_hash }: KnownPost, post: SeenPost, wanted: ReadonlySet<string>): boolean {
  const hash = contentHash(post);
  return hash !== content_hash && wanted.has(hash);
}

function isUnknown(start: string, facts?: KnownPost): boolean {
  return !facts?.first_seen_at || facts.first_seen_at >= start;
}

function titleOf({ title }: { title: string }): string {
  return comparable({ title, content: '' }).title.letters;
}

/** Before the first sweep every listed post is unknown, and a million of them cannot be kept: of the old ones only those that match. */
function sameWords(rows: readonly OutboxRow[]): (post: SeenPost) => boolean {
  const titles = new Set(rows.map(titleOf));
  return (post) => titles.has(titleOf(post));
}

/** An answer that named it is believed over its words, unless they are those of another row. */
function noteBound({ bound }: Listed, post: SeenPost, facts: KnownPost, wanted: ReadonlySet<string>): void {
  const { row, content_hash: hash } = facts;
  const matched = facts.matched ?? (isWordsOfAnother(facts, post, wanted) ? 'answer' : null);
  if (row !== null && hash !== null && matched !== null && matched !== 'person')
    bound.set(post.id, { post: { ...post, firstSeenAt: facts.first_seen_at }, row, hash, matched });
}

function noteOurs({ latest, authors, ours }: Listed, { id, creator }: SeenPost, facts: KnownPost): void {
  ours.add(id);
  const lane = laneOf(facts);
  const sent = facts.first_sent_at ?? '';
  if (sent > (latest.get(lane) ?? '')) latest.set(lane, sent);
  if (creator && (facts.matched === 'person' || isCertain(facts)))
    authors.push({ asked: facts.email, shown: creator.email, creator_id: creator.id });
}

/** By the answer that named it, or by its very words. */
function isCertain({ matched }: KnownPost): boolean {
  return matched === null || matched === 'exact';
}

/** Rows that go the same way to the same board: what the list shows of one tells how far it has come for the others. */
export function laneOf({ board, kind }: { board: string | null; kind: string | null }): string {
  return `${kind} ${board}`;
}

/** Trouble that outlasts the client's own retries does not throw away what was read: the pass goes on at the same page. */
const RESUMPTIONS = 5;

async function* pagesOf({ client, signal }: OutboxContext): AsyncGenerator<Page<Post>, void, undefined> {
  let from = '';
  for (let left = RESUMPTIONS; ; left--) {
    try {
      for await (const page of client.posts({ signal, from })) {
        from = page.next ?? '';
        yield page;
      }
      return;
    } catch (error) {
      if (codeOf(error) !== 'unreachable' || left === 0) throw error;
    }
  }
}

/** Times are cut to the second or the minute, and clocks drift: a post may seem this much older than its own request. */
const CLOCK_MARGIN_MS = 65_000;
/** A time without a zone may be a local one, and a clock nobody can read may show anything near. */
const ZONE_MARGIN_MS = 15 * 3_600_000;
const DAY_MS = 24 * 3_600_000;

const MIDNIGHT = /T00:00(:00(\.0+)?)?(?![:.\d])/;

/** `isCut`: the service tells the day only. */
function latestOf(created: string, aheadMs: number | null, isCut: boolean): number | null {
  const instant = toInstant(created);
  if (instant === null) return null;
  const hasZone = /(z|[+-]\d\d(:?\d\d)?)$/i.test(created.slice(16));
  const margin = hasZone && aheadMs !== null ? CLOCK_MARGIN_MS : ZONE_MARGIN_MS;
  return Date.parse(instant) - (aheadMs ?? 0) + margin + (isCut ? DAY_MS : 0);
}

function fromList(listed: Post, page: Page<Post>): SeenPost {
  const { id, title, content, url, board, creator, created } = listed;
  const ahead = page.serverTime === null ? null : page.serverTime - page.receivedAt;
  const isCut = page.rows.every((row) => MIDNIGHT.test(row.created));
  const { id: by, email, name } = creator;
  const author = { id: by, email, name, isTeam: creator.is_admin || creator.is_team };
  const made = { creator: author, madeBy: latestOf(created, ahead, isCut) };
  return { id, title, content, url, board: board.url, ...made, firstSeenAt: null, listed };
}

export function fromMirror(post: MirroredPost): SeenPost {
  const { id, title, content, url, board_slug: board, created, first_seen_at: firstSeenAt } = post;
  const { creator_id, creator_email: email, creator_name: name } = post;
  const creator = { id: creator_id, email, name, isTeam: post.is_team === 1 };
  return {
    id,
    title,
    content,
    url,
    board,
    creator,
    madeBy: latestOf(created, null, MIDNIGHT.test(created)),
    firstSeenAt,
  };
}

/** A listed row that did not decode: whatever of its words can be read. Ids begin at 1: one that cannot be read gets a number below. */
function fromReject({ id, body }: Reject, standIn: number): SeenPost {
  let row: unknown = null;
  try {
    row = JSON.parse(body);
  } catch {
    // Cut at its limit, or no JSON at all: nothing can be read.
  }
  const text = (name: string): string => {
    const value: unknown = Reflect.get(Object(row), name);
    return typeof value === 'string' ? value : '';
  };
  const words = { title: text('title'), content: text('content'), url: text('url') };
  return { id: id ?? standIn, ...words, board: '', creator: null, madeBy: null, firstSeenAt: null };
}

/** Fewer rows in falling order could be chance. */
const ORDERED_ROWS = 20;
/** Numbers that a list may be sorted by, and that a new post has little of. */
const NUMBERS = ['votes_count', 'comments_count'] as const;

/**
 * Tells after each page whether the list stands newest first for certain, so that nothing new can follow old rows. Rows in falling
 * order are not enough: where all posts have one vote and a new one has none, a list sorted by votes looks newest first and has
 * our post at its end. So each number must be seen to rise and to fall along the list, or a post of our own must be among the new.
 */
function orderWatch(): (page: Page<Post>, showsOurs: boolean) => boolean {
  const known = new Set<number>();
  const steps = new Map(NUMBERS.map((name) => [name, { rises: false, falls: false }]));
  let isFalling = true;
  let last: Post | undefined;
  return ({ rows }, showsOurs) => {
    for (const post of rows) {
      // Rows that moved down during the read come again; they say nothing new.
      if (known.has(post.id)) continue;
      known.add(post.id);
      if (last) {
        isFalling &&= isNewer(last, post);
        for (const [name, seen] of steps) note(seen, post[name] - last[name]);
      }
      last = post;
    }
    const isByNumber = [...steps.values()].some(({ rises, falls }) => !(rises && falls));
    return isFalling && known.size >= ORDERED_ROWS && (showsOurs || !isByNumber);
  };
}

function note(seen: { rises: boolean; falls: boolean }, step: number): void {
  seen.rises ||= step > 0;
  seen.falls ||= step < 0;
}

function isNewer(above: Post, below: Post): boolean {
  return above.id > below.id && (toInstant(above.created) ?? '') >= (toInstant(below.created) ?? '');
}
