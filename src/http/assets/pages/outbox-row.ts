import type { AttemptRow } from '../../../store/outbox/types.ts';
import type { ViewedPost } from '../../../store/outbox/view.ts';
import type { OutboxDetail } from '../../dashboard/outbox.ts';
import { ask, withQuery } from '../api.ts';
import { type Child, fill, h } from '../dom.ts';
import { lasted, number, time } from '../format.ts';
import { outward } from '../links.ts';
import type { Page } from '../page.ts';
import { banner, card, pageHead, table } from '../parts.ts';
import { onNews } from '../refresh.ts';
import { compare, facts } from './outbox-compare.ts';
import { decisions, thisPost } from './outbox-decisions.ts';
import { STATES, stateTag } from './outbox-words.ts';

/** One row: what it says, what became of it, and what a person can decide about it. */
export const page: Page = {
  title: 'Outbox row',
  async show(context) {
    const id = Number(context.parts[0]);
    const load = (): Promise<OutboxDetail> => ask(`/data/outbox/${id}`, { signal: context.signal });
    const news = h('div', { 'aria-live': 'polite' });
    const body = h('div', { class: 'stacked' });
    let shown = '';
    const draw = async (): Promise<void> => {
      const detail = await load();
      const text = JSON.stringify(detail);
      if (text === shown) return;
      shown = text;
      fill(body, ...content(detail, done));
    };
    const done = async (sentence: string): Promise<void> => {
      await draw();
      fill(news, banner('good', sentence));
    };
    await draw();
    context.root.append(news, body);
    onNews(context, draw);
  },
};

type Done = (sentence: string) => Promise<void>;

function content(detail: OutboxDetail, done: Done): Child[] {
  const { row, attempts } = detail;
  const source = row.line === null ? row.batch : `${row.batch}, line ${row.line}`;
  const batch = h('a', { id: 'batch', href: withQuery('/outbox', { batch: row.batch }) }, source);
  return [
    pageHead(
      row.title || `Row ${row.id}`,
      ['Row ', row.id, ' of ', batch, ', put in ', time(row.created_at)],
      stateTag(row.state),
    ),
    doubled(detail),
    main(detail, done),
    card({ title: 'Attempts', note: 'Every time it was sent' }, attemptTable(attempts)),
  ];
}

function doubled({ row, posts }: OutboxDetail): Child {
  if (row.duplicate_of === null) return null;
  const url = posts.find((post) => post.id === row.duplicate_of)?.url ?? null;
  return banner(
    'bad',
    h('b', {}, 'A second post exists: '),
    outward(url, `post ${row.duplicate_of}`),
    ' came from the same row, by an attempt whose answer was lost. Delete it upstream; the mirror follows.',
  );
}

function main(detail: OutboxDetail, done: Done): HTMLElement {
  const { row } = detail;
  const why = row.state === 'confirmed' || row.last_error === null ? null : h('p', {}, row.last_error);
  if (row.state === 'uncertain') return uncertain(detail, done);
  return card(
    { title: STATES[row.state].name },
    why,
    facts([
      ['Title', row.title || '(erased)'],
      ['Text', row.content || '–'],
      ['Board', row.board],
      [
        'In the name of',
        row.email === null ? 'you, the owner of the token' : `${row.full_name} (${row.email})`,
      ],
      ...became(detail),
    ]),
    decisions(detail, done),
  );
}

function became({ row, posts }: OutboxDetail): [string, Child][] {
  if (row.post_id === null) return [];
  const known = posts.some((post) => post.id === row.post_id);
  const link = known
    ? h('a', { id: 'post', href: `/posts/${row.post_id}` }, `post ${row.post_id}`)
    : `post ${row.post_id}, which the mirror has not seen yet`;
  const found: [string, Child][] =
    row.matched === null ? [] : [['Found in the list', `match: ${row.matched}`]];
  return [['It is', [link, ' ', outward(row.url, row.url === null ? '' : '(original)')]], ...found];
}

function uncertain(detail: OutboxDetail, done: Done): HTMLElement {
  const { row, posts } = detail;
  const candidates = posts.filter((post) => row.candidates.includes(post.id));
  return card(
    { title: 'Was this post made?', note: row.last_error },
    compare(row, candidates, (post: ViewedPost) => thisPost(detail, post, done)),
    candidates.length > 0
      ? null
      : h('p', { class: 'note' }, 'No post of the mirror looks like it. It may turn up with the next sweep.'),
    decisions(detail, done),
  );
}

function attemptTable(attempts: readonly AttemptRow[]): HTMLElement {
  return table<AttemptRow>(
    [
      { head: 'No.', cell: ({ n }) => number(n) },
      { head: 'Began', cell: ({ started_at }) => h('span', { class: 'nowrap' }, time(started_at)) },
      { head: 'Took', cell: ({ started_at, ended_at }) => lasted(started_at, ended_at) },
      { head: 'Outcome', cell: ({ outcome }) => outcome ?? 'under way' },
      { head: 'HTTP', cell: ({ http_status }) => http_status ?? '–' },
      { head: 'What was said', cell: ({ error }) => error ?? '–' },
    ],
    attempts,
    'Attempts',
    'It was not sent yet.',
  );
}
