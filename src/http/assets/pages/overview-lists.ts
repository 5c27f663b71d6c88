import type { Overview, Titled } from '../../../reports/overview.ts';
import { withQuery } from '../api.ts';
import { timeChart } from '../chart.ts';
import { type Child, h } from '../dom.ts';
import { counted, number, percent, span } from '../format.ts';
import { card, swatched, table } from '../parts.ts';

function titled({ id, title, status, statusColor, board }: Titled, list: string): Child {
  return [
    h('a', { id: `${list}-${id}`, href: `/posts/${id}`, title }, title || '(no title)'),
    h('div', { class: 'post-facts' }, swatched(status, statusColor), h('span', {}, board)),
  ];
}

export function climbersCard({ climbers, figures }: Overview): HTMLElement {
  return card(
    { title: 'Fastest climbers', note: 'more votes a day than before', size: 'half' },
    table(
      [
        { head: 'Post', kind: 'cut', cell: (post) => titled(post, 'climber') },
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

export function unansweredCard({ unanswered, board }: Overview): HTMLElement {
  return card(
    {
      title: 'Unanswered',
      note: h('a', { href: withQuery('/posts', { board, sort: 'votes' }) }, 'All posts by votes'),
      size: 'half',
    },
    table(
      [
        { head: 'Post', kind: 'cut', cell: (post) => titled(post, 'unanswered') },
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

export function firstReplyCard({ firstReply }: Overview, signal: AbortSignal): HTMLElement {
  const posts = firstReply.reduce((total, week) => total + week.posts, 0);
  const answered = firstReply.reduce((total, week) => total + week.answered, 0);
  const note = posts === 0 ? null : `${percent(answered / posts)} of ${counted(posts, 'post')} answered`;
  const hours = firstReply.map(({ medianSeconds }) =>
    medianSeconds === null ? null : Math.round((medianSeconds / HOUR) * 10) / 10,
  );
  return card(
    { title: 'Time to first reply', note },
    answered === 0
      ? h('p', { class: 'empty' }, 'No post of a customer in this period has a reply of the team yet.')
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
