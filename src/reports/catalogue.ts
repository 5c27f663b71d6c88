import type { Column, ColumnKind, ReportFlag } from './report.ts';

export interface Definition {
  /** What it answers, in one line. */
  answers: string;
  takes: readonly ReportFlag[];
  columns: readonly Column[];
  /** What posts are ranked by: votes gained, or how much faster they come than before. */
  rank?: 'gained' | 'pace';
  /** The beginning of its period unless told: so many days ago, or the Monday so many weeks ago; otherwise everything. */
  since?: { days: number } | { weeks: number };
  /** It tells about changes, which only a mirror that was watching can know. */
  history?: true;
  /** Which statuses it sets apart: those that deliver, or all that end a post's way. */
  sets?: 'delivered' | 'finished';
  notes?: readonly string[];
  /** What else is to be known where only one board is asked for. */
  boardNote?: string;
}

/** What a column of that name holds; any other is a number of things. */
const KINDS: Partial<Record<ColumnKind, string>> = {
  text: 'what status board title customer email top_title segment segments other_title other_status list pass',
  post: 'post top_post other',
  date: 'created week last_activity last_active',
  decimal: 'a_day a_day_before votes_a_post',
  remark: 'partial',
  time: 'at',
  percent: 'share ever_share vote_share likeness',
  duration: 'median p90 median_so_far waiting median_time last_complete',
  money: 'amount',
  trend: 'new_posts',
};
const KIND_OF = new Map(
  Object.entries(KINDS).flatMap(([kind, names]) =>
    names.split(' ').map((name) => [name, kind as ColumnKind]),
  ),
);

/** Columns by their names, in order: `votes:bar` has a bar beside it, `change:percent` is of another kind than its name says. */
function columns(names: string): Column[] {
  return names.split(/\s+/).map((each) => {
    const [name = '', ...more] = each.split(':');
    const own = more.find((word) => word !== 'bar') as ColumnKind | undefined;
    const kind = own ?? KIND_OF.get(name) ?? 'integer';
    return more.includes('bar') ? { name, kind, bar: true } : { name, kind };
  });
}

const PERIOD = ['board', 'since', 'until'] as const;
const LIST = [...PERIOD, 'limit'] as const;
/** Lists of single posts can be narrowed down to those in some statuses. */
const POSTS = [...LIST, 'status'] as const;
/** Those in order of votes can count posts that are the same together. */
const BY_VOTES = [...POSTS, 'same'] as const;
const CUSTOMERS_POSTS = 'Only posts of customers are counted.';
/** In words what the view team_replies says in SQL. */
const REPLY = 'A reply is a comment of kind "reply" by the team or an admin that is not internal.';
const MOVED = 'A post that moved to another board counts, with its whole past, on the board it is on now.';
const THEN = 'Votes count for the board that their post was on when the mirror saw them.';
const NAMELESS =
  'Votes carry no names in this API: a customer is known by the posts and comments they wrote.';

