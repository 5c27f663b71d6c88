import type { Clock } from '../base/clock.ts';
import { emailKey } from '../base/email.ts';
import type { OutboxStore } from '../store/outbox/store.ts';
import type { MirroredPost, OutboxRow } from '../store/outbox/types.ts';
import { type Authors, isAnothers, learnAuthors } from './authors.ts';
import { contentHash } from './match.ts';
import { CLEARLY_SIMILAR, comparable, couldBeRewriting, INCOMPARABLE, similarity } from './similarity.ts';
import { displaced, isResting, TRANSITIONS } from './states.ts';
import { isSentAs, isTimely, type ScoredPost, sentAt } from './unaccounted.ts';
import { askAboutSettled, fromMirror, laneOf } from './window.ts';

/** The last check is not made right after the one before: what comes late beyond all waiting has this long to turn up. */
const BETWEEN_CHECKS_MS = 1_800_000;

/**
 * After a complete sweep of the posts: did a row that was once ambiguous leave posts behind that nothing accounts for? What no
 * protocol can rule out without a key on the server's side is at least found and written on the row. Returns the rows where
 * something new turned up.
 */
export function checkAfterSweep(store: OutboxStore, clock: Clock, sweepStartedAt: string): OutboxRow[] {
  const now = clock.now();
  // Only a sweep that began after the row was settled, or last checked, can show something new about it.
  const isNew = ({ changed_at }: OutboxRow): boolean =>
    changed_at < sweepStartedAt || changed_at > new Date(now).toISOString();
  const told: OutboxRow[] = displaceForeign(store, now);
  const rows = store.toCheck().filter(isNew);
  if (rows.length === 0) return told;
  const left = askAboutSettled(store, now, rows);
  const authors = learnAuthors(store.sentAuthors());
  const twinsOf = shownTwins(store, rows);
  const showsUs = ownPostCheck(store, now);
  for (const row of rows) {
    const found = foundOn({ store, authors }, row, [...twinsOf(row), ...(left.get(row.id) ?? [])]);
    const waited = Date.parse(sweepStartedAt) - Date.parse(row.changed_at);
    const isLater = row.checks_left > 1 || waited >= BETWEEN_CHECKS_MS || waited < 0;
    const counts = isLater && showsUs(row);
    if (!counts && !found) continue;
    const error = found && row.state === 'uncertain' ? turnedUp(found) : null;
    store.checked({ id: row.id, now, counts, duplicate: null, candidates: null, error, ...found });
    if (found) told.push({ ...row, ...found, duplicate_of: row.duplicate_of ?? found.duplicate });
  }
  return told;
}

/** So long after a row was sent a list that does not show its post is not late: the post is gone. */
const LATEST_LISTED_MS = 24 * 3_600_000;

/** A list that does not show the post of the row, or, where it has none, the one sent last the same way, does not show a second one either. */
function ownPostCheck(store: OutboxStore, now: number): (row: OutboxRow) => boolean {
  const lanes = new Map<string, boolean>();
  return (row) => {
    const age = now - Date.parse(store.attempts(row.id).at(-1)?.ended_at ?? '');
    if (!(age >= 0 && age < LATEST_LISTED_MS)) return true;
    if (row.post_id !== null) return store.isListed(row.post_id);
    const lane = laneOf(row);
    const isListed = lanes.get(lane) ?? store.latestSent(row)[0]?.isMirrored !== 0;
    lanes.set(lane, isListed);
    return isListed;
  };
}

function turnedUp({ candidates }: Found): string {
  return candidates.length === 1
    ? `post ${candidates[0]} has turned up, and could be this one`
    : `${candidates.length} posts could be this one, some of which have turned up since`;
}

