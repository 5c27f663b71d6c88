import type { OutboxRow } from '../../../store/outbox/types.ts';
import type { ViewedPost } from '../../../store/outbox/view.ts';
import { type Child, h } from '../dom.ts';
import { time } from '../format.ts';
import { outward } from '../links.ts';
import { differences } from './text-diff.ts';

/** Our row and the posts it may be, side by side; where a post differs from the row, it is marked. */
export function compare(
  row: OutboxRow,
  posts: readonly ViewedPost[],
  action: (post: ViewedPost) => Child,
): HTMLElement {
  return h('div', { class: 'compare' }, own(row), ...posts.map((post) => candidate(row, post, action(post))));
}

function own(row: OutboxRow): HTMLElement {
  return h(
    'article',
    { class: 'own', 'aria-label': 'Our row' },
    h('h3', {}, 'What we sent'),
    facts([
      ['Title', row.title],
      ['Text', row.content || '–'],
      ['Board', row.board],
      ['By', row.email ?? 'you, the owner of the token'],
      ['First sent', time(row.first_sent_at)],
    ]),
  );
}

function candidate(row: OutboxRow, post: ViewedPost, action: Child): HTMLElement {
  const by = post.creator_email ?? post.creator_name ?? 'somebody';
  const isOther = row.email !== null && row.email.toLowerCase() !== by.toLowerCase();
  return h(
    'article',
    { 'aria-label': `Post ${post.id}` },
    h('h3', {}, outward(post.url, `Post ${post.id}`), post.deleted ? ' (deleted upstream)' : null),
    facts([
      ['Title', markDifference(post.title, row.title)],
      ['Text', post.content === '' ? '–' : markDifference(post.content, row.content)],
      ['Board', markDifference(post.board, row.board)],
      ['By', isOther ? h('mark', {}, by) : by],
      ['Made', time(post.created)],
    ]),
    action ? h('div', { class: 'actions' }, action) : null,
  );
}

/** Names and values; a text keeps its lines. */
export function facts(pairs: [name: string, value: Child][]): HTMLElement {
  return h(
    'dl',
    { class: 'facts' },
    ...pairs.flatMap(([name, value]) => [h('dt', {}, name), h('dd', { class: 'text' }, value)]),
  );
}

/** A text with the words marked that another one does not have there. */
function markDifference(text: string, other: string): Child {
  return differences(other, text)
    .filter(({ kind }) => kind !== 'gone')
    .map(({ kind, text: piece }) => (kind === 'new' ? h('mark', {}, piece) : piece));
}
