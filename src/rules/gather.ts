import type { Change } from '../changes/change.ts';
import type { ChangeFeed } from '../changes/feed.ts';
import type { Rule } from '../contract/telling.ts';
import type { Db } from '../db/open.ts';
import { scalar } from '../db/sql.ts';
import { GAIN_COLUMNS, gainsIn } from '../reports/gains.ts';
import type { ReportReader } from '../reports/store.ts';
import { segmentReader } from '../segments/filter.ts';
import { peopleOf } from '../segments/people.ts';
import { HISTORY_DAYS, judgeVotes, spreadOverPauses, WINDOW_DAYS } from './decide/unusual.ts';
import type { MessageItem } from './message.ts';

/** What a rule looks at: changes after a position, and the time from one look to the next. */
export interface GatherSpan {
  position: number;
  since: number;
  until: number;
}

export interface Findings {
  items: MessageItem[];
  /** The last change that was looked at. */
  position: number;
}

export interface RuleFacts {
  db: Db;
  feed: ChangeFeed;
  reader: ReportReader;
  /** Boards of which the rule told lately. */
  alarmed(rule: string, since: number): ReadonlySet<number>;
  /** Ids of the statuses after which no reply is expected. */
  finished(): readonly number[];
}

const TYPES: Partial<Record<Rule['what'], readonly string[]>> = {
  'new-posts': ['post.created'],
  status: ['post.status_changed'],
  customer: ['post.created', 'comment.created'],
  trouble: ['sync.failed', 'sync.held', 'outbox.rejected', 'outbox.needs_decision'],
};

/** A message lists so many things at most; what is beyond is in the dashboard. */
const MOST_ITEMS = 500;

/** What there is to tell of since the rule looked last. */
export async function gather(facts: RuleFacts, rule: Rule, span: GatherSpan): Promise<Findings> {
  const types = TYPES[rule.what];
  if (types) return changesFor(facts, rule, types, span);
  const position = span.position;
  if (rule.what === 'unanswered') return { items: unanswered(facts, rule, span), position };
  if (rule.what === 'votes') return { items: await unusualVotes(facts, rule, span), position };
  if (rule.what === 'drift') return { items: drifts(facts, span), position };
  return { items: [], position };
}

function changesFor(
  facts: RuleFacts,
  rule: Rule,
  types: readonly string[],
  { position }: GatherSpan,
): Findings {
  const { feed, db } = facts;
  const isMeant = changeFilter(db, rule);
  const items: MessageItem[] = [];
  let from = position;
  for (let isLast = false; !isLast && items.length < MOST_ITEMS; ) {
    const page = feed.after(String(from), { limit: 500, types, boards: rule.boards ?? undefined });
    items.push(
      ...page.changes.filter(isMeant).map(({ number }): MessageItem => ({ kind: 'change', n: number })),
    );
    from = Number.parseInt(page.next, 10);
    isLast = page.isLast;
  }
  return { items, position: from };
}

function changeFilter(db: Db, { what, statuses, segment }: Rule): (change: Change) => boolean {
  const wanted = statuses?.map((name) => name.toLowerCase());
  if (what === 'status')
    return ({ after }) => !wanted || wanted.includes(String(after?.status).toLowerCase());
  if (what !== 'customer') return () => true;
  const people = new Set(segment === null ? allCustomers(db) : peopleOf(db, segmentReader(db)(segment)));
  return ({ post, comment }) => people.has(Number(comment ? comment.creator_id : post?.creator_id));
}

function allCustomers(db: Db): number[] {
  return scalar(db)<[], number>('SELECT user_id FROM people_segments').all();
}

const DAY_MS = 86_400_000;

/** Boards by name, short name or number; every board where the list is empty. */
const ON_BOARD = `($boards IS NULL OR p.board_id IN (
  SELECT b.id FROM boards b, json_each($boards) j WHERE lower(j.value) IN (lower(b.name), lower(b.slug), CAST(b.id AS TEXT))))`;

