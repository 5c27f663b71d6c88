import type { PostAnswer } from '../../dashboard/posts.ts';
import { ask, withQuery } from '../api.ts';
import { timeChart } from '../chart.ts';
import { type Child, fill, h } from '../dom.ts';
import { counted, date, number, time } from '../format.ts';
import { outward } from '../links.ts';
import type { Page, PageContext } from '../page.ts';
import { banner, card, pageHead, swatched } from '../parts.ts';
import { onNews } from '../refresh.ts';
import { commentsCard } from './post-comments.ts';
import { editsCard, statusCard } from './post-history.ts';

/** One post with all that is known of it: what it says, what was said to it, and how it came to be what it is. */
export const page: Page = {
  title: 'Post',
  async show(context) {
    const [id = ''] = context.parts;
    const load = (): Promise<PostAnswer> => ask(`/data/posts/${id}`, { signal: context.signal });
    const body = h('div');
    let [shown, drawing] = ['', new AbortController()];
    const draw = (answer: PostAnswer): void => {
      const now = JSON.stringify(answer);
      // What somebody has opened or asked for more of stays as it is under their eyes.
      if (now === shown || body.querySelector('details[open], [data-more]')) return;
      shown = now;
      drawing.abort();
      drawing = new AbortController();
      document.title = `${answer.post.title} · Feedback Mirror`;
      fill(body, ...content(answer, context, AbortSignal.any([context.signal, drawing.signal])));
    };
    draw(await load());
    context.root.append(body);
    onNews(context, async () => draw(await load()));
  },
};

function content(answer: PostAnswer, context: PageContext, signal: AbortSignal): Child[] {
  const { post, original } = answer;
  return [
    h('p', { class: 'crumbs' }, h('a', { id: 'all-posts', href: '/posts' }, 'Posts'), ` / ${post.id}`),
    pageHead(
      post.title || '(no title)',
      lead(answer),
      original === null ? null : h('span', { class: 'original' }, outward(original, 'Open the original')),
    ),
    post.deleted === null
      ? null
      : banner(
          'warn',
          h('b', {}, 'Deleted. '),
          `The mirror noticed on ${time(post.deleted)} that the upstream no longer has this post.`,
        ),
    h(
      'div',
      { class: 'grid' },
      card(
        { title: 'What it says', size: 'two-thirds' },
        post.erased === null
          ? h('p', { class: 'text' }, post.content || h('span', { class: 'quiet' }, 'Nothing but its title.'))
          : h('p', { class: 'quiet' }, 'Its text was erased.'),
      ),
      factsCard(answer),
      votesCard(answer, signal),
      statusCard(answer),
      commentsCard(answer, context),
      editsCard(answer),
    ),
  ];
}

function lead({ post }: PostAnswer): Child {
  const { status, statusColor, votes, comments, board } = post;
  return h(
    'span',
    { class: 'post-facts' },
    swatched(status, statusColor),
    h('span', {}, board),
    h('span', {}, counted(votes, 'vote')),
    h('span', {}, counted(comments, 'comment')),
  );
}

function factsCard({ post }: PostAnswer): HTMLElement {
  const { creator, creatorId, creatorIsTeam, board, boardSlug, created, firstSeen } = post;
  const facts: [string, Child][] = [
    [
      'Written by',
      [
        h(
          'a',
          { id: 'by-creator', href: withQuery('/posts', { creator: creatorId }) },
          creator ?? `user ${creatorId}`,
        ),
        creatorIsTeam ? [' ', h('span', { class: 'tag' }, 'team')] : null,
      ],
    ],
    ['Board', h('a', { id: 'on-board', href: withQuery('/posts', { board: boardSlug }) }, board)],
    ['Written', h('time', { datetime: created }, time(created))],
    ['In the mirror since', h('time', { datetime: firstSeen }, time(firstSeen))],
  ];
  return card(
    { title: 'Facts', size: 'third' },
    h(
      'dl',
      { class: 'facts-list' },
      ...facts.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
    ),
  );
}

function votesCard({ states, isCut, post }: PostAnswer, signal: AbortSignal): HTMLElement {
  const moves = states.filter(({ votes }, i) => i === 0 || votes !== states[i - 1]?.votes);
  const [first] = states;
  const note = isCut ? 'the latest changes' : first ? `watched since ${date(first.at)}` : null;
  if (moves.length < 2)
    return card(
      { title: 'Votes over time', note, size: 'half' },
      h('p', { class: 'empty' }, `${counted(post.votes, 'vote')}, and no change since the mirror watches.`),
    );
  const now = { ...(states.at(-1) ?? moves[0]), at: new Date().toISOString() };
  const points = post.deleted === null ? [...moves, now] : moves;
  return card(
    { title: 'Votes over time', note, size: 'half' },
    timeChart(
      {
        title: `Votes of post ${number(post.id)}`,
        unit: 'votes',
        times: points.map(({ at }) => at ?? ''),
        series: [{ label: 'votes', kind: 'steps', values: points.map(({ votes }) => votes ?? null) }],
      },
      signal,
    ),
  );
}