/**
 * A service may answer with the number of somebody else's post, that of an earlier one with the same title for example, or take ours back
 * and give its number to another; a gateway may mix up the answers to two rows. Where the words are not clearly ours, and the author is
 * another, the post is older than the row or our words stand in a post that nothing accounts for, or where they are those of another row
 * and cannot be made of ours, or have nothing in common with ours and the number had another post before, the row has no post that anybody
 * has seen.
 */
function displaceForeign(store: OutboxStore, now: number): OutboxRow[] {
  const doubtful = store.doubtfulRows().map((found) => {
    const score = similarity(comparable(found.row), comparable(found.post));
    return { ...found, score, isUnlike: score < CLEARLY_SIMILAR };
  });
  const unlike = doubtful.filter(({ isUnlike, row, post }) => isUnlike && !hadWordsOf(store, row, post));
  if (unlike.length === 0) return [];
  const isForeign = foreignCheck(
    store,
    unlike.map(({ post }) => post.id),
  );
  const isElsewhere = wordsElsewhere(
    store,
    unlike.map(({ row }) => row),
  );
  return unlike.flatMap(({ row, post, isReused, score }) => {
    const isOther =
      isOlder(row, post) ||
      isForeign(row, post) ||
      isElsewhere(row) ||
      (isOfAnotherRow(store, row, post) && !couldBeRewriting(row, comparable(post))) ||
      (isReused && score < INCOMPARABLE);
    if (!isOther) return [];
    const change = { ...displaced(now, post.id), candidates: [post.id] };
    return store.move(row.id, TRANSITIONS.displace, change) ?? [];
  });
}

/** Somebody has changed its words since: it is the row's all the same. */
function hadWordsOf(store: OutboxStore, row: OutboxRow, { id }: MirroredPost): boolean {
  const sent = comparable(row);
  return store.textsOf(id).some((text) => similarity(sent, comparable(text)) >= CLEARLY_SIMILAR);
}

/** It says of itself that it was there before the row was sent, by more than any clock or time zone explains. */
function isOlder(row: OutboxRow, post: MirroredPost): boolean {
  const seen = fromMirror(post);
  return seen.madeBy !== null && !isTimely({ sentAt: sentAt(row) }, seen);
}

function isOfAnotherRow(store: OutboxStore, row: OutboxRow, post: MirroredPost): boolean {
  return store.sentAlike({ id: row.id, content_hash: hashOf(post) }) !== null;
}

function hashOf({ board_slug: board, title, content }: MirroredPost): string {
  return contentHash({ board, title, content });
}

/** The very words of these rows, in posts that came since and confirm no row. */
function wordsElsewhere(store: OutboxStore, rows: readonly OutboxRow[]): (row: OutboxRow) => boolean {
  const hashes = new Set(postsSince(store, rows).map(hashOf));
  return (row) => hashes.has(contentHash(row));
}

function postsSince(store: OutboxStore, rows: readonly OutboxRow[]): MirroredPost[] {
  const known = rows.map(({ known_max_id }) => known_max_id);
  const knownMaxId = known.includes(null) ? null : Math.min(...known.map(Number));
  return store.postsSince({ knownMaxId, created: Math.min(...rows.map(sentAt)) });
}

/**
 * Posts that show the very words and the author of a row's own post, whatever the service has made of the row's words: a second request
 * went through the same hands. Where one of the same person is still looked for, it may be that one's.
 */
function shownTwins(store: OutboxStore, rows: readonly OutboxRow[]): (row: OutboxRow) => ScoredPost[] {
  const keyOf = (post: MirroredPost): string => `${post.creator_id} ${hashOf(post)}`;
  const posts = Map.groupBy(postsSince(store, rows), keyOf);
  const open = new Set(store.claimants().flatMap((row) => (isResting(row) ? [] : [row.email])));
  return (row) => {
    const own = row.post_id === null ? null : store.postOf(row.post_id);
    if (!own || hashOf(own) === contentHash(row) || open.has(row.email)) return [];
    const twins = (posts.get(keyOf(own)) ?? []).filter((post) => isSince(row, post));
    return twins.length === 0 || store.isShownAlike(own.id)
      ? []
      : twins.map((post) => ({ ...fromMirror(post), score: 1 }));
  };
}

