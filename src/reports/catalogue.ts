import type { ColumnKind, ReportColumn, ReportFlag } from './report.ts';

export interface Definition {
  answers: string;
  /** What the figures count, in one sentence that a person can read out. */
  counts: string;
  takes: readonly ReportFlag[];
  columns: readonly ReportColumn[];
  /** By which columns a row is known again in another period, and which of its figures are set beside those of then. */
  compares?: { key: readonly string[]; columns: readonly string[] };
  /** The beginning of its period unless told: so many days ago, or the Monday so many weeks ago; otherwise everything. */
  since?: { days: number } | { weeks: number };
  /** It tells about changes, which only a mirror that was watching can know. */
  history?: true;
  /** A segment means these people, or all that they wrote; in other reports it means the posts that they wrote. */
  about?: 'people' | 'writing';
  /** Its rows are of the imported customers, grouped by a column of their file. */
  groups?: 'customers';
  /** Which statuses it sets apart: those that deliver, or all that end a post's way. */
  sets?: 'delivered' | 'finished';
  notes?: readonly string[];
  /** What else is to be known where only one board is asked for. */
  boardNote?: string;
}

/** What a column of that name holds; any other is a number of things. */
const KINDS = {
  text: 'what status board title titles post_ids company plan customer email top_title segment segments other_title other_status list pass',
  post: 'post top_post other',
  date: 'created week last_activity last_active',
  decimal: 'a_day a_day_before usual votes_a_post',
  remark: 'partial',
  time: 'at delivered_at',
  percent: 'share ever_share vote_share likeness',
  duration: 'median p90 at_least waiting median_time last_complete',
  money: 'amount',
  trend: 'new_posts',
} satisfies Partial<Record<ColumnKind, string>>;
const KIND_OF = byName(KINDS) as Map<string, ColumnKind>;

/** What the numbers of these columns count; of others it is their name, or the unit of their kind. */
const UNIT_OF = byName({
  votes: 'gained usual votes_deleted delivered_votes other_votes',
  posts: 'delivered_posts answered ever now_in_it ended same',
  customers: 'found heard',
  'votes a day': 'a_day a_day_before',
  'votes a post': 'votes_a_post',
  'posts a week': 'new_posts',
  'posts and comments': 'wrote',
  'in the period before': 'prior',
});
const UNIT_OF_KIND: Partial<Record<ColumnKind, string>> = { duration: 'seconds', percent: 'share' };
const NUMBERS: readonly ColumnKind[] = ['integer', 'decimal', 'percent', 'duration', 'money', 'trend'];

/**
 * Columns by their names, in order: `votes:bar` has a bar beside it, `votes:all` counts everything there is whatever the period,
 * `change:percent` is of another kind than its name says.
 */
function columns(names: string): ReportColumn[] {
  return names.split(/\s+/).map((each) => {
    const [name = '', ...more] = each.split(':');
    const own = more.find((word) => word !== 'bar' && word !== 'all') as ColumnKind | undefined;
    const kind = own ?? KIND_OF.get(name) ?? 'integer';
    const unit = UNIT_OF_KIND[kind] ?? UNIT_OF.get(name) ?? name.replaceAll('_', ' ');
    return {
      name,
      kind,
      ...(more.includes('bar') && { bar: true as const }),
      ...(NUMBERS.includes(kind) && { unit }),
      ...(more.includes('all') && { allTime: true as const }),
    };
  });
}

/** From a list of names for each word to the word of each name. */
function byName(words: Readonly<Record<string, string>>): Map<string, string> {
  return new Map(
    Object.entries(words).flatMap(([word, names]) => names.split(' ').map((name) => [name, word])),
  );
}

const PERIOD = ['board', 'since', 'until'] as const;
const LIST = [...PERIOD, 'limit'] as const;
/** Lists of single posts can be narrowed down to those in some statuses. */
const POSTS = [...LIST, 'status', 'segment'] as const;
/** Those in order of votes can count posts that are the same together. */
const BY_VOTES = [...POSTS, 'same'] as const;
/** Rankings leave out finished posts unless asked. */
const RANKING = [...POSTS, 'includeClosed'] as const;
const CUSTOMERS_POSTS = 'Only posts of customers are counted.';
/** In words what the view team_replies says in SQL. */
const REPLY = 'A reply is a comment of kind "reply" by the team or an admin that is not internal.';
const MEDIANS =
  'The median is the time after which half of them are over, counting those that are not over yet. "At least" stands in its place where fewer than half are over; with fewer than 5 posts both are left out.';
