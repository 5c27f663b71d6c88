import type { BatchState } from '../../http/dashboard/batches.ts';
import type { Boards, Created, ListedRow, OutboxPage } from '../../http/dashboard/outbox.ts';
import type { OutboxState } from '../../store/outbox/types.ts';
import { fetchJson, withQuery } from '../api.ts';
import { batchCards, STATES, stateTag, sum } from '../batch.ts';
import { type Child, fill, h } from '../dom.ts';
import { boardField, boardPicker } from '../fields.ts';
import { ago, counted, number, span, withDates } from '../format.ts';
import { chosenIn, onNews, type Page } from '../page.ts';
import {
  attempt,
  banner,
  button,
  card,
  field,
  liveRegion,
  openForm,
  outward,
  pageHead,
  pager,
  tag,
  timeTag,
} from '../parts.ts';
import { similarWhileTyping } from '../similar.ts';

/** `from` is where the page stands in the list. */
type Filter = Record<'batch' | 'before' | 'after' | 'from', string | null> & { state: OutboxState | null };

/** What is on its way, by state; and the ways to put something in. */
export const page: Page = {
  title: 'Outbox',
  async show(context) {
    const { from, ...filter } = filterOf(context.url);
    const { signal } = context;
    const load = (): Promise<OutboxPage> => fetchJson(withQuery('/data/outbox', { ...filter }), { signal });
    const news = liveRegion();
    const [whole, body] = [h('div.stacked'), h('div.stacked')];
    const drawImport = await importDrawer(filter.batch, whole, news, signal);
    const draw = async (): Promise<void> => {
      const [found] = await Promise.all([load(), drawImport()]);
      fill(body, ...content({ ...filter, from }, found));
    };
    await draw();
    context.root.append(
      pageHead(
        'Outbox',
        'Posts on their way upstream. Each is sent once; a row that needs a decision waits for you.',
        tools(news),
      ),
      h('div.stacked', news, whole, body),
    );
    onNews(context, draw);
  },
};

/** Of an import, the cards about it as a whole stand above its rows. */
async function importDrawer(
  batch: string | null,
  whole: HTMLElement,
  news: HTMLElement,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  if (!batch?.startsWith('import-')) return async () => undefined;
  const { boards } = await fetchJson<Boards>('/data/outbox/boards', { signal });
  const draw = async (): Promise<void> => {
    const state = await fetchJson<BatchState>(`/data/batches/${encodeURIComponent(batch)}`, { signal });
    const done = async (sentence: string): Promise<void> => {
      await draw();
      fill(news, banner('good', sentence));
    };
    fill(whole, ...batchCards({ state, boards, done }));
  };
  return draw;
}

function filterOf(url: URL): Filter {
  const { state, ...rest } = chosenIn(url, ['state', 'batch', 'before', 'after', 'from']);
  return { ...rest, state: state !== null && state in STATES ? (state as OutboxState) : null };
}

function tools(news: HTMLElement): HTMLElement {
  const write = (): Promise<void> => writePost(({ row, notes }) => fill(news, created(row.id, notes)));
  return h(
    'div.filters',
    button('New post', () => void attempt(news, write)),
    h('a.button.main', { href: '/outbox/import' }, 'Import a CSV'),
  );
}

function created(id: number, notes: string[]): HTMLElement {
  const note = notes.map((text) => ` Note: ${text}.`);
  return banner(
    'good',
    'Saved in the outbox as ',
    h('a', { href: `/outbox/${id}` }, `row ${id}`),
    '.',
    ...note,
  );
}

function content(filter: Filter, found: OutboxPage): Child[] {
  const { state, batch } = filter;
  const { rows, counts, paused, refused } = found;
  return [
    paused === null
      ? null
      : banner('bad', h('b', 'Nothing is sent: '), `${paused}. It goes on by itself once that is mended.`),
    ...refused.map((why) => banner('warn', h('b', 'Not sent: '), why)),
    chips(filter, counts),
    batch === null
      ? null
      : h(
          'p.note',
          'Only rows of ',
          h('b', batch),
          '. ',
          h('a', { id: 'all-batches', href: withQuery('/outbox', { state }) }, 'Show all'),
        ),
    card(
      { title: state === null ? 'All rows' : STATES[state].name, note: state && STATES[state].meaning },
      rows.length > 0 ? h('ul.lines', ...rows.map(line)) : empty(filter),
      pagerOf(filter, found),
    ),
  ];
}

