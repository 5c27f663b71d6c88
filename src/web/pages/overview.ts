import type { OverviewAnswer } from '../../http/dashboard/reports.ts';
import type { ReportName } from '../../reports/catalogue.ts';
import type { Overview, Titled } from '../../reports/overview.ts';
import { fetchJson, withQuery } from '../api.ts';
import { timeChart } from '../chart.ts';
import { type Child, fill, h, refill } from '../dom.ts';
import { boardChoices, choiceField, withZone, zonedPeriodFields } from '../fields.ts';
import { ago, counted, number, OWN_ZONE, percent, period, span, withDates } from '../format.ts';
import { type Choose, keepChosen, keepDrawn, type Page } from '../page.ts';
import { attempt, bars, card, pageHead, postLink, swatched, table } from '../parts.ts';

const NAMES = ['since', 'until', 'tz', 'board'] as const;
type Chosen = Record<(typeof NAMES)[number], string | null>;

/** The state of feedback in ten seconds: how much, which way it goes, and what waits. */
export const page: Page = {
  title: 'Overview',
  async show(context) {
    const [lead, tools, body] = [h('span'), h('div.filters'), h('div')];
    const { now, choose } = keepChosen(context, NAMES, () => attempt(body, redraw, context.signal), withZone);
    const load = async (): Promise<Overview> => {
      const chosen = now();
      const tz = chosen.tz ?? OWN_ZONE;
      const path = withQuery('/data/overview', { ...chosen, tz });
      const { asOf, ...overview } = await fetchJson<OverviewAnswer>(path, { signal: context.signal });
      if (chosen === now()) fill(lead, leadOf(overview, asOf, tz));
      refill(tools, ...fieldsOf(now(), overview, choose));
      // A period that ends now is another one each time, and no reason to draw everything again.
      return { ...overview, since: chosen.since ?? '', until: chosen.until ?? '' };
    };
    const toReport: ToReport = (name) => withQuery(`/reports/${name}`, withoutPeriod(name, now()));
    const redraw = await keepDrawn(context, body, load, (overview, signal) => [
      h('div.figures', ...figuresOf(overview, toReport)),
      ...cardsOf(overview, toReport, signal),
    ]);
    context.root.append(pageHead('Overview', lead, tools), body);
  },
};

/** The address of a report with what is chosen here. */
type ToReport = (name: ReportName) => string;

/** Two of them compare all there is, and take no period or no board. */
function withoutPeriod(name: ReportName, { since, until, tz, board }: Chosen): Partial<Chosen> {
  if (name === 'funnel') return { board };
  const period = { since: since ?? '30d', until, tz };
  return name === 'boards' ? period : { ...period, board };
}

function fieldsOf(chosen: Chosen, { boards }: Overview, choose: Choose<keyof Chosen>): HTMLElement[] {
  const places = [{ value: '', text: 'All boards' }, ...boardChoices(boards)];
  return [
    ...zonedPeriodFields(chosen, { usual: 'Last 30 days', hasUntil: true }, choose),
    choiceField('board', 'Board', places, chosen.board, (board) => choose({ board })),
  ];
}