const UNANSWERED = `
  SELECT p.id FROM posts p JOIN users u ON u.id = p.creator_id
   WHERE p.created > $since AND p.created <= $until AND p.deleted_at IS NULL AND NOT u.is_team AND NOT u.is_admin
     AND p.status_id NOT IN (SELECT value FROM json_each($finished)) AND ${ON_BOARD}
     AND NOT EXISTS (SELECT 1 FROM team_replies r WHERE r.post_id = p.id)
   ORDER BY p.votes_count DESC, p.id LIMIT ${MOST_ITEMS}`;

/** Posts that became so many days old since the last look, without a reply: each is told once. */
function unanswered(
  { db, finished }: RuleFacts,
  { days, boards }: Rule,
  { since, until }: GatherSpan,
): MessageItem[] {
  const bound = {
    since: new Date(since - days * DAY_MS).toISOString(),
    until: new Date(until - days * DAY_MS).toISOString(),
    finished: JSON.stringify(finished()),
    boards: boards && JSON.stringify(boards),
  };
  return scalar(db)<object, number>(UNANSWERED)
    .all(bound)
    .map((id): MessageItem => ({ kind: 'post', id }));
}

const DAYS = HISTORY_DAYS + WINDOW_DAYS;
/** A board is told of once for a rise: not again within a week. */
const SILENT_DAYS = 7;

async function unusualVotes(
  { db, reader, alarmed }: RuleFacts,
  rule: Rule,
  { until }: GatherSpan,
): Promise<MessageItem[]> {
  const { first, looks } = await reader.watched();
  const begin = until - DAYS * DAY_MS;
  const watchedDays = first === null ? 0 : Math.floor((until - Date.parse(first)) / DAY_MS);
  const dayOf = (at: number): number => Math.floor((at - begin) / DAY_MS);
  const days = new Set(Array.from(looks, dayOf));
  const seen = new Map(boardIds(db, rule.boards).map((id) => [id, new Array<number>(DAYS).fill(0)]));
  const span = { now: until, observed: Date.parse(first ?? ''), from: begin, until };
  const { rows, votes: gained, at, board } = gainsIn(await reader.columns(GAIN_COLUMNS), span);
  for (let n = 0; n < rows; n++) {
    const daily = seen.get(board[n] ?? 0);
    const day = dayOf(at[n] ?? 0);
    if (daily) daily[day] = (daily[day] ?? 0) + (gained[n] ?? 0);
  }
  const silent = alarmed(rule.name, until - SILENT_DAYS * DAY_MS);
  return [...seen].flatMap(([id, all]): MessageItem[] => {
    const daily = spreadOverPauses(all, (day) => days.has(day)).slice(-Math.min(DAYS, watchedDays));
    const { isUnusual, votes, usual } = judgeVotes(watchedDays === 0 ? [] : daily, seen.size);
    if (!isUnusual || silent.has(id)) return [];
    const from = new Date(until - WINDOW_DAYS * DAY_MS).toISOString();
    return [{ kind: 'board', id, votes, usual, from, to: new Date(until).toISOString() }];
  });
}

function boardIds(db: Db, boards: readonly string[] | null): number[] {
  const sql = `SELECT id FROM boards b WHERE $boards IS NULL OR EXISTS (
    SELECT 1 FROM json_each($boards) j WHERE lower(j.value) IN (lower(b.name), lower(b.slug), CAST(b.id AS TEXT))) ORDER BY id`;
  return scalar(db)<object, number>(sql).all({ boards: boards && JSON.stringify(boards) });
}

function drifts({ db }: RuleFacts, { since, until }: GatherSpan): MessageItem[] {
  return scalar(db)<[string, string], number>(
    'SELECT n FROM drifts WHERE since > ? AND since <= ? ORDER BY n',
  )
    .all(new Date(since).toISOString(), new Date(until).toISOString())
    .map((n): MessageItem => ({ kind: 'drift', n }));
}