function chips({ state, batch }: Filter, counts: OutboxPage['counts']): HTMLElement {
  const chip = (one: OutboxState | null): HTMLElement => {
    const [name, n] = one === null ? ['All', sum(counts)] : [STATES[one].name, counts[one]];
    const href = withQuery('/outbox', { state: one, batch });
    const current = one === state ? 'true' : null;
    const link = { id: `state-${one ?? 'all'}`, href, 'aria-current': current };
    return h('li', h('a', link, name, h('span', number(n))));
  };
  const states = Object.keys(STATES) as OutboxState[];
  return h('ul.chips', { 'aria-label': 'Rows by state' }, ...[null, ...states].map(chip));
}

function line(row: ListedRow): HTMLElement {
  const { id, state, title, changed_at } = row;
  return h(
    'li',
    stateTag(state),
    h(
      'div.main',
      h('a.name', { dir: 'auto', id: `row-${id}`, href: `/outbox/${id}` }, title || '(its text was erased)'),
      h('div.facts', factsOf(row)),
      fateOf(row),
      row.state === 'confirmed' && row.original
        ? h('div.facts', outward(row.original, `Post ${row.post_id} upstream`))
        : null,
    ),
    h('span.when', timeTag(changed_at, ago(changed_at))),
  );
}

function factsOf({ id, board, email, line: at, attempts }: ListedRow): string {
  const facts = [`Row ${id}`, board, email === null ? 'as yours' : `as ${email}`];
  if (at !== null) facts.push(`line ${at}`);
  if (attempts > 0) facts.push(counted(attempts, 'attempt'));
  return facts.join(' · ');
}

function fateOf({ state, reason, duplicate_of, not_before, on_hold }: ListedRow): Child {
  const wait = not_before === null ? 0 : Date.parse(not_before) - Date.now();
  const next =
    (state === 'ready' || state === 'ambiguous') && wait > 1000 ? `next step in ${span(wait)}` : null;
  const held = on_hold ? 'held: its import is paused or slower than the service' : null;
  const said = [state === 'confirmed' ? null : reason, held, next].filter((text) => text !== null).join('; ');
  return [
    said ? h('div.facts', h('b', withDates(said))) : null,
    duplicate_of === null ? null : h('div.facts', tag('A second post exists', 'bad')),
  ];
}

function pagerOf(filter: Filter, { rows, counts, before, after }: OutboxPage): Child {
  const { state, batch } = filter;
  const from = after === null ? 1 : Math.max(1, Number(filter.from) || 1);
  const to = (edge: { before?: number; after?: number }, first: number): string =>
    withQuery('/outbox', { state, batch, ...edge, from: first > 1 ? first : null });
  return pager({
    from,
    rows: rows.length,
    total: { rows: state === null ? sum(counts) : counts[state], isMore: false },
    previous: after === null ? null : to({ after }, from - PAGE_ROWS),
    next: before === null ? null : to({ before }, from + rows.length),
  });
}

/** What a page of the server holds. */
const PAGE_ROWS = 50;

function empty({ state, batch, before, after }: Filter): HTMLElement {
  if ([state, batch, before, after].some((chosen) => chosen !== null)) return h('p.empty', 'No row matches.');
  return h(
    'p.empty',
    'The outbox is empty. Write a post, or ',
    h('a', { href: '/outbox/import' }, 'import a CSV'),
    '.',
  );
}

/** A form for one new post; `onCreated` is called once it is safe in the outbox. */
async function writePost(onCreated: (created: Created) => void): Promise<void> {
  const { boards } = await fetchJson<Boards>('/data/outbox/boards');
  // Sent twice because an answer was lost, the form still makes one post.
  const key = [...crypto.getRandomValues(new Uint8Array(16))]
    .map((n) => n.toString(16).padStart(2, '0'))
    .join('');
  const board = boardPicker({ id: 'new-board', label: 'Board', boards, chosen: boards[0]?.slug ?? '' });
  const title = h('input', { name: 'title', required: true, autocomplete: 'off', dir: 'auto' });
  const content = h('textarea', { name: 'content', rows: 5, dir: 'auto' });
  const email = h('input', { name: 'email', type: 'email', autocomplete: 'off' });
  const name = h('input', { name: 'full_name', autocomplete: 'off' });
  openForm({
    title: 'New post',
    content: [
      boardField('Board', board),
      field('Title', title),
      field('Text', content),
      similarWhileTyping(title, content),
      h('div.pair', field("Customer's e-mail (optional)", email), field("Customer's name (optional)", name)),
      h('p.note', 'With an e-mail it goes out as that customer, without one as yours.'),
    ],
    action: 'Send',
    async run(fields) {
      const body = { ...Object.fromEntries(fields), board: board.value(), key };
      onCreated(await fetchJson<Created>('/data/outbox', { body }));
    },
  });
}
