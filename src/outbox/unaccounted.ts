import { boardSlug } from '../base/boards.ts';
import { emailKey } from '../base/email.ts';
import type { Post } from '../contract/decode.ts';
import type { OutboxRow } from '../store/outbox/types.ts';
import { type Authors, isAddressOf, isAnothers, isHidden } from './authors.ts';
import { contentHash, mailbox } from './match.ts';
import {
  beginsAlike,
  CLEARLY_SIMILAR,
  type ComparableText,
  comparable,
  couldBeRewriting,
  detailKey,
  INCOMPARABLE,
  isRewriting,
  isSameInDetail,
  similarity,
} from './similarity.ts';

/**
 * The one question of the outbox, for reconcile, for the check before a row is sent again and for the check after a sweep: which
 * posts of the window does nothing account for, and whose are they? A service may rewrite what it is given, so a row is not known
 * to be absent because its words are: as long as a post that could be its own stands there unaccounted for, it is not sent again.
 */

/** A post as the upstream showed it, by whichever pass. */
export interface SeenPost {
  id: number;
  title: string;
  content: string;
  url: string;
  board: string;
  /** Null where the listed row could not be read. */
  creator: { id: number; email: string | null; name: string | null; isTeam: boolean } | null;
  /** The latest moment, on our clock, at which it can have been made by what it says of itself; null where it says nothing. */
  madeBy: number | null;
  /** When the mirror first saw it; null where it has not. */
  firstSeenAt: string | null;
  /** The row that a former post of this number confirms. */
  reusedFrom?: number;
  /** The row that it confirms, though it could be that of another. */
  confirms?: number;
  /** It may be one too many of a row that is confirmed: it confirms no other. */
  isSecond?: boolean;
  /** As the list showed it, where it comes from there and could be read. */
  listed?: Post;
}

export type Verdict =
  | { kind: 'match'; post: SeenPost; matched: string }
  /** `isOpen`: another row whose outcome is still to come could own one of them. */
  | { kind: 'candidates'; posts: ScoredPost[]; isOpen: boolean }
  | { kind: 'none' };

export interface ScoredPost extends SeenPost {
  /** How similar it is to the row, from 0 to 1. */
  score: number;
}

export interface BoundPost {
  post: SeenPost;
  row: number;
  /** The content hash of its row. */
  hash: string;
  matched: string;
}

export interface Question {
  rows: readonly OutboxRow[];
  /** Rows that are settled, but not by a post: what is clearly theirs, and not as clearly another's, is accounted for. */
  resting?: readonly OutboxRow[];
  /** Posts that confirm no row. */
  posts: readonly SeenPost[];
  /**
   * Posts that confirm a row by their words, where rows are asked about that may be sent again: one that could be made of the words of
   * such a row as well was perhaps left by it.
   */
  bound?: readonly BoundPost[];
  authors: Authors;
  now: number;
  /** When the whole list had been read for the first time: from then on a post that the mirror does not know is new. */
  sweptAt: string | null;
  /** Rows that are on their way or have not settled: what they come to is not known yet. */
  isUnsettled: (row: OutboxRow) => boolean;
}

export interface Answer {
  /** For every row of the question. */
  verdicts: Map<number, Verdict>;
  /** Posts that no row of the question was matched with. */
  left: SeenPost[];
}

/** Two scores that are nearer to each other than this cannot be told apart. */
const MARGIN = 0.05;
/** A post on another board than asked for: moved, or the board is named in another way. Less sure, never ruled out. */
const OTHER_BOARD = 0.95;
/** More than a person will compare. */
const MOST_CANDIDATES = 20;

interface Claim {
  row: OutboxRow;
  /** What is asked about each of thousands of posts is worked out once. */
  sentAt: number;
  mailbox: string | null;
  hash: string;
  text: ComparableText | null;
  match: { post: SeenPost; matched: string } | null;
}

