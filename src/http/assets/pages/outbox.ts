import type { OutboxState } from '../../../store/outbox/types.ts';
import type { ListedRow, OutboxPage } from '../../dashboard/outbox.ts';
import { ask, withQuery } from '../api.ts';
import { type Child, fill, h } from '../dom.ts';
import { ago, counted, number, span } from '../format.ts';
import type { Page, PageContext } from '../page.ts';
import { banner, button, card, pageHead } from '../parts.ts';
import { onNews } from '../refresh.ts';
import { writePost } from './outbox-form.ts';
import { STATES, stateTag } from './outbox-words.ts';

interface Filter {
  state: OutboxState | null;
  batch: string | null;
  before: string | null;
}

/** What is on its way, by state; and the ways to put something in. */
export const page: Page = {
  title: 'Outbox',
  async show(context) {
    const filter = filterOf(context.url);
    const load = (): Promise<OutboxPage> =>
      ask(withQuery('/data/outbox', { ...filter }), { signal: context.signal });
    const news = h('div', { 'aria-live': 'polite' });
    const body = h('div', { class: 'stacked' });
    const draw = (found: OutboxPage): void => fill(body, ...content(filter, found));
    draw(await load());
    context.root.append(
      pageHead(
        'Outbox',
        'Posts on their way upstream. Each is sent once; what cannot be told for certain waits for you.',
        tools(news),
      ),
      news,
      body,
    );
    onNews(context, async () => draw(await load()));
  },
};

function filterOf({ searchParams }: PageContext['url']): Filter {
  const state = searchParams.get('state');
  return {
    state: state !== null && state in STATES ? (state as OutboxState) : null,
    batch: searchParams.get('batch'),
    before: searchParams.get('before'),
  };
}

function tools(news: HTMLElement): HTMLElement {
  const write = async (): Promise<void> => {
    try {
      await writePost(({ row, notes }) => fill(news, created(row.id, notes)));
    } catch (error) {
      fill(news, banner('bad', error instanceof Error ? error.message : String(error)));
    }
  };
  return h(
    'div',
    { class: 'filters' },
    button('New post', () => void write()),
    h('a', { class: 'button main', href: '/outbox/import' }, 'Import a CSV'),
  );
}

function created(id: number, notes: string[]): HTMLElement {
  const note = notes.map((text) => ` Note: ${text}.`);
  return banner(
    'good',
    'Safe in the outbox as ',
    h('a', { href: `/outbox/${id}` }, `row ${id}`),
    '.',
    ...note,
  );
}

function content(filter: Filter, { rows, counts, paused, before }: OutboxPage): Child[] {
  const { state, batch } = filter;
  return [
    paused === null
      ? null
      : banner(
          'bad',
          h('b', {}, 'Nothing is sent: '),
          `${paused}. It goes on by itself once that is mended.`,
        ),
    chips(filter, counts),
    batch === null
      ? null
      : h(
          'p',
          { class: 'note' },
          'Only rows of ',
          h('b', {}, batch),
          '. ',
          h('a', { id: 'all-batches', href: withQuery('/outbox', { state }) }, 'Show all'),
        ),
    card(
      { title: state === null ? 'All rows' : STATES[state].name, note: state && STATES[state].meaning },
      rows.length > 0 ? h('ul', { class: 'lines' }, ...rows.map(line)) : empty(filter),
      pager(filter, before),
    ),
  ];
}

function chips({ state, batch }: Filter, counts: OutboxPage['counts']): HTMLElement {
  const chip = (name: string, value: OutboxState | null, n: number): HTMLElement => {
    const href = withQuery('/outbox', { state: value, batch });
    const current = value === state ? 'true' : null;
    const id = `state-${value ?? 'all'}`;
    return h('li', {}, h('a', { id, href, 'aria-current': current }, name, h('span', {}, number(n))));
  };
  const all = Object.values(counts).reduce((sum, n) => sum + n, 0);
  return h(
    'ul',
    { class: 'chips', 'aria-label': 'Rows by state' },
    chip('All', null, all),
    ...Object.entries(STATES).map(([value, { name }]) =>
      chip(name, value as OutboxState, counts[value as OutboxState]),
    ),
  );
}

function line(row: ListedRow): HTMLElement {
  const { id, state, title, changed_at } = row;
  return h(
    'li',
    {},
    stateTag(state),
    h(
      'div',
      { class: 'main' },
      h('a', { class: 'name', id: `row-${id}`, href: `/outbox/${id}` }, title || '(its text was erased)'),
      h('div', { class: 'facts' }, factsOf(row)),
      fateOf(row),
    ),
    h('span', { class: 'when' }, ago(changed_at)),
  );
}

function factsOf({ id, board, email, line: at, attempts }: ListedRow): string {
  const facts = [`Row ${id}`, board, email === null ? 'as yours' : `as ${email}`];
  if (at !== null) facts.push(`line ${at}`);
  if (attempts > 0) facts.push(counted(attempts, 'attempt'));
  return facts.join(' · ');
}

function fateOf({ state, last_error, duplicate_of, not_before }: ListedRow): Child {
  const wait = not_before === null ? 0 : Date.parse(not_before) - Date.now();
  const next =
    (state === 'ready' || state === 'ambiguous') && wait > 1000 ? `next step in ${span(wait)}` : null;
  const said = [state === 'confirmed' ? null : last_error, next].filter((text) => text !== null).join('; ');
  return [
    said ? h('div', { class: 'facts' }, h('b', {}, said)) : null,
    duplicate_of === null
      ? null
      : h('div', { class: 'facts' }, h('span', { class: 'tag', 'data-tone': 'bad' }, 'A second post exists')),
  ];
}

function pager({ state, batch, before }: Filter, older: number | null): Child {
  if (before === null && older === null) return null;
  return h(
    'nav',
    { class: 'pager', 'aria-label': 'Pages' },
    before === null
      ? null
      : h('a', { class: 'button', id: 'newest', href: withQuery('/outbox', { state, batch }) }, 'Newest'),
    older === null
      ? null
      : h(
          'a',
          { class: 'button', id: 'older', href: withQuery('/outbox', { state, batch, before: older }) },
          'Older',
        ),
  );
}

function empty({ state, batch, before }: Filter): HTMLElement {
  if (state !== null || batch !== null || before !== null)
    return h('p', { class: 'empty' }, 'No row is here just now.');
  return h(
    'p',
    { class: 'empty' },
    'Nothing was ever put in. Write a post, or ',
    h('a', { href: '/outbox/import' }, 'import a CSV'),
    '.',
  );
}