/** Every report, in the order of the list. */
export const REPORTS = {
  overview: {
    answers: 'How much is there, and is it becoming more or less?',
    takes: ['board', 'since'],
    columns: columns('what total recent prior change:percent'),
    since: { days: 7 },
    history: true,
    boardNote: THEN,
  },
  'top-posts': {
    answers: 'Which posts have the most votes?',
    takes: BY_VOTES,
    columns: columns('post votes:bar same comments status board created title'),
  },
  'gaining-posts': {
    answers: 'Which posts gained the most votes in a period?',
    takes: POSTS,
    columns: columns('post gained:bar votes a_day a_day_before status board created title'),
    since: { days: 30 },
    history: true,
    rank: 'gained',
    boardNote: MOVED,
  },
  climbers: {
    answers: 'Which posts gather votes faster than before?',
    takes: POSTS,
    columns: columns('post gained:bar votes a_day a_day_before status board created title'),
    since: { days: 14 },
    history: true,
    rank: 'pace',
    notes: [
      'In order of votes a day in the period, less votes a day in the life before it; a younger post is counted from its first day.',
    ],
    boardNote: MOVED,
  },
  votes: {
    answers: 'How do the votes grow, week by week?',
    takes: PERIOD,
    columns: columns('week votes gained:bar partial'),
    since: { weeks: 12 },
    history: true,
    notes: ['A vote counts when the mirror saw it.'],
    boardNote: THEN,
  },
  'post-votes': {
    answers: 'How did the votes and the status of one post change? (--post)',
    takes: ['post', 'since', 'until'],
    columns: columns('at votes:bar change status'),
  },
  'new-by-week': {
    answers: 'How many posts and comments are new each week, by board?',
    takes: PERIOD,
    columns: columns('week board posts:bar comments:bar partial'),
    since: { weeks: 8 },
    notes: [
      'Comments are those that the mirror has; without a board, they are on posts that it does not have.',
    ],
  },
  funnel: {
    answers: 'How many posts are in each status, and how many ever reached it?',
    takes: ['board'],
    columns: columns('status posts:bar votes share ever:bar ever_share'),
    history: true,
  },
  'time-in-status': {
    answers: 'How long do posts stay in each status?',
    takes: PERIOD,
    columns: columns('status stays median:bar p90 now_in_it median_so_far'),
    history: true,
    notes: [
      'A stay counts when it ended in the period and its beginning was seen; the last two columns are about posts still in the status.',
    ],
  },
  delivered: {
    answers: 'Which share of the votes is on posts that were delivered?',
    takes: [...PERIOD, 'delivered'],
    columns: columns('board posts delivered_posts votes delivered_votes share:bar'),
    sets: 'delivered',
  },
  'first-reply': {
    answers: 'How long do customers wait for the first reply of the team, by the week they wrote?',
    takes: [...PERIOD, 'status'],
    columns: columns('week posts answered share median:bar p90 partial'),
    since: { weeks: 12 },
    notes: [
      CUSTOMERS_POSTS,
      REPLY,
      'Median and 90th percentile (p90) are of the posts that have been answered.',
    ],
  },
  unanswered: {
    answers: 'Which open posts of customers has the team not replied to?',
    takes: [...BY_VOTES, 'delivered'],
    columns: columns('post votes:bar same waiting comments status board title'),
    sets: 'finished',
    notes: [CUSTOMERS_POSTS, REPLY],
  },
  stale: {
    answers: 'On which open posts has nothing happened for long?',
    takes: ['board', 'status', 'since', 'limit', 'same', 'delivered'],
    columns: columns('post votes:bar same last_activity status board title'),
    since: { days: 90 },
    sets: 'finished',
    notes: ['Nothing: no comment, vote, edit or new status since the date of --since.'],
  },
  customers: {
    answers: 'Which customers write the most?',
    takes: LIST,
    columns: columns('customer email posts comments wrote:bar last_active'),
    since: { days: 90 },
    notes: [NAMELESS],
  },
  requests: {
    answers: 'Which customers asked for what many others want?',
    takes: [...POSTS, 'delivered'],
    columns: columns('customer email posts votes:bar delivered top_post top_title'),
    since: { days: 365 },
    sets: 'delivered',
    notes: [NAMELESS],
  },
  segments: {
    answers: 'Who speaks: the customers of a file by plan, company or any other column? (--segments)',
    takes: [...LIST, 'segments'],
    columns: columns('segment customers found heard amount:bar posts comments votes'),
    notes: [NAMELESS],
  },
  demand: {
    answers: 'Which posts do the customers of a file want, by money or by head? (--segments)',
    takes: [...POSTS, 'segments'],
    columns: columns('post customers:bar amount:bar segments votes status board title'),
    notes: [NAMELESS],
  },
  boards: {
    answers: 'How do the boards compare?',
    takes: ['since', 'until', 'delivered'],
    columns: columns(
      'board posts votes:bar votes_a_post vote_share comments answered:percent delivered:percent new_posts',
    ),
    since: { weeks: 12 },
    sets: 'delivered',
    notes: [
      'The period is that of new_posts, a number a week; the other columns count everything.',
      `answered is the share of the posts of customers that have a reply. ${REPLY}`,
      'comments is what the upstream counts on its posts.',
    ],
  },
  duplicates: {
    answers: 'Which posts may ask for the same?',
    takes: POSTS,
    columns: columns('likeness:bar post title other other_title other_votes other_status'),
  },
  'sync-health': {
    answers: 'Does the mirror keep up?',
    takes: ['since', 'until'],
    columns: columns(
      'list pass passes:bar complete cut_short median_time last_complete added changed deleted quarantined',
    ),
    since: { days: 7 },
  },
} as const satisfies Record<string, Definition>;

export type ReportName = keyof typeof REPORTS;
export const REPORT_NAMES = Object.keys(REPORTS) as ReportName[];
