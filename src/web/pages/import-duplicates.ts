import type { DuplicatePage, FoundDuplicate, ImportState } from '../../http/dashboard/imports.ts';
import type { DuplicateKind } from '../../outbox/import/duplicates.ts';
import { fetchJson, withQuery } from '../api.ts';
import { type Child, fill, h } from '../dom.ts';
import { counted, number, percent } from '../format.ts';
import { banner, button, card, failure, table } from '../parts.ts';

const ALIKE: Record<DuplicateKind, string> = {
  same: 'same title and text',
  title: 'similar title',
  content: 'similar text',
};
const KINDS = Object.keys(ALIKE) as DuplicateKind[];
const POLL_MS = 700;

export interface DuplicatesView {
  path: string;
  state: ImportState;
  /** Which page of the duplicates is shown, by the lines that it and the pages before it begin after. */
  place: { kind: DuplicateKind | null; after: number[] };
  draw(state: ImportState): Promise<void>;
  signal: AbortSignal;
}

/**
 * Rows that look like posts of the mirror. They are compared in the background: this card follows it by itself, so that nothing else of
 * the page is drawn anew while somebody chooses.
 */
export function duplicatesCard(view: DuplicatesView): HTMLElement {
  const body = h('div.stacked');
  const show = async (state: ImportState): Promise<void> => {
    const { kind, after } = view.place;
    const query = withQuery(`${view.path}/duplicates`, { kind, after: after.at(-1) || null });
    const page = await fetchJson<DuplicatePage>(query, { signal: view.signal });
    fill(body, ...duplicateParts({ ...view, state }, page, () => void show(state)));
  };
  const follow = async (state: ImportState): Promise<void> => {
    await show(state);
    const { isDone, problem } = state.comparison;
    if (isDone || problem !== null || view.signal.aborted) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    // Drawn anew meanwhile: the new card follows it.
    if (body.isConnected) await follow(await fetchJson<ImportState>(view.path, { signal: view.signal }));
  };
  follow(view.state).catch((error) => view.signal.aborted || fill(body, failure(error)));
  return card({ title: 'Looks like a post that exists', note: 'by title and by text' }, body);
}

function duplicateParts(view: DuplicatesView, page: DuplicatePage, show: () => void): Child[] {
  const { comparison, preview } = view.state;
  const { byKind, checked, isDone, problem } = comparison;
  const found = KINDS.reduce((total, kind) => total + byKind[kind].found, 0);
  const rows = preview?.ok ? preview.tally.accepted + preview.tally.skipped : 0;
  if (problem !== null) return [banner('warn', `The rows could not be compared: ${problem}.`)];
  return [
    isDone
      ? h('p.note', `${counted(checked, 'row')} compared with every post of the mirror.`)
      : h(
          'p',
          { role: 'status' },
          `Comparing: ${number(checked)} of about ${number(rows)} rows (${percent(rows ? Math.min(1, checked / rows) : 0)}).`,
        ),
    found === 0 ? h('p.empty', isDone ? 'None of the new rows does.' : 'None so far.') : null,
    found > 0 ? kindsTable(view, show) : null,
    found > 0 ? duplicateTable(view, page, show) : null,
  ];
}

/** All rows of a kind at once. */
function kindsTable(view: DuplicatesView, show: () => void): HTMLElement {
  const { byKind } = view.state.comparison;
  const { place } = view;
  const only = (kind: DuplicateKind | null): void => {
    place.kind = kind;
    place.after = [0];
    show();
  };
  return table<DuplicateKind>(
    [
      { head: 'Likeness', cell: (kind) => ALIKE[kind] },
      { head: 'Found', kind: 'number', cell: (kind) => number(byKind[kind].found) },
      { head: 'Left out', kind: 'number', cell: (kind) => number(byKind[kind].skipped) },
      {
        head: '',
        cell: (kind) =>
          h(
            'div.actions',
            decide(view, { kind }, byKind[kind].skipped < byKind[kind].found, 'all', ALIKE[kind]),
            button(
              place.kind === kind ? 'List all kinds' : 'List only these',
              () => only(place.kind === kind ? null : kind),
              {
                id: `only-${kind}`,
                'aria-label': `${place.kind === kind ? 'List all kinds' : 'List only these'}: ${ALIKE[kind]}`,
              },
            ),
          ),
      },
    ],
    KINDS.filter((kind) => byKind[kind].found > 0),
    'Likely duplicates by kind',
  );
}

/** Leaves rows out, or has them sent after all. */
function decide(
  view: DuplicatesView,
  which: object,
  skip: boolean,
  words: string,
  what: string,
): HTMLButtonElement {
  const label = `${skip ? 'Leave out' : 'Send'}${words === '' ? '' : ` ${words}`}`;
  const act = button(label, () => void run(), {
    id: `${skip ? 'skip' : 'send'}-${Object.values(which).join('')}`,
    'aria-label': `${label}: ${what}`,
  });
  const run = async (): Promise<void> => {
    act.disabled = true;
    const body = { ...which, skip };
    await view.draw(await fetchJson<ImportState>(`${view.path}/duplicates`, { body, signal: view.signal }));
  };
  return act;
}

function duplicateTable(view: DuplicatesView, { rows, next }: DuplicatePage, show: () => void): Child[] {
  const { place } = view;
  const turn = (after: number[]): void => {
    place.after = after;
    show();
  };
  const list = table<FoundDuplicate>(
    [
      { head: 'Line', cell: ({ line }) => number(line) },
      { head: 'In the file', kind: 'title', cell: ({ title }) => title ?? '…' },
      {
        head: 'Looks like',
        kind: 'title',
        cell: ({ post_id, post_title }) =>
          h('a', { href: `/posts/${post_id}`, target: '_blank' }, `${post_id}: ${post_title ?? '(deleted)'}`),
      },
      { head: 'By', cell: ({ kind, score }) => `${ALIKE[kind]}, ${percent(score)}` },
      {
        head: '',
        cell: ({ line, skipped }) => decide(view, { line }, skipped === 0, '', `line ${line}`),
      },
    ],
    rows,
    'Rows that look like posts',
  );
  const nav = h(
    'nav.pager',
    { 'aria-label': 'Pages of likely duplicates' },
    place.after.length > 1
      ? button('Previous page', () => turn(place.after.slice(0, -1)), { id: 'duplicates-back' })
      : null,
    next === null ? null : button('Next page', () => turn([...place.after, next]), { id: 'duplicates-on' }),
  );
  return [list, place.after.length > 1 || next !== null ? nav : null];
}
