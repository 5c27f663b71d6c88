import type { OutboxRow } from '../../src/outbox/decide/types.ts';
import type { OutboxStore } from '../../src/outbox/store/store.ts';
import type { Asked, LedgerLine } from './simulated-upstream.ts';

/** What the upstream's ledger says about the outbox. Each list names rows or posts, so that a failure can be looked into. */
export interface Verdict {
  rows: number;
  confirmed: number;
  rejected: number;
  uncertain: number;
  /** Why rows are uncertain, each reason with its rows. */
  reasons: Record<string, string[]>;
  /** How many of them there are for each thing that the service did to the posts that they are shown; `nothing` where it changed none. */
  rewritings: Record<string, number>;
  attempts: number;
  wereAmbiguous: number;
  /** Rows that were once ambiguous and whose post the service rewrote, and how many of those no person had to see. */
  rewritten: number;
  rewrittenConfirmed: number;
  /** Rows that never arrived although nobody said so. */
  lost: string[];
  /** Posts nobody asked for a second time, and those of them that no row shows. */
  doubled: number[];
  silent: number[];
  /** Rows bound to a post of other content. */
  misbound: string[];
  /** Rows that say they left a second post, which is not there. */
  falselyAccused: string[];
  unfinished: string[];
}

export async function judge(store: OutboxStore, ledger: readonly LedgerLine[]): Promise<Verdict> {
  const rows = await allRows(store);
  const posts = new Map(ledger.map((line) => [line.id, line]));
  const confirmed = rows.filter((row) => row.state === 'confirmed');
  const bound = new Set(confirmed.map((row) => row.post_id));
  const shown = new Set(rows.flatMap((row) => [row.duplicate_of, ...row.candidates]));
  const doubled = doubledPosts(rows, ledger, bound);
  const changed = new Set(ledger.filter(({ manner }) => manner !== null).map(({ asked }) => kind(asked)));
  const rewritten = rows.filter((row) => row.was_ambiguous && changed.has(kind(row)));
  const names = (list: OutboxRow[]): string[] => list.map((row) => row.source_key);
  return {
    rows: rows.length,
    confirmed: confirmed.length,
    rejected: count(rows, 'rejected'),
    uncertain: count(rows, 'uncertain'),
    reasons: reasonsOf(rows),
    rewritings: rewritingsOf(rows, ledger),
    attempts: rows.reduce((sum, row) => sum + row.attempts, 0),
    wereAmbiguous: rows.filter((row) => row.was_ambiguous).length,
    rewritten: rewritten.length,
    rewrittenConfirmed: rewritten.filter((row) => row.state === 'confirmed').length,
    lost: names(confirmed.filter((row) => !posts.has(row.post_id ?? 0))),
    doubled,
    silent: doubled.filter((id) => !shown.has(id)),
    misbound: names(confirmed.filter((row) => kind(row) !== kind(posts.get(row.post_id ?? 0)?.asked))),
    falselyAccused: names(rows.filter((row) => row.duplicate_of !== null && bound.has(row.duplicate_of))),
    unfinished: names(rows.filter((row) => ['ready', 'sending', 'ambiguous'].includes(row.state))),
  };
}

/** Of each kind there may be as many posts as rows that asked for one: the posts beyond that are too many. */
function doubledPosts(rows: OutboxRow[], ledger: readonly LedgerLine[], bound: Set<number | null>): number[] {
  const wanted = new Map<string, number>();
  for (const row of rows)
    if (row.state === 'uncertain') wanted.set(kind(row), (wanted.get(kind(row)) ?? 0) + 1);
  const kinds = new Set(rows.map(kind));
  return ledger.flatMap(({ id, asked }) => {
    if (bound.has(id) || !kinds.has(kind(asked))) return [];
    const left = wanted.get(kind(asked)) ?? 0;
    wanted.set(kind(asked), left - 1);
    return left > 0 ? [] : [id];
  });
}

/** Posts of one kind cannot be told apart. */
function kind(text: Asked | OutboxRow | undefined): string {
  return text
    ? JSON.stringify([text.board, text.title, text.content, text.email?.toLowerCase() ?? null])
    : '';
}

function reasonsOf(rows: OutboxRow[]): Record<string, string[]> {
  const uncertain = rows.filter((row) => row.state === 'uncertain');
  const reasons = Map.groupBy(uncertain, (row) => row.last_error ?? '');
  return Object.fromEntries(
    [...reasons].map(([reason, list]) => [reason, list.map((row) => row.source_key)]),
  );
}

/** By the posts that each row is shown. */
function rewritingsOf(rows: readonly OutboxRow[], ledger: readonly LedgerLine[]): Record<string, number> {
  const manners = new Map(ledger.map(({ id, manner }) => [id, manner]));
  const counts: Record<string, number> = {};
  for (const row of rows.filter(({ state }) => state === 'uncertain')) {
    const manner = row.candidates.map((id) => manners.get(id)).find((each) => each) ?? 'nothing';
    counts[manner] = (counts[manner] ?? 0) + 1;
  }
  return counts;
}

function count(rows: OutboxRow[], state: OutboxRow['state']): number {
  return rows.filter((row) => row.state === state).length;
}

async function allRows(store: OutboxStore): Promise<OutboxRow[]> {
  const rows: OutboxRow[] = [];
  for (;;) {
    const page = await store.list({ after: rows.at(-1)?.id ?? 0, limit: 1000 });
    if (page.length === 0) return rows;
    rows.push(...page);
  }
}