interface Candidate {
  post: SeenPost;
  /** Of its creator, where an address is shown. */
  mailbox: string | null;
  text: ComparableText | null;
  takenBy: Claim | null;
  /** It says what one row sent, and can as well be made of what another sent: whose it is, nobody can tell. */
  isContested: boolean;
}

export function whoseAre(question: Question): Answer {
  const claims = question.rows.map(claimOf);
  const resting = (question.resting ?? []).map(claimOf);
  const candidates = question.posts.map(candidateOf);
  // Of rows with the same words, those that ask come first.
  matchAll(question, [...claims, ...resting], candidates);
  contestStrangers(question.authors, candidates);
  // A match that binds nothing yet may prove wrong: to a row that is as clearly like the post, it is no answer.
  const isFirm = ({ row, match }: Claim): boolean => match?.matched === 'exact' || !question.isUnsettled(row);
  const loose = candidates.filter(({ takenBy }) => !takenBy || resting.includes(takenBy) || !isFirm(takenBy));
  const unsettled = claims.filter(({ row }) => question.isUnsettled(row));
  const isLike = wordFilter(loose);
  const shared = question.bound ? sharedReader(question, candidates, question.bound) : () => [];
  const verdicts = claims.map((claim): [number, Verdict] => {
    const verdict = verdictOn(question, claim, unsettled, isLike(claim));
    const posts = verdict.kind === 'none' ? shared(claim) : [];
    return [claim.row.id, posts.length === 0 ? verdict : { kind: 'candidates', posts, isOpen: false }];
  });
  const left = candidates.filter(({ takenBy }) => takenBy === null).map(({ post }) => post);
  return { verdicts: new Map(verdicts), left };
}

function claimOf(row: OutboxRow): Claim {
  const known = { sentAt: sentAt(row), mailbox: row.email === null ? null : mailbox(row.email) };
  return { row, ...known, hash: contentHash(row), text: null, match: null };
}

function candidateOf(post: SeenPost): Candidate {
  const address = post.creator?.email?.trim();
  const known = { mailbox: address ? mailbox(address) : null, text: null };
  return { post, ...known, takenBy: null, isContested: post.isSecond === true };
}

/**
 * Word for word, then by similar words. Whether another row has a post of its own is known only after both; where a match word for word is
 * taken back, its row may have one of the posts that others got meanwhile.
 */
function matchAll(question: Question, claims: Claim[], candidates: Candidate[]): void {
  matchExact(question, claims, candidates);
  const open = candidates.filter(({ takenBy, isContested }) => takenBy === null && !isContested);
  const known = new Map<Claim, Pair[]>();
  const pairsOf = (claim: Claim): Pair[] => {
    const pairs = known.get(claim) ?? similarPairs(question, claim, open);
    known.set(claim, pairs);
    return pairs;
  };
  do {
    for (const candidate of open) release(candidate);
    matchSimilar(claims, pairsOf);
  } while (contestExact(question, claims, candidates));
}

/** Word for word, and in detail, on the board that was asked for, by somebody who can be us. */
function matchExact(question: Question, claims: Claim[], candidates: Candidate[]): void {
  const byHash = Map.groupBy(candidates, ({ post }) => contentHash(post));
  for (const [hash, group] of Map.groupBy(claims, (claim) => claim.hash)) {
    const posts = byHash.get(hash);
    if (posts) matchTwins(question, group, posts);
  }
}

/**
 * Twins are interchangeable: any of them may have any of the posts. A post that other rows with its words could own too stays open, and
 * so do all where there are more posts than rows: which of them is too many, nobody knows.
 */
