import type { Clock } from '../../base/clock.ts';
import { TRANSITIONS } from '../decide/states.ts';
import type { OutboxRow } from '../decide/types.ts';
import { authorOf, foldedOf, learnPeople, type ShownPost, textOf } from '../decide/whose.ts';
import type { OutboxStore } from '../store/store.ts';
import { ask, factReader, moveRow } from './reconcile.ts';
import { nothingListed } from './window.ts';

/** A post is looked at again while a row is unclear that was sent before it came, but no longer than this. */
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
  const times = [sweepStartedAt, ...rows.flatMap(({ first_sent_at }) => first_sent_at ?? [])];
  store.checked({ sweepStartedAt, now, until: Math.min(...times.map((time) => Date.parse(time))) });
  const isSwept = ({ firstSeenAt }: ShownPost): boolean => firstSeenAt !== null && firstSeenAt >= since;
  const swept = store.postsSince({ sentAt: since, known_max_id: null }).filter(isSwept);
  const { verdicts, seconds } = ask(store, now, rows, nothingListed(), swept);
  const told: number[] = [];
  for (const row of rows.filter(({ state }) => state === 'uncertain')) {
    const verdict = verdicts.get(row.id);
    if (verdict && moveRow(store, row, verdict, { now }) && verdict.kind === 'uncertain') told.push(row.id);
  }
  for (const [id, posts] of seconds) if (store.noteSeconds({ id, posts, now })) told.push(id);
  return [...displaced, ...told.flatMap((id) => store.find(id) ?? [])];
}

/** A service may answer with the id of another person's post, or give the id of a lost post to another post. */
function displaceForeign(store: OutboxStore, now: number): OutboxRow[] {
  const facts = factReader(store, now, nothingListed());
  const doubtful = store.doubtfulRows().map(({ row, post }) => ({ row: facts(row), post }));
  const far = doubtful.filter(({ row, post }) => textOf(foldedOf(row), foldedOf(post)) === 'far');
  const isFar = new Set(far.map(({ post }) => post.id));
  const people = learnPeople(store.sentAuthors().filter(({ post_id }) => !isFar.has(post_id)));
  const foreign = far.filter(({ row, post }) => authorOf(row, post, people) === 'other');
  return foreign.flatMap(({ row, post }) => {
    const error = `the service shows another post under the number of this one, ${post.id}`;
    const change = { wasAmbiguous: true as const, candidates: [post.id] };
    return store.move(row.id, TRANSITIONS.displace, { now, notBefore: null, error, ...change }) ?? [];
  });
}
