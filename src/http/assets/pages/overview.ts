import type { Overview } from '../../../reports/overview.ts';
import type { OverviewAnswer } from '../../dashboard/overview.ts';
import { ask, withQuery } from '../api.ts';
import { timeChart } from '../chart.ts';
import { type Child, fill, h } from '../dom.ts';
import { ago, counted, number } from '../format.ts';
import type { Page, PageContext } from '../page.ts';
import { bars, card, field, pageHead, select } from '../parts.ts';
import { onNews } from '../refresh.ts';
import { climbersCard, firstReplyCard, unansweredCard } from './overview-lists.ts';

const PERIODS = [
  { value: '7d', text: '7 days' },
  { value: '30d', text: '30 days' },
  { value: '90d', text: '90 days' },
  { value: '365d', text: '12 months' },
];
const USUAL = '30d';

interface Chosen {
  since: string;
  until: string | null;
  board: string | null;
}

/** The state of feedback in ten seconds: how much, which way it goes, and what waits. */
export const page: Page = {
  title: 'Overview',
  async show(context) {
    const chosen = chosenIn(context.url);
    const load = (): Promise<OverviewAnswer> =>
      ask(withQuery('/data/overview', { ...chosen }), { signal: context.signal });
    const [lead, figures, body] = [h('span'), h('div', { class: 'figures' }), h('div')];
    const answer = await load();
    context.root.append(pageHead('Overview', lead, tools(context, chosen, answer)), figures, body);
    const draw = drawer(context, { lead, figures, body });
    draw(answer);
    onNews(context, async () => draw(await load()));
  },
};

function chosenIn({ searchParams }: URL): Chosen {
  return {
    since: searchParams.get('since') ?? USUAL,
    until: searchParams.get('until'),
    board: searchParams.get('board'),
  };
}

function tools({ go }: PageContext, chosen: Chosen, { boards }: Overview): HTMLElement {
  const goTo = (change: Partial<Chosen>): void => {
    const { since, ...rest } = { ...chosen, ...change };
    go(withQuery('/', { ...rest, since: since === USUAL ? null : since }));
  };
  const isOther = !PERIODS.some(({ value }) => value === chosen.since);
  const periods = isOther ? [...PERIODS, { value: chosen.since, text: `since ${chosen.since}` }] : PERIODS;
  const places = [
    { value: '', text: 'All boards' },
    ...boards.map(({ slug, name }) => ({ value: slug, text: name })),
  ];
  return h(
    'div',
    { class: 'filters' },
    field(
      'Period',
      select('period', periods, chosen.since, (since) => goTo({ since, until: null })),
    ),
    field(
      'Board',
      select('board', places, chosen.board ?? '', (board) => goTo({ board })),
    ),
  );
}

interface Places {
  lead: HTMLElement;
  figures: HTMLElement;
  body: HTMLElement;
}

/** Draws again only what changed, and nothing under the eyes of somebody who reads the numbers of a chart. */
function drawer({ signal }: PageContext, { lead, figures, body }: Places): (answer: OverviewAnswer) => void {
  let [shown, drawing] = ['', new AbortController()];
  return ({ asOf, ...overview }) => {
    fill(lead, leadOf(overview, asOf));
    const now = JSON.stringify({ ...overview, since: null, until: null });
    if (now === shown || body.querySelector('details[open]')) return;
    shown = now;
    drawing.abort();
    drawing = new AbortController();
    fill(figures, ...figuresOf(overview));
    fill(body, ...cardsOf(overview, AbortSignal.any([signal, drawing.signal])));
  };
}

function leadOf({ since, until, board, boards }: Overview, asOf: string): string {
  const days = Math.round((Date.parse(until) - Date.parse(since)) / 86_400_000);
  const where = boards.find(({ slug }) => slug === board)?.name ?? 'all boards';
  const age = Date.now() - Date.parse(asOf);
  return `The last ${counted(days, 'day')} on ${where}, beside the ${counted(days, 'day')} before${
    age > 90_000 ? `; added up ${ago(asOf)}` : ''
  }.`;
}

function figuresOf({ figures }: Overview): HTMLElement[] {
  const { posts, votes, comments, customers } = figures;
  return [
    figure('Posts', posts.total, posts, 'new'),
    figure('Votes', votes.total, votes, 'gained'),
    figure('Comments', comments.total, comments, 'new'),
    figure('Customers who wrote', customers.recent, customers, null),
  ];
}

function figure(
  name: string,
  shown: number | null,
  { recent, prior }: Overview['figures']['posts'],
  verb: string | null,
): HTMLElement {
  const change = recent === null || !prior ? null : (recent - prior) / prior;
  const way = change === null || change === 0 ? 'same' : change > 0 ? 'up' : 'down';
  const moved = verb && (recent === null ? 'change not known yet' : `${number(recent)} ${verb}`);
  return h(
    'div',
    { class: 'card figure' },
    h('span', {}, name),
    h('b', {}, number(shown)),
    h(
      'span',
      {},
      moved,
      change === null
        ? null
        : [
            verb ? ', ' : null,
            h(
              'span',
              { class: 'change', 'data-way': way },
              `${change > 0 ? '+' : ''}${Math.round(change * 100)} %`,
            ),
            verb ? null : ' on the period before',
          ],
    ),
  );
}

function cardsOf(overview: Overview, signal: AbortSignal): Child[] {
  const { byStatus, byBoard, board, step, times, newPosts, newVotes, notes } = overview;
  const over = step === 'day' ? 'a day' : 'a week';
  const nothing = overview.figures.posts.total === 0;
  if (nothing && board === null)
    return [
      h(
        'p',
        { class: 'empty' },
        'Nothing is mirrored yet. The first pass is on its way: see ',
        h('a', { href: '/sync' }, 'Sync'),
        '.',
      ),
    ];
  const isKnown = newVotes.some((votes) => votes !== null);
  return [
    h(
      'div',
      { class: 'grid' },
      card(
        { title: 'New posts', note: over, size: 'half' },
        timeChart(
          {
            title: 'New posts',
            unit: `posts ${over}`,
            times,
            series: [{ label: 'posts', kind: 'bars', values: newPosts }],
          },
          signal,
        ),
      ),
      card(
        { title: 'Votes gained', note: over, size: 'half' },
        isKnown
          ? timeChart(
              {
                title: 'Votes gained',
                unit: `votes ${over}`,
                times,
                series: [{ label: 'votes', kind: 'bars', values: newVotes, color: '--second' }],
              },
              signal,
            )
          : h('p', { class: 'empty' }, notes[0] ?? 'Not known yet.'),
      ),
      card(
        { title: 'By status', note: 'posts', size: 'half' },
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
        { title: 'By board', note: 'posts', size: 'half' },
        bars(
          byBoard.map(({ id, name, posts }) => ({
            label: name,
            value: posts,
            href: withQuery('/posts', { board: overview.boards.find((one) => one.id === id)?.slug }),
          })),
          'Posts by board',
        ),
      ),
      climbersCard(overview),
      unansweredCard(overview),
      firstReplyCard(overview, signal),
    ),
    notes.length > 0 ? h('p', { class: 'note' }, notes.join(' ')) : null,
  ];
}