function matchTwins(question: Question, group: Claim[], posts: Candidate[]): void {
  const owners = (candidate: Candidate): Claim[] =>
    group.filter(
      (claim) =>
        isOurs(question, claim, candidate) &&
        !isStrangersName(claim, candidate) &&
        isSameInDetail(textOf(claim), textOf(candidate)),
    );
  for (const twins of Map.groupBy(group, twinKey).values()) {
    const own = posts.filter((candidate) => {
      const able = owners(candidate);
      return able.length > 0 && able.every((claim) => twins.includes(claim));
    });
    const timely = own.filter(({ post }) => twins.some((claim) => isTimely(claim, post)));
    const shared = own.length > twins.length ? timely : own;
    if (shared.length > twins.length) continue;
    for (const candidate of shared)
      take(
        owners(candidate).find(({ match }) => match === null),
        candidate,
        'exact',
      );
  }
}

/**
 * What a service does to texts can make the words of one row out of those of another, from the same person. Where the post of that other
 * row is not found either, the post that says the words of the first may be its. Tells whether any match was taken back.
 */
function contestExact(question: Question, claims: Claim[], candidates: Candidate[]): boolean {
  const exact = candidates.filter(({ takenBy }) => takenBy?.match?.matched === 'exact');
  if (exact.length === 0) return false;
  const near = nearReader(claims.filter(({ match }) => match === null));
  const contested = exact.filter((candidate) =>
    near(candidate).some((claim) => isRival(question, claim, candidate)),
  );
  for (const candidate of contested) contest(candidate);
  return contested.length > 0;
}

/** Rows whose title may have become that of a post, found by its first letters: each post with each row would take minutes. */
function nearReader(claims: readonly Claim[]): (candidate: Candidate) => readonly Claim[] {
  const titleOf = (one: Claim | Candidate): string => textOf(one).title.letters;
  const isFirm = (one: Claim | Candidate): boolean => textOf(one).title.firm === Number.POSITIVE_INFINITY;
  const sorted = claims.filter(isFirm).sort((a, b) => (titleOf(a) < titleOf(b) ? -1 : 1));
  const others = claims.filter((claim) => !isFirm(claim));
  return (candidate) => {
    if (!isFirm(candidate)) return claims;
    const title = titleOf(candidate);
    const from = firstFrom(sorted, (claim) => titleOf(claim) >= title);
    const to = firstFrom(sorted, (claim) => titleOf(claim) >= title && !titleOf(claim).startsWith(title));
    return [...sorted.slice(from, to), ...others];
  };
}

/** The post that another row has by its very words can be what a service made of the other words of this one. */
function isRival(question: Question, claim: Claim, candidate: Candidate): boolean {
  return (
    beginsAlike(textOf(claim), textOf(candidate)) &&
    isOurs(question, claim, candidate) &&
    !isStrangersName(claim, candidate) &&
    (isLikelyCut(claim, candidate) || isClear(claim, candidate)) &&
    contentHash({ ...claim.row, board: candidate.post.board }) !== contentHash(candidate.post)
  );
}

/** From so many letters on, a title may end anywhere. */
const LONG_TITLE = 20;

/** Cut at the end of a word, or of a long title: "Wish 1" is hardly what became of "Wish 12". */
function isLikelyCut(claim: Claim, candidate: Candidate): boolean {
  const [sent, shown] = [textOf(claim), textOf(candidate)];
  const isCut = (['title', 'content'] as const).every((part) =>
    sent[part].letters.startsWith(shown[part].letters),
  );
  const length = ({ title, content }: ComparableText): number =>
    title.letters.length + content.letters.length;
  if (!isCut || length(sent) === length(shown)) return false;
  const rest = claim.row.title.slice(candidate.post.title.length);
  return shown.title.letters.length >= LONG_TITLE || /^($|[^\p{L}\p{N}])/u.test(rest);
}

