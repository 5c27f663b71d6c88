import type { OverviewAnswer } from '../../http/dashboard/reports.ts';
import type { ReportName } from '../../reports/catalogue.ts';
import type { Overview, Titled } from '../../reports/overview.ts';
import { fetchJson, withQuery } from '../api.ts';
import {
  ago,
  changeText,
  counted,
  date,
  dayRange,
  number,
  OWN_ZONE,
  percent,
  period,
  span,
  withDates,
} from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { timeChart } from '../parts/chart.ts';
import { boardChoices, choiceField } from '../parts/controls.ts';
import { card, pageHead, swatched } from '../parts/layout.ts';
import { withZone, zonedPeriodFields } from '../parts/period.ts';
import { postLink } from '../parts/prose.ts';
import { segmentChoices, segmentField, type WithCustomers } from '../parts/segment-field.ts';
import { bars, table } from '../parts/table.ts';
import { type Choose, choicesOf, pageOf, results } from '../shell/page.ts';

const choices = choicesOf(['since', 'until', 'tz', 'board', 'segment'], withZone);
type Chosen = ReturnType<typeof choices.read>;

/** The state of feedback in ten seconds: how much, which way it goes, and what waits. */
export const page = pageOf<OverviewAnswer & WithCustomers>({
  title: 'Overview',
  choices,
  follows: () => true,
  async load({ url }, signal) {
    const chosen = choices.read(url);
    const path = withQuery('/data/overview', { ...chosen, tz: chosen.tz ?? OWN_ZONE });
    const asked = fetchJson<OverviewAnswer>(path, { signal });
    const [answer, customers] = await Promise.all([asked, segmentChoices(signal)]);
    return { ...answer, customers };
  },
  view(shown) {
    const { place, answer } = shown;
    const chosen = choices.read(place.url);
    const toReport: ToReport = (name, some = {}) =>
      withQuery(`/reports/${name}`, { ...withoutPeriod(name, chosen), ...some });
    const toPosts: ToPosts = (some) =>
      withQuery('/posts', { board: answer.board, segment: chosen.segment, ...some });
    const tools = fieldsOf(chosen, answer, choices.chooser(place));
    return [
      pageHead('Overview', leadOf(answer, chosen.tz ?? OWN_ZONE), h('div.filters', tools)),
      results(
        shown,
        h('div.figures', figuresOf(answer, { toReport, toPosts }, chosen)),
        cardsOf(answer, { toReport, toPosts }, (shown.stats?.troubles.length ?? 0) > 0),
      ),
    ];
  },
});

const DAY_MS = 86_400_000;

/** The day so long after a day. */
function dayAfter(day: string, ms: number): string {
  return new Date(Date.parse(day) + ms).toISOString().slice(0, 10);
}

/** The first and the last day that the charts show. */
function shownDays({ since, until, timeZone }: Overview): string {
  const last = new Date(Date.parse(until) - 1).toISOString();
  return dayRange(since, last, timeZone);
}

/** The address of a report with what is chosen here. */
type ToReport = (name: ReportName, some?: Record<string, string>) => string;
/** The same for the list of posts, with some choices more. */
type ToPosts = (some: Record<string, string | number | null>) => string;
interface Ways {
  toReport: ToReport;
  toPosts: ToPosts;
}

/** Two of them compare all there is, and take no period or no board. */
function withoutPeriod(name: ReportName, { since, until, tz, board, segment }: Chosen): Partial<Chosen> {
  if (name === 'funnel') return { board, segment };
  const period = { since: since ?? '30d', until, tz, segment };
  return name === 'boards' ? period : { ...period, board };
}

function fieldsOf(
  chosen: Chosen,
  { boards, customers }: Overview & WithCustomers,
  choose: Choose<keyof Chosen>,
): Child[] {
  const places = [{ value: '', text: 'All boards' }, ...boardChoices(boards)];
  return [
    ...zonedPeriodFields(chosen, { usual: 'Last 30 days', hasUntil: true }, choose),
    choiceField('board', 'Board', places, chosen.board, (board) => choose({ board })),
    segmentField(customers, chosen.segment, (segment) => choose({ segment })),
  ];
}

function leadOf({ since, until, board, boards, asOf }: OverviewAnswer, zone: string): string {
  const days = Math.round((Date.parse(until) - Date.parse(since)) / DAY_MS);
  const where = boards.find(({ slug }) => slug === board)?.name ?? 'all boards';
  const age = Date.now() - Date.parse(asOf);
  const when =
    Date.now() - Date.parse(until) < 120_000
      ? `The last ${counted(days, 'day')}`
      : period(since, until, zone);
  return `${when} on ${where}, compared with the ${counted(days, 'day')} before${
    age > 90_000 ? `; added up ${ago(asOf)}` : ''
  }.`;
}