function isSince({ known_max_id, first_sent_at, baseline }: OutboxRow, post: MirroredPost): boolean {
  if (baseline.includes(post.id)) return false;
  return (known_max_id !== null && post.id > known_max_id) || post.first_seen_at >= (first_sent_at ?? '');
}

/**
 * By what the posts show that are clearly ours. Where there are none, a service may rewrite all it is given: whoever stands on another
 * post of ours as well, or is of the team, may be the owner of the token.
 */
function foreignCheck(store: OutboxStore, unlike: readonly number[]) {
  const sent = store.sentAuthors();
  const authors = learnAuthors(sent.filter(({ post_id }) => !unlike.includes(post_id)));
  const onOurs = (creator: number): number => sent.filter(({ creator_id }) => creator_id === creator).length;
  return (row: OutboxRow, post: MirroredPost): boolean => {
    const { creator_id, creator_email: shown } = post;
    const known = row.email === null ? undefined : authors.accounts.get(emailKey(row.email));
    // Where customers are shown with their addresses, one without is none of them.
    if (row.email !== null && !shown && authors.showsCustomers) return !known?.has(creator_id);
    if (isSentAs(row, fromMirror(post), authors)) return false;
    if (known || isAnothers(creator_id, row.email, authors)) return true;
    return authors.owners.size > 0 || authors.showsCustomers || !shown || onOurs(creator_id) < 2;
  };
}

interface Found {
  duplicate: number | null;
  candidates: number[];
}

/** What this check adds to the row; null when it is nothing. A confirmed row has its post: any other is one too many. */
function foundOn(
  { store, authors }: { store: OutboxStore; authors: Authors },
  row: OutboxRow,
  left: readonly ScoredPost[],
): Found | null {
  const known = row.candidates.filter((id) => id !== row.post_id);
  // A person who chose one of several has said which post is the row's, not that the others are somebody else's.
  const isTold = row.state !== 'confirmed' || row.duplicate_of !== null;
  const fresh: ScoredPost[] = [];
  for (const post of left) {
    const isKnown =
      post.id === row.duplicate_of ||
      post.id === row.post_id ||
      (known.includes(post.id) && (isTold || post.score < CLEARLY_SIMILAR));
    if (!isKnown && isWorthShowing(row, post, authors) && !store.isShownElsewhere(post.id, row))
      fresh.push(post);
  }
  if (fresh.length === 0) return null;
  const candidates = [...new Set([...known, ...fresh.map(({ id }) => id).sort((a, b) => a - b)])];
  const isFresh = new Set(fresh.map(({ id }) => id));
  const isClear = new Set(left.filter((post) => isClearlyOf(row, post, authors)).map(({ id }) => id));
  // Of an uncertain row one may be its own.
  const second =
    row.state === 'confirmed'
      ? candidates.find((id) => isClear.has(id) && isFresh.has(id))
      : candidates.filter((id) => isClear.has(id))[1];
  return { duplicate: second ?? null, candidates };
}

/** Nearly the words of the row, in the name of another person, are a wish of that person: "Connect Slack", "Connect Teams". */
function isClearlyOf(row: OutboxRow, post: ScoredPost, authors: Authors): boolean {
  if (post.score < CLEARLY_SIMILAR) return false;
  return post.score === 1 || isSentAs(row, post, authors) || couldBeRewriting(row, comparable(post));
}

/** A confirmed row that went out once made one post: another one is its own only if it is like it and as young. */
function isWorthShowing(row: OutboxRow, post: ScoredPost, authors: Authors): boolean {
  return (
    row.state !== 'confirmed' ||
    row.attempts > 1 ||
    (isClearlyOf(row, post, authors) && isTimely({ sentAt: sentAt(row) }, post))
  );
}