/** By halving: where in a sorted list the first one stands for which it holds. */
function firstFrom<T>(sorted: readonly T[], holds: (one: T) => boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(sorted[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A post that is new since the row was sent, and whose creator is shown to be who it was sent as. */
function isOurs(question: Question, claim: Claim, candidate: Candidate): boolean {
  const { post } = candidate;
  if (!isAuthor(claim, candidate, question.authors) || !isInWindow(question, claim, post)) return false;
  if (post.madeBy === null || claim.sentAt > question.now) return true;
  const late = claim.sentAt - post.madeBy;
  // Where nothing is known of what stood there before, a post that says that it is older than the row may be from last year.
  if (isWholeKnown(question, claim.row)) return late < MOST_LATE_MS;
  return late <= 0 || (isNewById(claim.row, post) && late < MOST_LATE_MS);
}

/** No clock of a service is this late: a post that says so was written before, and has only come to be shown since. */
const MOST_LATE_MS = 26 * 3_600_000;

function take(claim: Claim | undefined, candidate: Candidate, matched: string): void {
  if (!claim) return;
  claim.match = { post: candidate.post, matched };
  candidate.takenBy = claim;
}

function release(candidate: Candidate): void {
  if (candidate.takenBy) candidate.takenBy.match = null;
  candidate.takenBy = null;
}

function contest(candidate: Candidate): void {
  release(candidate);
  candidate.isContested = true;
}

/**
 * Before anything is known of who stands on our posts, somebody of the team is taken for the owner. The posts that were matched just now
 * may tell otherwise: by several such owners, of whom one has the most posts, or by customers in their own name.
 */
function contestStrangers(authors: Authors, candidates: readonly Candidate[]): void {
  const taken = candidates.flatMap((candidate) => {
    const { takenBy: claim, post } = candidate;
    if (!claim || !post.creator) return [];
    const { email } = claim.row;
    const isOwn = email !== null && isAddressOf(email, post.creator.email, authors.keepsTags);
    return [{ candidate, email, isOwn, account: post.creator.id }];
  });
  const showsCustomers = taken.some(({ isOwn }) => isOwn);
  const owned = taken.filter(({ email }) => email === null);
  const [first, second] = [...Map.groupBy(owned, ({ account }) => account)]
    .map(([account, posts]) => ({ account, posts: posts.length }))
    .sort((a, b) => b.posts - a.posts);
  const owner = first && first.posts > (second?.posts ?? 0) ? first.account : null;
  for (const { candidate, email, isOwn, account } of taken) {
    const isStranger =
      email === null
        ? authors.owners.size === 0 && account !== owner
        : showsCustomers && !authors.showsCustomers && !isOwn && candidate.mailbox !== null;
    if (!isStranger || authors.accounts.get(emailKey(email ?? ''))?.has(account)) continue;
    contest(candidate);
  }
}

interface Pair {
  claim: Claim;
  candidate: Candidate;
  score: number;
  /** The post can be what a service made of the row's words. */
  isClear: boolean;
}

/**
 * Rewritten: the best pair first, and only where the row has no other post that is nearly as good, and the post could be made of the
 * words of no other row, nor is more like one in a way that is not known. The very words of another row, on its board, are that one's,
 * whoever is shown as their author: people are merged.
 */
function matchSimilar(claims: Claim[], pairsOf: (claim: Claim) => Pair[]): void {
  const left = claims.filter(({ match }) => match === null);
  const byHash = Map.groupBy(left, ({ hash }) => hash);
  const pairs = left.flatMap(pairsOf).sort((a, b) => b.score - a.score);
  const [ofClaim, ofCandidate] = [
    Map.groupBy(pairs, (pair) => pair.claim),
    Map.groupBy(pairs, (pair) => pair.candidate),
  ];
  for (const pair of pairs) {
    if (!pair.isClear || pair.claim.match || pair.candidate.takenBy) continue;
    const isOpen = (other: Pair): boolean => other !== pair && !other.claim.match && !other.candidate.takenBy;
    const posts = ofClaim.get(pair.claim)?.filter(isOpen) ?? [];
    const rows = ofCandidate.get(pair.candidate)?.filter(isOpen) ?? [];
    const sayers = byHash.get(contentHash(pair.candidate.post)) ?? [];
    const isBest =
      sayers.every((other) => other.match !== null || isTwin(pair.claim, other)) &&
      posts.every(({ score }) => pair.score - score >= MARGIN) &&
      rows.every((other) => isTwin(pair.claim, other.claim) || isLess(other, pair));
    if (isBest) take(pair.claim, pair.candidate, `similar ${Math.min(0.99, pair.score).toFixed(2)}`);
  }
}

/**
 * Rows with the same words from the same person: any of them may have the post of any other. The hash leaves tags out: "Allow <iframe>"
 * and "Allow <script>" are no twins.
 */
function twinKey(claim: Claim): string {
  return JSON.stringify([claim.hash, claim.mailbox, detailKey(textOf(claim))]);
}

function isTwin(a: Claim, b: Claim): boolean {
  return a.hash === b.hash && twinKey(a) === twinKey(b);
}

/** The row of this pair is none that the post of the other could be made of. */
function isLess({ isClear, score }: Pair, than: Pair): boolean {
  return !isClear && score < than.score;
}

/**
 * For a row without any post: those that confirm another row by their words, and that a service could have made of this row's words too,
 * because it cut or dressed them or moved the post. Which of the two rows left it, nobody can tell.
 */
function sharedReader(
  question: Question,
  candidates: readonly Candidate[],
  bound: readonly BoundPost[],
): (claim: Claim) => ScoredPost[] {
  const taken = [
    ...candidates.flatMap((candidate) => {
      const { takenBy } = candidate;
      return takenBy?.match
        ? [{ candidate, row: takenBy.row.id, hash: takenBy.hash, matched: takenBy.match.matched }]
        : [];
    }),
    ...bound.map(({ post, ...of }) => ({ candidate: candidateOf(post), ...of })),
  ];
  const byTitle = Map.groupBy(taken, ({ candidate }) => textOf(candidate).title.letters);
  const rewritten = taken.filter(
    ({ candidate, matched }) => matched !== 'exact' || textOf(candidate).title.masks > 0,
  );
  return (claim) => {
    const { letters } = textOf(claim).title;
    const cuts = Array.from({ length: letters.length + 1 }, (_, n) => byTitle.get(letters.slice(0, n)) ?? []);
    const found = [...new Set([...cuts.flat(), ...rewritten])].flatMap(
      ({ candidate, row, hash, matched }) => {
        if (hash === claim.hash || !isOurs(question, claim, candidate)) return [];
        const score = scoreOf(claim, candidate, CLEARLY_SIMILAR);
        const couldBe = matched !== 'exact' || couldBeRewriting(claim.row, textOf(candidate));
        return couldBe && score >= CLEARLY_SIMILAR ? [{ ...candidate.post, score, confirms: row }] : [];
      },
    );
    return found.sort((a, b) => b.score - a.score).slice(0, MOST_CANDIDATES);
  };
}

function similarPairs(question: Question, claim: Claim, candidates: Candidate[]): Pair[] {
  return candidates.flatMap((candidate) => {
    if (!isOurs(question, claim, candidate) || isNamedOtherwise(claim, candidate)) return [];
    const score = scoreOf(claim, candidate, CLEARLY_SIMILAR);
    if (score < CLEARLY_SIMILAR) return [];
    return [{ claim, candidate, score, isClear: isRewriting(textOf(claim), textOf(candidate)) }];
  });
}

/** The post can be what a service made of the row's words. In this order, for the score of long texts takes most of the time. */
function isClear(claim: Claim, candidate: Candidate): boolean {
  return (
    isRewriting(textOf(claim), textOf(candidate)) &&
    scoreOf(claim, candidate, CLEARLY_SIMILAR) >= CLEARLY_SIMILAR
  );
}

function scoreOf(claim: Claim, candidate: Candidate, least = 0): number {
  const score = similarity(textOf(claim), textOf(candidate), least);
  const { board } = candidate.post;
  const isOther = board !== '' && boardSlug(claim.row.board) !== boardSlug(board);
  return isOther ? score * OTHER_BOARD : score;
}

/**
 * Posts that may be clearly similar to a row, by what is cheap to know: they share a word of the title, or one has no title to tell by.
 * Between 35,000 rows and 13,000 posts of strangers the whole comparison took half an hour.
 */
function wordFilter(candidates: Candidate[]): (claim: Claim) => [candidate: Candidate, isLike: boolean][] {
  const byWord = new Map<string, Set<Candidate>>();
  for (const candidate of candidates)
    for (const word of titleWords(candidate)) {
      const having = byWord.get(word) ?? new Set();
      byWord.set(word, having.add(candidate));
    }
  return (claim) => {
    const words = titleWords(claim);
    const like = new Set(words.flatMap((word) => [...(byWord.get(word) ?? [])]));
    const isBare = words.length === 0;
    return candidates.map((candidate) => [
      candidate,
      isBare || like.has(candidate) || titleWords(candidate).length === 0,
    ]);
  };
}

/** With the beginnings of the words, for one letter may be changed in each. */
function titleWords(one: Claim | Candidate): string[] {
  const { title } = textOf(one);
  const words = [...title.counts.keys()];
  return [...words, ...words.map((word) => word.slice(0, 3))];
}

function textOf(one: Claim | Candidate): ComparableText {
  one.text ??= comparable('row' in one ? one.row : one.post);
  return one.text;
}

function verdictOn(
  question: Question,
  claim: Claim,
  unsettled: Claim[],
  loose: [candidate: Candidate, isLike: boolean][],
): Verdict {
  if (claim.match) return { kind: 'match', ...claim.match };
  const own = loose
    .flatMap(([candidate, isLike]) => {
      const score = couldOwn(question, claim, candidate, isLike);
      return score === null ? [] : [{ candidate, score }];
    })
    .sort((a, b) => b.score - a.score);
  if (own.length === 0) return { kind: 'none' };
  const isOpen = own.some(({ candidate }) =>
    unsettled.some((other) => {
      if (other === claim) return false;
      return other.match ? candidate.takenBy === other : couldOwn(question, other, candidate, true) !== null;
    }),
  );
  const posts = own.slice(0, MOST_CANDIDATES).map(({ candidate, score }) => ({ ...candidate.post, score }));
  return { kind: 'candidates', posts, isOpen };
}

/** How similar a post is that could be this row's; null where it is shown to be somebody else's, or to be older than the row. */
function couldOwn(question: Question, claim: Claim, candidate: Candidate, isLike: boolean): number | null {
  const { post, takenBy } = candidate;
  const mayBeOurs = takenBy === null && isPlausible(claim, candidate, question.authors);
  if ((!mayBeOurs && !isLike) || !isInWindow(question, claim, post)) return null;
  const score = scoreOf(claim, candidate);
  // The same words by somebody else: people are merged and tokens change hands, so only a person can tell.
  if (score >= CLEARLY_SIMILAR) return score;
  if (!mayBeOurs) return null;
  // A listed row that cannot be read, with no word to tell it by.
  if (post.creator === null && score >= INCOMPARABLE && !isOldById(claim.row, post)) return score;
  const isNew = isNewById(claim.row, post) || isTimely(claim, post) || isWholeKnown(question, claim.row);
  return isNew ? score : null;
}

/** Not known before the first attempt that can have left a post, and not dismissed by a person. */
function isInWindow(question: Question, claim: Claim, post: SeenPost): boolean {
  const { row } = claim;
  if (row.baseline.includes(post.id)) return false;
  if (isNewById(row, post) || row.first_sent_at === null) return true;
  // Two signs of age: one alone may be the service's way of numbering, or of telling the time.
  if (!isWholeKnown(question, row) && isOldById(row, post) && post.madeBy !== null && !isTimely(claim, post))
    return false;
  if (post.firstSeenAt === null) return true;
  // A time that lies in the future was written by a clock that was ahead: it says nothing about what came before.
  return post.firstSeenAt >= row.first_sent_at || claim.sentAt > question.now;
}

/** The whole list had been read before the row was sent: what the mirror does not know is new. */
function isWholeKnown({ sweptAt }: Question, { first_sent_at }: OutboxRow): boolean {
  return sweptAt !== null && first_sent_at !== null && sweptAt < first_sent_at;
}

/** Its number is higher than any that was known when the row first went out. */
function isNewById(row: OutboxRow, post: Pick<SeenPost, 'id'>): boolean {
  return row.known_max_id !== null && post.id > row.known_max_id;
}

function isOldById(row: OutboxRow, { id }: SeenPost): boolean {
  return id > 0 && row.known_max_id !== null && id <= row.known_max_id;
}

/** By the time that it shows itself. Services cut such times and set their clocks late, so this only tells likely from unlikely. */
export function isTimely(sent: { sentAt: number }, { madeBy }: SeenPost): boolean {
  return madeBy !== null && madeBy >= sent.sentAt;
}

export function sentAt({ first_sent_at, created_at }: OutboxRow): number {
  return Date.parse(first_sent_at ?? created_at);
}

/**
 * Whether the creator of a post is shown to be who this row was sent as: by the address, or because our other posts show the same one. The
 * owner stands on a customer's post only where no customer is seen to. Before any post of the owner is known, somebody of the team is that.
 */
function isAuthor({ row }: Claim, { post, mailbox: shown }: Candidate, authors: Authors): boolean {
  const { creator } = post;
  if (creator === null) return false;
  if (row.email !== null && isAddressOf(row.email, creator.email, authors.keepsTags)) return true;
  const own = row.email === null ? undefined : authors.accounts.get(emailKey(row.email));
  if (own?.has(creator.id)) return true;
  if (isAnothers(creator.id, row.email, authors)) return false;
  if (row.email !== null && shown === null) return own === undefined;
  if (row.email !== null && authors.showsCustomers) return false;
  return authors.owners.has(creator.id) || (authors.owners.size === 0 && (creator.isTeam || shown === null));
}

/** The same of a single row and post. */
export function isSentAs(row: OutboxRow, post: SeenPost, authors: Authors): boolean {
  return isAuthor(claimOf(row), candidateOf(post), authors);
}

/** Where no address is shown, the name tells: words that are only similar are nobody's under the name of another person. */
function isNamedOtherwise(
  { row, mailbox: sentAs }: Claim,
  { post: { creator }, mailbox: shown }: Candidate,
): boolean {
  if (sentAs === null || shown !== null || !creator?.name || !row.full_name) return false;
  return nameKey(creator.name) !== nameKey(row.full_name);
}

/** The very words of the row, where no address is shown, by somebody whose name has nothing of the customer's. */
function isStrangersName(claim: Claim, candidate: Candidate): boolean {
  if (!isNamedOtherwise(claim, candidate)) return false;
  const own = new Set(partsOf(claim.row.full_name ?? ''));
  return !partsOf(candidate.post.creator?.name ?? '').some((part) => own.has(part));
}

function partsOf(name: string): string[] {
  return name
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .map(nameKey)
    .filter((part) => part !== '');
}

function nameKey(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** Whether the creator of a post can be who this row was sent as. As long as nothing was learned, anybody can. */
function isPlausible(claim: Claim, { post, mailbox: shown }: Candidate, authors: Authors): boolean {
  const { creator } = post;
  if (creator === null || authors.owners.has(creator.id)) return true;
  if (shown !== null && authors.ownerMailboxes.has(shown)) return true;
  if (claim.mailbox === null) return authors.owners.size === 0;
  if (!creator.email?.trim() || shown === claim.mailbox || isHidden(creator.email, authors)) return true;
  if (authors.owners.size > 0) return false;
  return !authors.showsCustomers || creator.isTeam;
}