/** Each number leads to the posts that it counts, where they can be listed, else to its report. */
function figuresOf(
  { figures }: Overview,
  { toReport, toPosts }: Ways,
  { since, until, tz }: Chosen,
): VNode[] {
  const { posts, votes, comments, customers } = figures;
  const toNew = toPosts({ since: since ?? '30d', until, tz });
  const toGained = toReport('gaining-posts', { closed: '1' });
  return [
    figure(['Posts', toReport('new-by-week'), toPosts({}), toNew], posts.total, posts, 'new'),
    figure(['Votes', toReport('votes'), toPosts({ sort: 'votes' }), toGained], votes.total, votes, 'gained'),
    figure(
      ['Comments', toReport('new-by-week'), toPosts({ sort: 'comments' }), toReport('new-by-week')],
      comments.total,
      comments,
      'new',
    ),
    figure(
      ['Customers who wrote', toReport('customers'), toReport('customers'), null],
      customers.recent,
      customers,
      null,
    ),
  ];
}

/** What is counted, where it is reported, and what is behind all of it and behind what is new. */
type FigureLinks = [name: string, report: string, all: string, recent: string | null];

function figure(
  [name, href, toAll, toRecent]: FigureLinks,
  shown: number | null,
  { recent, prior }: Overview['figures']['posts'],
  verb: string | null,
): VNode {
  const change = recent === null || !prior ? null : (recent - prior) / prior;
  const way = change === null || change === 0 ? 'same' : change > 0 ? 'up' : 'down';
  const moved = verb && (recent === null ? 'change not known yet' : `${number(recent)} ${verb}`);
  return h(
    'div.card.figure',
    h('span', h('a', { href }, name)),
    h('b', h('a', { href: toAll }, number(shown))),
    h(
      'span',
      recent && toRecent ? h('a', { href: toRecent }, moved) : moved,
      change === null
        ? null
        : [
            verb ? ', ' : null,
            h('span.change', { 'data-way': way }, changeText(change)),
            verb ? null : ' on the period before',
          ],
    ),
  );
}

function unreadService(isTroubled: boolean): VNode {
  const sync = h('a', { href: '/sync' }, 'Sync');
  const why = isTroubled ? 'What stands in the way is said above' : 'The first pass is on its way';
  return h('p.empty', 'Nothing is mirrored yet. ', why, ': see ', sync, '.');
}

function emptyService(): VNode {
  const [write, file] = [
    h('a', { href: '/outbox' }, 'Write the first one'),
    h('a', { href: '/outbox/import' }, 'import a CSV'),
  ];
  return h('p.empty', 'The service has no posts. ', write, ', or ', file, '.');
}

function cardsOf(overview: Overview, ways: Ways, isTroubled: boolean): Child[] {
  const { board, notes, timeZone } = overview;
  const { toReport, toPosts } = ways;
  const nothing = overview.figures.posts.total === 0;
  if (nothing && board === null) return [overview.isSwept ? emptyService() : unreadService(isTroubled)];
  return [
    h(
      'div.grid',
      newPostsCard(overview, ways),
      votesGainedCard(overview, ways),
      statusCard(overview, ways),
      boardCard(overview, ways),
      climbersCard(overview, toReport('climbers')),
      unansweredCard(overview, toReport('unanswered'), toPosts({ sort: 'votes' })),
      firstReplyCard(overview, toReport('first-reply'), toPosts),
    ),
    notes.length > 0 ? h('p.note', withDates(notes.join(' '), timeZone)) : null,
  ];
}

/** What the charts of days or weeks have in common; `of` is the period of one step. */
function stepsOf({ step, times, buckets, timeZone }: Overview) {
  const [over, days] = step === 'day' ? ['a day', 1] : ['a week', 7];
  const unfinished = buckets.at(-1)?.isUnfinished ? (times.at(-1) ?? null) : null;
  const of = (since: string) => ({ since, until: dayAfter(since, days * DAY_MS), tz: timeZone });
  return { over, times, unfinished, of };
}

function newPostsCard(overview: Overview, { toReport, toPosts }: Ways): VNode {
  const { over, of, ...shown } = stepsOf(overview);
  const unit = `posts ${over}`;
  return card(
    {
      title: 'New posts',
      href: toReport('new-by-week'),
      note: `${unit}, ${shownDays(overview)}`,
      size: 'half',
    },
    timeChart({
      ...{ ...shown, title: 'New posts', unit, empty: 'No post was written in this period.' },
      series: [{ label: 'Posts', kind: 'bars', values: overview.newPosts }],
      href: (since) => toPosts(of(since)),
    }),
  );
}

