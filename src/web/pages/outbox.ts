import { useEffect, useState } from 'preact/hooks';
import type { BatchState } from '../../http/dashboard/batches.ts';
import type { Boards, Created, ListedRow, OutboxPage } from '../../http/dashboard/outbox.ts';
import type { OutboxState } from '../../outbox/decide/types.ts';
import { fetchJson, withQuery } from '../api.ts';
import { ago, counted, number, span, withDates } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { batchCards, STATES, stateTag, sum } from '../parts/batch.ts';
import { BoardField } from '../parts/board-picker.ts';
import { button, field } from '../parts/controls.ts';
import { openForm } from '../parts/dialog.ts';
import { banner, card, pageHead, pager, tag, timeTag } from '../parts/layout.ts';
import { useOutcome } from '../parts/load.ts';
import { outward } from '../parts/prose.ts';
import { SimilarWhileTyping } from '../parts/similar.ts';
import { choicesOf, pageOf } from '../shell/page.ts';

const choices = choicesOf(['state', 'batch', 'before', 'after', 'from']);

/** `from` is where the page stands in the list. */
type Filter = Record<'batch' | 'before' | 'after' | 'from', string | null> & { state: OutboxState | null };

interface Answer {
  found: OutboxPage;
  /** Of an import, what is known of it as a whole, and the boards its rows can be moved to. */
  whole: { state: BatchState; boards: Boards['boards'] } | null;
}

/** What is on its way, by state; and the ways to put something in. */
export const page = pageOf<Answer>({
  title: 'Outbox',
  follows: () => true,
  async load({ url }, signal) {
    const { from, ...filter } = filterOf(url);
    const [found, whole] = await Promise.all([
      fetchJson<OutboxPage>(withQuery('/data/outbox', filter), { signal }),
      wholeOf(filter.batch, signal),
    ]);
    return { found, whole };
  },
  view({ answer: { found, whole }, place }) {
    const { said, say, attempt } = useOutcome();
    const done = async (sentence: string): Promise<void> => {
      await place.reload();
      say(banner('good', sentence));
    };
    const write = (): Promise<void> => writePost(({ row, notes }) => say(created(row.id, notes)));
    const isNew = place.url.searchParams.has('new');
    useEffect(() => {
      if (!isNew) return;
      history.replaceState(null, '', place.url.pathname);
      void attempt(write);
    }, [isNew]);
    return [
      pageHead(
        'Outbox',
        'Posts on their way upstream. Each is sent once; a row that needs a decision waits for you.',
        h(
          'div.filters',
          button('New post', () => void attempt(write)),
          h('a.button.main', { href: '/outbox/import' }, 'Import a CSV'),
        ),
      ),
      h(
        'div.stacked',
        said,
        whole && h('div.stacked', batchCards({ ...whole, done })),
        h('div.stacked', content(filterOf(place.url), found)),
      ),
    ];
  },
});

async function wholeOf(batch: string | null, signal: AbortSignal): Promise<Answer['whole']> {
  if (!batch?.startsWith('import-')) return null;
  const [state, { boards }] = await Promise.all([
    fetchJson<BatchState>(`/data/batches/${encodeURIComponent(batch)}`, { signal }),
    fetchJson<Boards>('/data/outbox/boards', { signal }),
  ]);
  return { state, boards };
}

function filterOf(url: URL): Filter {
  const { state, ...rest } = choices.read(url);
  return { ...rest, state: state !== null && state in STATES ? (state as OutboxState) : null };
}

function created(id: number, notes: string[]): VNode {
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
      : banner(
          'bad',
          h('b', 'Nothing is sent: '),
          `${paused}. It continues by itself once that is repaired.`,
        ),
    ...refused.map((why) => banner('warn', h('b', 'Not sent: '), why)),
    sum(counts) > 0 && chips(filter, counts),
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
      rows.length > 0 ? h('ul.lines', rows.map(line)) : empty(filter),
      pagerOf(filter, found),
    ),
  ];
}

function chips({ state, batch }: Filter, counts: OutboxPage['counts']): VNode {
  const chip = (one: OutboxState | null): VNode => {
    const [name, n] = one === null ? ['All', sum(counts)] : [STATES[one].name, counts[one]];
    const href = withQuery('/outbox', { state: one, batch });
    const current = one === state ? 'true' : null;
    const id = `state-${one ?? 'all'}`;
    return h('li', h('a', { id, href, 'aria-current': current }, name, h('span', number(n))));
  };
  const states = Object.keys(STATES) as OutboxState[];
  const shown = states.filter((one) => counts[one] > 0 || one === state);
  return h('ul.chips', { 'aria-label': 'Rows by state' }, [null, ...shown].map(chip));
}

function line(row: ListedRow): VNode {
  const { id, state, title, changed_at } = row;
  return h(
    'li',
    { key: id },
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

function empty({ state, batch, before, after }: Filter): VNode {
  if ([state, batch, before, after].some((chosen) => chosen !== null)) return h('p.empty', 'No row matches.');
  return h(
    'p.empty',
    'The outbox is empty. ',
    h('a', { href: '/outbox?new=1' }, 'Write a post'),
    ', or ',
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
  openForm({
    title: 'New post',
    content: h(PostFields, { boards }),
    action: 'Send',
    async run(fields) {
      onCreated(await fetchJson<Created>('/data/outbox', { body: { ...Object.fromEntries(fields), key } }));
    },
  });
}

function PostFields({ boards }: Boards): Child {
  const [title, setTitle] = useState('');
  const [text, setText] = useState('');
  return [
    h(BoardField, { id: 'new-board', label: 'Board', boards, chosen: boards[0]?.slug ?? '' }),
    field(
      'Title',
      h('input', {
        name: 'title',
        required: true,
        autocomplete: 'off',
        dir: 'auto',
        value: title,
        onInput: ({ currentTarget }) => setTitle(currentTarget.value),
      }),
    ),
    field(
      'Text',
      h('textarea', {
        name: 'content',
        rows: 5,
        dir: 'auto',
        value: text,
        onInput: ({ currentTarget }) => setText(currentTarget.value),
      }),
    ),
    h(SimilarWhileTyping, { title, content: text }),
    h(
      'div.pair',
      field(
        "Customer's e-mail (optional)",
        h('input', { name: 'email', type: 'email', autocomplete: 'off' }),
      ),
      field("Customer's name (optional)", h('input', { name: 'full_name', autocomplete: 'off' })),
    ),
    h('p.note', 'With an e-mail it goes out as that customer, without one as yours.'),
  ];
}