const MOVED = 'A post that moved to another board counts, with its whole past, on the board it is on now.';
const THEN = 'Votes count for the board that their post was on when the mirror saw them.';
const NAMELESS =
  'Votes carry no names in this API: a customer is known by the posts and comments they wrote.';

/** Every report, in the order of the list. */
export const REPORTS = {
  overview: {
    answers: 'How much is there, and is it becoming more or less?',
    counts:
      'This counts the posts, votes and comments there are, and what was new in the period and in the one before it.',
    takes: [...PERIOD, 'segment', 'against'],
    about: 'writing',
    columns: columns('what total:all recent prior change:percent'),
    since: { days: 7 },
    history: true,
    boardNote: THEN,
  },
  'top-posts': {
    answers: 'Which posts have the most votes?',
    counts: 'This counts all votes that the posts of the period have today.',
    takes: [...BY_VOTES, 'includeClosed'],
    columns: columns('post votes:bar same comments status board created title'),
    sets: 'finished',
  },
  'gaining-posts': {
    answers: 'Which posts gained the most votes in a period?',
    counts: 'This counts the votes that the mirror saw come in the period, on each post.',
    takes: [...RANKING, 'against'],
    columns: columns('post gained:bar votes a_day a_day_before status board created title'),
    since: { days: 30 },
    history: true,
    sets: 'finished',
    compares: { key: ['post'], columns: ['gained'] },
    boardNote: MOVED,
  },
  climbers: {
    answers: 'Which posts gather more votes than is usual for their board and age?',
    counts:
      'This compares the votes that a post gained with what other posts of its board and age gained in the same days.',
    takes: RANKING,
    columns: columns('post gained:bar usual votes status board created title'),
    since: { days: 14 },
    history: true,
    sets: 'finished',
    notes: [
      'usual is what other posts of the same board and age gained in the same days, or in one day where these are less. First is the gain that is the least likely by chance; fewer than 3 votes are no climb.',
    ],
    boardNote: MOVED,
  },
  votes: {
    answers: 'How do the votes grow, week by week?',
    counts: 'This counts, week by week, the votes that the mirror saw come, on all posts that live or lived.',
    takes: [...PERIOD, 'segment'],
    columns: columns('week votes gained:bar votes_deleted partial'),
    since: { weeks: 12 },
    history: true,
    notes: [
      'A vote counts when the mirror saw it. votes_deleted is the votes that left the total with posts that were deleted, less those of restored ones.',
    ],
    boardNote: THEN,
  },
  'post-votes': {
    answers: 'How did the votes and the status of one post change? (--post)',
    counts: 'This lists each time the mirror saw the votes or the status of the post change.',
    takes: ['post', 'since', 'until'],
    columns: columns('at votes:bar change status'),
  },
  'new-by-week': {
    answers: 'How many posts and comments are new each week, by board?',
    counts: 'This counts posts and comments by the week they were written in, as far as they still exist.',
    takes: [...PERIOD, 'segment'],
    about: 'writing',
    columns: columns('week board posts:bar comments:bar partial'),
    since: { weeks: 8 },
    notes: [
      'Comments are those that the mirror has; without a board, they are on posts that it does not have.',
    ],
  },
  funnel: {
    answers: 'How many posts are in each status, and how many ever reached it?',
    counts: 'This counts the posts that are in each status today, and those that the mirror ever saw in it.',
    takes: ['board', 'segment'],
    columns: columns('status posts:bar:all votes:all share:all ever:bar:all ever_share:all'),
    history: true,
  },
  'time-in-status': {
    answers: 'How long do posts stay in each status?',
    counts:
      'This says after which time half of the posts leave a status; posts that are still in it count as staying at least so long.',
    takes: [...PERIOD, 'segment', 'by', 'against'],
    columns: columns('board status posts median:bar at_least p90 ended now_in_it:all'),
    history: true,
    compares: { key: ['board', 'status'], columns: ['median', 'ended'] },
    notes: [
      MEDIANS,
      'A stay that began before the mirror watched counts as lasting at least as long as the mirror saw it.',
    ],
  },
  delivered: {
    answers: 'Which share of the votes is on posts that were delivered?',
    counts: 'This weighs the delivered posts of the period by the votes that they have today.',
    takes: [...PERIOD, 'segment', 'delivered', 'against'],
    columns: columns('board posts delivered_posts votes delivered_votes share:bar'),
    sets: 'delivered',
    compares: { key: ['board'], columns: ['posts', 'votes', 'share'] },
  },
  shipped: {
    answers: 'What was delivered lately, and whom do we tell?',
    counts:
      'This lists the people who wrote or commented on a post that was delivered in the period, each once.',
    takes: ['board', 'since', 'until', 'segment', 'delivered'],
    columns: columns('email customer company plan amount delivered_at posts titles post_ids'),
    since: { days: 30 },
    history: true,
    sets: 'delivered',
    about: 'people',
    notes: [
      'One row a person: those who wrote or commented on a post that became delivered, but the team.',
      NAMELESS,
    ],
  },
  'first-reply': {
    answers: 'How long do customers wait for the first reply of the team, by the week they wrote?',
    counts:
      'This says after which time half of the posts of customers have a reply; posts that still wait count as waiting at least so long.',
    takes: [...PERIOD, 'status', 'segment', 'by', 'against'],
    columns: columns('board week posts answered share median:bar at_least p90 partial'),
    since: { weeks: 12 },
    compares: { key: ['board'], columns: ['posts', 'share', 'median'] },
    notes: [CUSTOMERS_POSTS, REPLY, MEDIANS],
  },
  unanswered: {
    answers: 'Which open posts of customers has the team not replied to?',
    counts: 'This lists the open posts of customers that have no reply of the team today.',
    takes: [...BY_VOTES, 'delivered'],
    columns: columns('post votes:bar same waiting comments status board title'),
    sets: 'finished',
    notes: [CUSTOMERS_POSTS, REPLY],
  },
  stale: {
    answers: 'On which open posts has nothing happened for long?',
    counts: 'This lists the open posts without a comment, vote, edit or new status since the date.',
    takes: ['board', 'status', 'segment', 'since', 'limit', 'same', 'delivered'],
    columns: columns('post votes:bar same last_activity status board title'),
    since: { days: 90 },
    sets: 'finished',
    notes: [
      'Nothing: no comment, vote, edit or new status since the date (--since). A deleted comment and a move to another board are no activity.',
    ],
  },
  customers: {
    answers: 'Which customers write the most?',
    counts: 'This counts the posts and comments that customers wrote in the period.',
    takes: [...LIST, 'segment', 'against'],
    about: 'writing',
    columns: columns('customer email posts comments wrote:bar last_active'),
    since: { days: 90 },
    compares: { key: ['email'], columns: ['wrote'] },
    notes: [NAMELESS],
  },
  requests: {
    answers: 'Which customers asked for what many others want?',
    counts: 'This adds up the votes on the posts that each customer wrote in the period.',
    takes: [...POSTS, 'delivered'],
    columns: columns('customer email posts votes:bar delivered top_post top_title'),
    since: { days: 365 },
    sets: 'delivered',
    notes: [NAMELESS],
  },
  segments: {
    answers: 'Who speaks: the imported customers by plan, company or any other column (--by)?',
    counts: 'This counts what the imported customers wrote in the period, group by group.',
    takes: [...LIST, 'by', 'against'],
    about: 'people',
    groups: 'customers',
    columns: columns('segment customers found heard amount:bar posts comments votes'),
    compares: { key: ['segment'], columns: ['posts', 'comments'] },
    notes: [NAMELESS],
  },
  demand: {
    answers: 'Which posts do the imported customers want, by money or by head?',
    counts: 'This counts the imported customers who wrote a post or commented on it in the period.',
    takes: [...LIST, 'status', 'segment', 'by', 'includeClosed'],
    about: 'people',
    groups: 'customers',
    columns: columns('post customers:bar amount:bar segments votes status board title'),
    sets: 'finished',
    notes: [NAMELESS],
  },
  boards: {
    answers: 'How do the boards compare?',
    counts: 'This compares all posts of the boards as they are today, and the new posts of each week.',
    takes: ['since', 'until', 'segment', 'delivered'],
    columns: columns(
      'board posts:all votes:bar:all votes_a_post:all vote_share:all comments:all answered:percent:all delivered:percent:all new_posts',
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
    counts: 'This lists pairs of posts whose titles say much the same.',
    takes: POSTS,
    about: 'people',
    columns: columns('likeness:bar post title other other_title other_votes other_status'),
  },
  'sync-health': {
    answers: 'Does the mirror keep up?',
    counts: 'This counts the passes of the mirror over the lists, and what they brought.',
    takes: ['since', 'until'],
    columns: columns(
      'list pass passes:bar complete cut_short median_time last_complete added changed deleted quarantined',
    ),
    since: { days: 7 },
  },
} as const satisfies Record<string, Definition>;

export type ReportName = keyof typeof REPORTS;
export const REPORT_NAMES = Object.keys(REPORTS) as ReportName[];
