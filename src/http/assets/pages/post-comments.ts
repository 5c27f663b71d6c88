import type { ShownComment } from '../../../store/browse-post.ts';
import type { CommentsAnswer, PostAnswer } from '../../dashboard/posts.ts';
import { ask, withQuery } from '../api.ts';
import { type Child, fill, h } from '../dom.ts';
import { counted, time } from '../format.ts';
import type { PageContext } from '../page.ts';
import { banner, button, card, swatched } from '../parts.ts';

/** The comments, the oldest first; more of them at the touch of a button. */
export function commentsCard(
  { post, comments, nextComments }: PostAnswer,
  { signal }: PageContext,
): HTMLElement {
  const list = h('ol', { class: 'comments', 'aria-label': 'Comments' }, ...comments.rows.map(comment));
  const rest = h('div', { 'aria-live': 'polite' });
  const offer = (next: string | null): void => {
    const more = next === null ? null : button('More comments', () => void load(next));
    fill(rest, more);
  };
  const load = async (cursor: string): Promise<void> => {
    try {
      const path = withQuery(`/data/posts/${post.id}/comments`, { cursor });
      const { rows, next } = await ask<CommentsAnswer>(path, { signal });
      list.dataset.more = '';
      const first = comment(rows[0]);
      list.append(first, ...rows.slice(1).map(comment));
      first.tabIndex = -1;
      first.focus({ preventScroll: true });
      offer(next);
    } catch (error) {
      if (signal.aborted) return;
      fill(
        rest,
        banner('bad', error instanceof Error ? error.message : String(error)),
        button('Try again', () => void load(cursor)),
      );
    }
  };
  offer(nextComments);
  return card(
    { title: 'Comments', note: comments.total > 0 ? counted(comments.total, 'comment') : null },
    comments.rows.length > 0 ? list : h('p', { class: 'empty' }, 'Nobody has written one yet.'),
    rest,
  );
}

function comment(given: ShownComment | undefined): HTMLElement {
  if (!given) return h('li');
  const { creator, isTeam, internal, highlighted, kind, created, content, likes, status } = given;
  const tags: [boolean, string, string | null][] = [
    [isTeam === 1, 'team', null],
    [internal === 1, 'internal', 'warn'],
    [highlighted === 1, 'highlighted', 'good'],
    [kind !== 'reply' && status === null, kind.replaceAll('_', ' '), null],
  ];
  return h(
    'li',
    { class: internal === 1 ? 'internal' : null },
    h(
      'p',
      { class: 'comment-head' },
      h('b', {}, creator ?? 'Somebody'),
      ...tags.map(([is, text, tone]) => is && h('span', { class: 'tag', 'data-tone': tone }, text)),
      h('time', { class: 'quiet', datetime: created }, time(created)),
      likes > 0 ? h('span', { class: 'quiet' }, counted(likes, 'like')) : null,
    ),
    statusOf(status),
    content === '' ? null : h('p', { class: 'text' }, content),
  );
}

/** The API leaves open what it attaches to a change of status: a name is shown, whatever else it is. */
function statusOf(status: string | null): Child {
  if (status === null) return null;
  const value: unknown = JSON.parse(status);
  const of = (name: string): unknown => Reflect.get(Object(value), name);
  const name = typeof value === 'string' ? value : of('name');
  const color = of('color');
  return h(
    'p',
    { class: 'comment-status' },
    'Changed the status',
    typeof name === 'string' ? [' to ', swatched(name, typeof color === 'string' ? color : null)] : null,
  );
}
