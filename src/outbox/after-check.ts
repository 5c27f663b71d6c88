import { type Clock, iso } from '../base/clock.ts';
import type { OutboxStore } from '../store/outbox/store.ts';
import type { OutboxRow } from '../store/outbox/types.ts';
import { SWEEP_CHECKS, TRANSITIONS } from './decide/states.ts';
import { authorOf, foldedOf, learnPeople, textOf } from './decide/whose.ts';
import { ask, factReader } from './reconcile.ts';
import { fromMirror } from './window.ts';

/** Posts are looked at for as long as a row that they are possible for is unclear, and no longer than this. */
const LONGEST_MS = 7 * 24 * 3_600_000;

/**
 * After a complete sweep of the posts. A new and free post with the words of a sent row is shown on that row as its second one: a proxy may
 * have repeated the request, or an unclear attempt left it. A row that waits for a person is confirmed where its post has turned up. A row
 * whose post is clearly somebody else's waits for a person. Returns the rows of which there is something new to tell.
 */
export function checkAfterSweep(store: OutboxStore, clock: Clock, sweepStartedAt: string): OutboxRow[] {
  const now = clock.now();
  const displaced = displaceForeign(store, now);
  const rows = store.unclear();
  const from = Math.max(now - LONGEST_MS, Math.min(store.checkedUntil() ?? 0, Date.parse(sweepStartedAt)));
  const underWay = rows.map(({ first_sent_at }) => Date.parse(first_sent_at ?? iso(now)));
  store.checked({
    sweepStartedAt,
    now,
    until: Math.min(Date.parse(sweepStartedAt), ...underWay.slice(0, 1000)),
  });
  const { verdicts, seconds } = ask(store, now, { since: from }, rows);
  const changed = new Set<number>();
  for (const row of rows.filter(({ state }) => state === 'uncertain')) {
    const verdict = verdicts.get(row.id);
    if (verdict?.kind === 'confirmed') {
      const { post, how } = verdict;
      const outcome = { postId: post.id, url: post.url, matched: how, error: null, checksLeft: SWEEP_CHECKS };
      store.move(row.id, TRANSITIONS.found, { now, ...outcome });
    } else if (
      verdict?.kind === 'uncertain' &&
      store.noteCandidates({ id: row.id, posts: idsOf(verdict.posts), now })
    )
      changed.add(row.id);
  }
  for (const [id, posts] of seconds) if (store.noteSeconds({ id, posts: idsOf(posts), now })) changed.add(id);
  return [...displaced, ...[...changed].flatMap((id) => store.find(id) ?? [])];
}

function idsOf(posts: readonly { id: number }[]): number[] {
  return posts.map(({ id }) => id).filter((id) => id >= 0);
}

/** A service may answer with the number of somebody else's post, or give the number of a lost post to another one. */
function displaceForeign(store: OutboxStore, now: number): OutboxRow[] {
  const facts = factReader(store, now);
  const doubtful = store
    .doubtfulRows()
    .map(({ row, post }) => ({ row, sent: facts(row), post: fromMirror(post) }));
  const far = doubtful.filter(({ sent, post }) => textOf(foldedOf(sent), foldedOf(post)) === 'far');
  if (far.length === 0) return [];
  const isFar = new Set(far.map(({ post }) => post.id));
  const people = learnPeople(store.sentAuthors().filter(({ post_id }) => !isFar.has(post_id)));
  return far.flatMap(({ row, sent, post }) => {
    if (authorOf(sent, post, people) !== 'other') return [];
    const error = `the service shows another post under the number of this one, ${post.id}`;
    const change = {
      now,
      notBefore: null,
      error,
      checksLeft: SWEEP_CHECKS,
      wasAmbiguous: true as const,
      candidates: [post.id],
    };
    return store.move(row.id, TRANSITIONS.displace, change) ?? [];
  });
}
