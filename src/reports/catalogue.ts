import type { Column, ColumnKind, ReportFlag } from './report.ts';

export interface Definition {
  /** What it answers, in one line. */
  answers: string;
  takes: readonly ReportFlag[];
  columns: readonly Column[];
  /** Its file in sql/, for one that needs no sums over everything there is. */
  sql?: string;
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

const column = (name: string, kind: ColumnKind, bar?: 'bar'): Column =>
  bar ? { name, kind, bar: true } : { name, kind };
const text = (name: string): Column => column(name, 'text');
const count = (name: string, bar?: 'bar'): Column => column(name, 'integer', bar);
const share = (name: string, bar?: 'bar'): Column => column(name, 'percent', bar);
const span = (name: string, bar?: 'bar'): Column => column(name, 'duration', bar);
const post = (name = 'post'): Column => column(name, 'post');
const POST_TEXTS = [text('status'), text('board'), column('created', 'date'), text('title')];
/** Set where a week lies in the period only in part. */
const PARTIAL = column('partial', 'remark');
const GAINED = [post(), count('gained', 'bar'), count('votes')];

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
    columns: [text('what'), count('total'), count('recent'), count('prior'), share('change')],
    since: { days: 7 },
    history: true,
    boardNote: THEN,
  },
  'top-posts': {
    answers: 'Which posts have the most votes?',
    takes: BY_VOTES,
    columns: [post(), count('votes', 'bar'), count('same'), count('comments'), ...POST_TEXTS],
  },
  'gaining-posts': {
    answers: 'Which posts gained the most votes in a period?',
    takes: POSTS,
    columns: [...GAINED, column('a_day', 'decimal'), column('a_day_before', 'decimal'), ...POST_TEXTS],
    since: { days: 30 },
    history: true,
    rank: 'gained',
    boardNote: MOVED,
  },
  climbers: {
    answers: 'Which posts gather votes faster than before?',
    takes: POSTS,
    columns: [...GAINED, column('a_day', 'decimal'), column('a_day_before', 'decimal'), ...POST_TEXTS],
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
    columns: [column('week', 'date'), count('votes'), count('gained', 'bar'), PARTIAL],
    since: { weeks: 12 },
    history: true,
    notes: ['A vote counts when the mirror saw it.'],
    boardNote: THEN,
  },
  'post-votes': {
    answers: 'How did the votes and the status of one post change? (--post)',
    takes: ['post', 'since', 'until'],
    columns: [column('at', 'time'), count('votes', 'bar'), count('change'), text('status')],
    sql: 'post-votes',
  },
  'new-by-week': {
    answers: 'How many posts and comments are new each week, by board?',
    takes: PERIOD,
    columns: [
      column('week', 'date'),
      text('board'),
      count('posts', 'bar'),
      count('comments', 'bar'),
      PARTIAL,
    ],
    since: { weeks: 8 },
    notes: [
      'Comments are those that the mirror has; without a board, they are on posts that it does not have.',
    ],
  },
  funnel: {
    answers: 'How many posts are in each status, and how many ever reached it?',
    takes: ['board'],
    columns: [
      text('status'),
      count('posts', 'bar'),
      count('votes'),
      share('share'),
      count('ever', 'bar'),
      share('ever_share'),
    ],
    history: true,
  },
  'time-in-status': {
    answers: 'How long do posts stay in each status?',
    takes: PERIOD,
    columns: [
      text('status'),
      count('stays'),
      span('median', 'bar'),
      span('p90'),
      count('now_in_it'),
      span('median_so_far'),
    ],
    history: true,
    notes: [
      'A stay counts when it ended in the period and its beginning was seen; the last two columns are about posts still in the status.',
    ],
  },
  delivered: {
    answers: 'Which share of the votes is on posts that were delivered?',
    takes: [...PERIOD, 'delivered'],
    columns: [
      text('board'),
      count('posts'),
      count('delivered_posts'),
      count('votes'),
      count('delivered_votes'),
      share('share', 'bar'),
    ],
    sets: 'delivered',
  },
  'first-reply': {
    answers: 'How long do customers wait for the first reply of the team, by the week they wrote?',
    takes: [...PERIOD, 'status'],
    columns: [
      column('week', 'date'),
      count('posts'),
      count('answered'),
      share('share'),
      span('median', 'bar'),
      span('p90'),
      PARTIAL,
    ],
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
    columns: [
      post(),
      count('votes', 'bar'),
      count('same'),
      span('waiting'),
      count('comments'),
      text('status'),
      text('board'),
      text('title'),
    ],
    sets: 'finished',
    notes: [CUSTOMERS_POSTS, REPLY],
  },
  stale: {
    answers: 'On which open posts has nothing happened for long?',
    takes: ['board', 'status', 'since', 'limit', 'same', 'delivered'],
    columns: [
      post(),
      count('votes', 'bar'),
      count('same'),
      column('last_activity', 'date'),
      text('status'),
      text('board'),
      text('title'),
    ],
    since: { days: 90 },
    sets: 'finished',
    notes: ['Nothing: no comment, vote, edit or new status since the date of --since.'],
  },
  customers: {
    answers: 'Which customers write the most?',
    takes: LIST,
    columns: [
      text('customer'),
      text('email'),
      count('posts'),
      count('comments'),
      count('wrote', 'bar'),
      column('last_active', 'date'),
    ],
    since: { days: 90 },
    notes: [NAMELESS],
  },
  requests: {
    answers: 'Which customers asked for what many others want?',
    takes: [...POSTS, 'delivered'],
    columns: [
      text('customer'),
      text('email'),
      count('posts'),
      count('votes', 'bar'),
      count('delivered'),
      post('top_post'),
      text('top_title'),
    ],
    since: { days: 365 },
    sets: 'delivered',
    notes: [NAMELESS],
  },
  segments: {
    answers: 'Who speaks: the customers of a file by plan, company or any other column? (--segments)',
    takes: [...LIST, 'segments'],
    columns: [
      text('segment'),
      count('customers'),
      count('found'),
      count('heard'),
      column('amount', 'money', 'bar'),
      count('posts'),
      count('comments'),
      count('votes'),
    ],
    notes: [NAMELESS],
  },
  demand: {
    answers: 'Which posts do the customers of a file want, by money or by head? (--segments)',
    takes: [...POSTS, 'segments'],
    columns: [
      post(),
      count('customers', 'bar'),
      column('amount', 'money', 'bar'),
      text('segments'),
      count('votes'),
      text('status'),
      text('board'),
      text('title'),
    ],
    notes: [NAMELESS],
  },
  boards: {
    answers: 'How do the boards compare?',
    takes: ['since', 'until', 'delivered'],
    columns: [
      text('board'),
      count('posts'),
      count('votes', 'bar'),
      column('votes_a_post', 'decimal'),
      share('vote_share'),
      count('comments'),
      share('answered'),
      share('delivered'),
      column('new_posts', 'trend'),
    ],
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
    columns: [
      share('likeness', 'bar'),
      post(),
      text('title'),
      post('other'),
      text('other_title'),
      count('other_votes'),
      text('other_status'),
    ],
    sql: 'duplicate-scope',
  },
  'sync-health': {
    answers: 'Does the mirror keep up?',
    takes: ['since', 'until'],
    sql: 'sync-health',
    columns: [
      text('list'),
      text('pass'),
      count('passes', 'bar'),
      count('complete'),
      count('cut_short'),
      span('median_time'),
      span('last_complete'),
      count('added'),
      count('changed'),
      count('deleted'),
      count('quarantined'),
    ],
    since: { days: 7 },
  },
} as const satisfies Record<string, Definition>;

export type ReportName = keyof typeof REPORTS;
export const REPORT_NAMES = Object.keys(REPORTS) as ReportName[];
