import { type Clock, iso } from '../../base/clock.ts';
import { SWEEP_CHECKS, TRANSITIONS } from '../decide/states.ts';
import type { OutboxRow } from '../decide/types.ts';
import { authorOf, foldedOf, learnPeople, textOf } from '../decide/whose.ts';
import type { OutboxStore } from '../store/store.ts';
import { ask, bind, factReader, MOST_CANDIDATES, whyParked } from './reconcile.ts';
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
  const since = Math.max(now - LONGEST_MS, Math.min(store.checkedUntil() ?? 0, Date.parse(sweepStartedAt)));
  const sentFirst = rows.map(({ first_sent_at }) => first_sent_at ?? iso(now)).sort()[0] ?? sweepStartedAt;
  const until = Math.min(Date.parse(sweepStartedAt), Date.parse(sentFirst));
  store.checked({ sweepStartedAt, now, until });
  const { verdicts, seconds } = ask(store, now, { reads: [], since }, rows);
  const changed = [...seconds].filter(([id, posts]) => store.noteSeconds({ id, posts, now }));
  for (const row of rows.filter(({ state }) => state === 'uncertain')) {
    const verdict = verdicts.get(row.id);
    if (verdict?.kind === 'confirmed') bind(store, now, row, verdict);
    if (verdict?.kind !== 'uncertain') continue;
    const posts = verdict.posts.slice(0, MOST_CANDIDATES);
    const error = whyParked(row, verdict.posts);
    if (store.noteCandidates({ id: row.id, posts, now, error })) changed.push([row.id, posts]);
  }
  return [...displaced, ...changed.flatMap(([id]) => store.find(id) ?? [])];
}

/** A service may answer with the id of another person's post, or give the id of a lost post to another post. */
function displaceForeign(store: OutboxStore, now: number): OutboxRow[] {
  const facts = factReader(store, now, []);
  const doubtful = store.doubtfulRows().map(({ row, post }) => ({ row: facts(row), post: fromMirror(post) }));
  const far = doubtful.filter(({ row, post }) => textOf(foldedOf(row), foldedOf(post)) === 'far');
  const isFar = new Set(far.map(({ post }) => post.id));
  const people = learnPeople(store.sentAuthors().filter(({ post_id }) => !isFar.has(post_id)));
  const foreign = far.filter(({ row, post }) => authorOf(row, post, people) === 'other');
  return foreign.flatMap(({ row, post }) => {
    const error = `the service shows another post under the number of this one, ${post.id}`;
    const change = { checksLeft: SWEEP_CHECKS, wasAmbiguous: true as const, candidates: [post.id] };
    return store.move(row.id, TRANSITIONS.displace, { now, notBefore: null, error, ...change }) ?? [];
  });
}