/** Nothing is drawn before the mirror watched. */
function votesGainedCard(overview: Overview, { toReport }: Ways): VNode {
  const { newVotes, notes, timeZone, watching } = overview;
  const { over, of, ...shown } = stepsOf(overview);
  const unit = `votes ${over}`;
  const isLater = watching.since !== null && watching.since > overview.since;
  const watched = isLater ? `, watched since ${date(watching.since, timeZone)}` : '';
  const why = withDates(notes.find((note) => note.startsWith('The mirror has')) ?? '', timeZone);
  return card(
    {
      title: 'Votes gained',
      href: toReport('votes'),
      note: `${unit}, ${shownDays(overview)}${watched}`,
      size: 'half',
    },
    newVotes.some((votes) => votes !== null)
      ? timeChart({
          ...{ ...shown, title: 'Votes gained', unit, empty: `No post gained a vote. ${why}` },
          series: [{ label: 'Votes', kind: 'bars', values: newVotes, color: '--second' }],
          href: (since) => toReport('gaining-posts', { ...of(since), closed: '1' }),
        })
      : h('p.empty', why || 'Not known yet.'),
  );
}

function statusCard({ byStatus }: Overview, { toReport, toPosts }: Ways): VNode {
  const rows = byStatus.map(({ id, name, color, posts }) => ({
    ...{ label: name, value: posts, color },
    href: toPosts({ status: id }),
  }));
  return card(
    { title: 'By status', href: toReport('funnel'), note: 'posts, all time', size: 'half' },
    bars(rows, 'Posts by status'),
  );
}

function boardCard({ byBoard, boards }: Overview, { toReport }: Ways): VNode {
  const slugOf = (id: number): string => boards.find((one) => one.id === id)?.slug ?? String(id);
  const rows = byBoard.map(({ id, name, posts }) => ({
    ...{ label: name, value: posts },
    href: `/boards/${encodeURIComponent(slugOf(id))}`,
  }));
  return card(
    { title: 'By board', href: toReport('boards'), note: 'posts, all time', size: 'half' },
    bars(rows, 'Posts by board'),
  );
}

function titled({ id, title, status, statusColor, board }: Titled, list: string): Child {
  return [
    postLink(id, title, { id: `${list}-${id}` }),
    h('div.post-facts', swatched(status, statusColor), h('span', board)),
  ];
}

function climbersCard({ climbers, figures }: Overview, href: string): VNode {
  return card(
    { title: 'Fastest climbers', href, note: 'more votes a day than before', size: 'half' },
    table({
      columns: [
        { head: 'Post', kind: 'wide', cell: (post) => titled(post, 'climber') },
        { head: 'Gained', kind: 'number', cell: ({ gained }) => `+${number(gained)}` },
        { head: 'Votes', kind: 'number', cell: ({ votes }) => number(votes) },
      ],
      rows: climbers,
      key: ({ id }) => id,
      label: 'Posts that gather votes faster than before',
      empty:
        figures.votes.recent === null
          ? 'Known once the mirror has watched for a while.'
          : 'No post gained more votes than is usual, and at least three.',
    }),
  );
}

function unansweredCard({ unanswered }: Overview, href: string, all: string): VNode {
  return card(
    {
      title: 'Unanswered',
      href,
      note: h('a', { href: all }, 'All posts by votes'),
      size: 'half',
    },
    table({
      columns: [
        { head: 'Post', kind: 'wide', cell: (post) => titled(post, 'unanswered') },
        { head: 'Waiting', kind: 'number', cell: ({ waitingSeconds }) => span(waitingSeconds * 1000) },
        { head: 'Votes', kind: 'number', cell: ({ votes }) => number(votes) },
      ],
      rows: unanswered,
      key: ({ id }) => id,
      label: 'Open posts of customers without a reply of the team',
      empty: 'Every open post of a customer in this period has a reply of the team.',
    }),
  );
}

const HOUR = 3600;

function firstReplyCard(overview: Overview, href: string, toPosts: ToPosts): VNode {
  const { firstReply, timeZone: tz } = overview;
  const toWeek = (since: string): string => toPosts({ since, until: dayAfter(since, 7 * DAY_MS), tz });
  const posts = firstReply.reduce((total, week) => total + week.posts, 0);
  const answered = firstReply.reduce((total, week) => total + week.answered, 0);
  const note =
    posts === 0
      ? null
      : `median hours, ${shownDays(overview)}; ${percent(answered / posts)} of ${counted(posts, 'post')} answered`;
  const hours = firstReply.map(({ medianSeconds }) =>
    medianSeconds === null ? null : Math.round((medianSeconds / HOUR) * 10) / 10,
  );
  return card(
    { title: 'Time to first reply', href, note },
    answered === 0
      ? h('p.empty', 'No post of a customer in this period has a reply of the team yet.')
      : timeChart({
          title: 'Time to first reply',
          unit: 'hours until half of the answered posts of the week had a reply',
          times: firstReply.map(({ week }) => week),
          unfinished: firstReply.at(-1)?.remark ? (firstReply.at(-1)?.week ?? null) : null,
          series: [{ label: 'Median hours', kind: 'bars', values: hours }],
          height: 160,
          href: toWeek,
          empty: 'In no week do half of the posts have a reply yet, so no median is known.',
        }),
  );
}
