import type { Clock } from '../base/clock.ts';
import type { OutboxStore } from '../store/outbox/store.ts';
import type { MirroredPost, OutboxRow, SentAuthor } from '../store/outbox/types.ts';
import { contentHash, mailbox } from './match.ts';
import { CLEARLY_SIMILAR, comparable, INCOMPARABLE, similarity } from './similarity.ts';
import { displacedBy, SWEEP_CHECKS, TRANSITIONS } from './states.ts';
import { isTimely, type ScoredPost, sentAt } from './unaccounted.ts';
import { askAboutSettled } from './window.ts';

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
  for (const row of rows) {
    const found = foundOn(store, row, left.get(row.id) ?? []);
    const waited = Date.parse(sweepStartedAt) - Date.parse(row.changed_at);
    const counts = row.checks_left > 1 || waited >= BETWEEN_CHECKS_MS || waited < 0;
    if (!counts && !found) continue;
    store.checked({ id: row.id, now, counts, duplicate: null, candidates: null, ...found });
    if (found) told.push({ ...row, ...found, duplicate_of: row.duplicate_of ?? found.duplicate });
  }
  return told;
}

/**
 * A service may answer with the number of somebody else's post, that of an earlier one with the same title for example, or take ours back
 * and give its number to another; a gateway may mix up the answers to two rows. Where the author is another and the words are
 * not clearly ours, or the words have nothing in common and are those of another row, or the number had another post before, the row has
 * no post that anybody has seen.
 */
function displaceForeign(store: OutboxStore, now: number): OutboxRow[] {
  const sent = store.sentAuthors();
  return store.doubtfulRows().flatMap(({ row, post, isReused }) => {
    const score = similarity(comparable(row), comparable(post));
    const isOther = isForeign(row, post, sent)
      ? score < CLEARLY_SIMILAR
      : score <= INCOMPARABLE && (isOfAnotherRow(store, row, post) || (isReused && score < INCOMPARABLE));
    if (!isOther) return [];
    const change = { now, notBefore: null, error: displacedBy(row.post_id), checksLeft: SWEEP_CHECKS };
    return store.move(row.id, TRANSITIONS.displace, change) ?? [];
  });
}

function isOfAnotherRow(store: OutboxStore, row: OutboxRow, post: MirroredPost): boolean {
  const { board_slug: board, title, content } = post;
  return store.sentAlike({ id: row.id, content_hash: contentHash({ board, title, content }) }) !== null;
}

/** By its address. Who stands on another post of ours as well may be the owner of the token. */
function isForeign(row: OutboxRow, post: MirroredPost, sent: readonly SentAuthor[]): boolean {
  const { creator_email: shown, creator_id } = post;
  if (!shown || (row.email !== null && mailbox(shown) === mailbox(row.email))) return false;
  const isOnOthers = sent.filter((author) => author.creator_id === creator_id).length > 1;
  return post.is_team === 0 && !isOnOthers;
}

interface Found {
  duplicate: number | null;
  candidates: number[];
}

/** What this check adds to the row; null when it is nothing. A confirmed row has its post: any other is one too many. */
function foundOn(store: OutboxStore, row: OutboxRow, left: readonly ScoredPost[]): Found | null {
  const known = row.candidates.filter((id) => id !== row.post_id);
  // A person who chose one of several has said which post is the row's, not that the others are somebody else's.
  const isTold = row.state !== 'confirmed' || row.duplicate_of !== null;
  const fresh: ScoredPost[] = [];
  for (const post of left) {
    const isKnown =
      post.id === row.duplicate_of ||
      post.id === row.post_id ||
      (known.includes(post.id) && (isTold || post.score < CLEARLY_SIMILAR));
    if (!isKnown && isWorthShowing(row, post) && !store.isShownElsewhere(post.id, row)) fresh.push(post);
  }
  if (fresh.length === 0) return null;
  const candidates = [...new Set([...known, ...fresh.map(({ id }) => id).sort((a, b) => a - b)])];
  const [clear] = candidates.filter((id) =>
    fresh.some((post) => post.id === id && post.score >= CLEARLY_SIMILAR),
  );
  const second = row.state === 'confirmed' ? clear : candidates[1];
  return { duplicate: clear === undefined ? null : (second ?? null), candidates };
}

/** A confirmed row that went out once made one post: another one is its own only if it is like it and as young. */
function isWorthShowing(row: OutboxRow, post: ScoredPost): boolean {
  return (
    row.state !== 'confirmed' ||
    row.attempts > 1 ||
    (post.score >= CLEARLY_SIMILAR && isTimely({ sentAt: sentAt(row) }, post))
  );
}