function leadOf({ since, until, board, boards }: Overview, asOf: string, zone: string): string {
  const days = Math.round((Date.parse(until) - Date.parse(since)) / 86_400_000);
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

function figuresOf({ figures }: Overview, toReport: ToReport): HTMLElement[] {
  const { posts, votes, comments, customers } = figures;
  return [
    figure(['Posts', toReport('new-by-week')], posts.total, posts, 'new'),
    figure(['Votes', toReport('votes')], votes.total, votes, 'gained'),
    figure(['Comments', toReport('new-by-week')], comments.total, comments, 'new'),
    figure(['Customers who wrote', toReport('customers')], customers.recent, customers, null),
  ];
}

function figure(
  [name, href]: [name: string, href: string],
  shown: number | null,
  { recent, prior }: Overview['figures']['posts'],
  verb: string | null,
): HTMLElement {
  const change = recent === null || !prior ? null : (recent - prior) / prior;
  const way = change === null || change === 0 ? 'same' : change > 0 ? 'up' : 'down';
  const moved = verb && (recent === null ? 'change not known yet' : `${number(recent)} ${verb}`);
  return h(
    'div.card.figure',
    h('span', h('a', { href }, name)),
    h('b', number(shown)),
    h(
      'span',
      moved,
      change === null
        ? null
        : [
            verb ? ', ' : null,
            h('span.change', { 'data-way': way }, `${change > 0 ? '+' : ''}${Math.round(change * 100)} %`),
            verb ? null : ' on the period before',
          ],
    ),
  );
}

function unreadService(): HTMLElement {
  const sync = h('a', { href: '/sync' }, 'Sync');
  return h('p.empty', 'Nothing is mirrored yet. The first pass is on its way: see ', sync, '.');
}

function emptyService(): HTMLElement {
  const [write, file] = [
    h('a', { href: '/outbox' }, 'Write the first one'),
    h('a', { href: '/outbox/import' }, 'import a CSV'),
  ];
  return h('p.empty', 'The service has no posts. ', write, ', or ', file, '.');
}

function cardsOf(overview: Overview, toReport: ToReport, signal: AbortSignal): Child[] {
  const { byStatus, byBoard, board, step, times, newPosts, newVotes, notes, timeZone } = overview;
  const over = step === 'day' ? 'a day' : 'a week';
  const nothing = overview.figures.posts.total === 0;
  if (nothing && board === null) return [overview.isSwept ? emptyService() : unreadService()];
  const isKnown = newVotes.some((votes) => votes !== null);
  const watching = notes.find((note) => note.startsWith('The mirror has'));
  return [
    h(
      'div.grid',
      card(
        { title: 'New posts', href: toReport('new-by-week'), note: over, size: 'half' },
        timeChart(
          {
            title: 'New posts',
            unit: `posts ${over}`,
            times,
            series: [{ label: 'posts', kind: 'bars', values: newPosts }],
            empty: 'No post was written in this period.',
          },
          signal,
        ),
      ),
      card(
        { title: 'Votes gained', href: toReport('votes'), note: over, size: 'half' },
        isKnown
          ? timeChart(
              {
                title: 'Votes gained',
                unit: `votes ${over}`,
                times,
                series: [{ label: 'votes', kind: 'bars', values: newVotes, color: '--second' }],
                empty: `No post gained a vote. ${withDates(watching ?? '', timeZone)}`,
              },
              signal,
            )
          : h('p.empty', withDates(watching ?? 'Not known yet.', timeZone)),
      ),
      card(
        { title: 'By status', href: toReport('funnel'), note: 'posts', size: 'half' },
        bars(
          byStatus.map(({ id, name, color, posts }) => ({
            label: name,
            value: posts,
            color,
            href: withQuery('/posts', { status: id, board }),
          })),
          'Posts by status',
        ),
      ),
      card(
        { title: 'By board', href: toReport('boards'), note: 'posts', size: 'half' },
        bars(
          byBoard.map(({ id, name, posts }) => ({
            label: name,
            value: posts,
            href: `/boards/${encodeURIComponent(overview.boards.find((one) => one.id === id)?.slug ?? id)}`,
          })),
          'Posts by board',
        ),
      ),
      climbersCard(overview, toReport('climbers')),
      unansweredCard(overview, toReport('unanswered')),
      firstReplyCard(overview, toReport('first-reply'), signal),
    ),
    notes.length > 0 ? h('p.note', withDates(notes.join(' '), timeZone)) : null,
  ];
}

function titled({ id, title, status, statusColor, board }: Titled, list: string): Child {
  return [
    postLink(id, title, { id: `${list}-${id}` }),
    h('div.post-facts', swatched(status, statusColor), h('span', board)),
  ];
}

function climbersCard({ climbers, figures }: Overview, href: string): HTMLElement {
  return card(
    { title: 'Fastest climbers', href, note: 'more votes a day than before', size: 'half' },
    table(
      [
        { head: 'Post', kind: 'wide', cell: (post) => titled(post, 'climber') },
        { head: 'Gained', kind: 'number', cell: ({ gained }) => `+${number(gained)}` },
        { head: 'Votes', kind: 'number', cell: ({ votes }) => number(votes) },
      ],
      climbers,
      'Posts that gather votes faster than before',
      figures.votes.recent === null
        ? 'Known once the mirror has watched for a while.'
        : 'No post gained votes in this period.',
    ),
  );
}

function unansweredCard({ unanswered, board }: Overview, href: string): HTMLElement {
  return card(
    {
      title: 'Unanswered',
      href,
      note: h('a', { href: withQuery('/posts', { board, sort: 'votes' }) }, 'All posts by votes'),
      size: 'half',
    },
    table(
      [
        { head: 'Post', kind: 'wide', cell: (post) => titled(post, 'unanswered') },
        { head: 'Waiting', kind: 'number', cell: ({ waitingSeconds }) => span(waitingSeconds * 1000) },
        { head: 'Votes', kind: 'number', cell: ({ votes }) => number(votes) },
      ],
      unanswered,
      'Open posts of customers without a reply of the team',
      'Every open post of a customer in this period has a reply of the team.',
    ),
  );
}

const HOUR = 3600;

function firstReplyCard({ firstReply }: Overview, href: string, signal: AbortSignal): HTMLElement {
  const posts = firstReply.reduce((total, week) => total + week.posts, 0);
  const answered = firstReply.reduce((total, week) => total + week.answered, 0);
  const note =
    posts === 0 ? null : `median hours; ${percent(answered / posts)} of ${counted(posts, 'post')} answered`;
  const hours = firstReply.map(({ medianSeconds }) =>
    medianSeconds === null ? null : Math.round((medianSeconds / HOUR) * 10) / 10,
  );
  return card(
    { title: 'Time to first reply', href, note },
    answered === 0
      ? h('p.empty', 'No post of a customer in this period has a reply of the team yet.')
      : timeChart(
          {
            title: 'Time to first reply',
            unit: 'hours until half of the answered posts of the week had a reply',
            times: firstReply.map(({ week }) => week),
            series: [{ label: 'median hours', kind: 'bars', values: hours }],
            height: 160,
          },
          signal,
        ),
  );
}
