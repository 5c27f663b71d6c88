import { useEffect, useState } from 'preact/hooks';
import type { FoundDuplicate, ImportState, ShownDuplicates } from '../../http/dashboard/imports.ts';
import type { DuplicateKind } from '../../outbox/import/duplicates.ts';
import { fetchJson, withQuery } from '../api.ts';
import { counted, number, percent } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { button } from '../parts/controls.ts';
import { banner, card, failure } from '../parts/layout.ts';
import { table } from '../parts/table.ts';

const ALIKE: Record<DuplicateKind, string> = {
  same: 'same title and text',
  title: 'similar title',
  content: 'similar text',
};
const KINDS = Object.keys(ALIKE) as DuplicateKind[];
const POLL_MS = 700;

interface DuplicatesOptions {
  path: string;
  state: ImportState;
  draw(state: ImportState): void;
}

/** The shown page of the duplicates: the lines after which this page and each page before it begin. */
interface ListPlace {
  kind: DuplicateKind | null;
  after: number[];
}

interface DuplicatesView extends DuplicatesOptions {
  place: ListPlace;
  turn(place: ListPlace): void;
}

/** Rows that look like posts of the mirror. They are compared in the background: this card follows it by itself. */
export function DuplicatesCard({ path, state: given, draw }: DuplicatesOptions): VNode {
  const [state, setState] = useState(given);
  const [page, setPage] = useState<ShownDuplicates | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [place, turn] = useState<ListPlace>({ kind: null, after: [0] });
  useEffect(() => setState(given), [given]);
  useEffect(() => {
    const leave = new AbortController();
    const { signal } = leave;
    let pause: ReturnType<typeof setTimeout> | undefined;
    const follow = async (): Promise<void> => {
      const query = withQuery(`${path}/duplicates`, { kind: place.kind, after: place.after.at(-1) || null });
      setPage(await fetchJson<ShownDuplicates>(query, { signal }));
      const { isDone, problem: wrong } = state.comparison;
      if (isDone || wrong !== null) return;
      const ask = async (): Promise<void> => setState(await fetchJson<ImportState>(path, { signal }));
      pause = setTimeout(() => void ask().catch(fail), POLL_MS);
    };
    const fail = (error: unknown): void => {
      if (!signal.aborted) setProblem(error);
    };
    follow().catch(fail);
    return () => {
      clearTimeout(pause);
      leave.abort();
    };
  }, [path, state, place]);
  return card(
    { title: 'Looks like a post that exists', note: 'by title and by text' },
    h(
      'div.stacked',
      problem !== null && failure(problem),
      page && duplicateParts({ path, state, draw, place, turn }, page),
    ),
  );
}

function duplicateParts(view: DuplicatesView, page: ShownDuplicates): Child[] {
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
    found > 0 ? kindsTable(view) : null,
    found > 0 ? duplicateTable(view, page) : null,
  ];
}

/** All rows of a kind at once. */
function kindsTable(view: DuplicatesView): VNode {
  const { place, turn } = view;
  const { byKind } = view.state.comparison;
  const only = (kind: DuplicateKind): VNode => {
    const isOnly = place.kind === kind;
    const label = isOnly ? 'List all kinds' : 'List only these';
    return button(label, () => turn({ kind: isOnly ? null : kind, after: [0] }), {
      id: `only-${kind}`,
      'aria-label': `${label}: ${ALIKE[kind]}`,
    });
  };
  return table<DuplicateKind>({
    columns: [
      { head: 'Likeness', cell: (kind) => ALIKE[kind] },
      { head: 'Found', kind: 'number', cell: (kind) => number(byKind[kind].found) },
      { head: 'Left out', kind: 'number', cell: (kind) => number(byKind[kind].skipped) },
      {
        head: '',
        cell: (kind) => {
          const skip = byKind[kind].skipped < byKind[kind].found;
          return h('div.actions', decide(view, { kind }, skip, 'all', ALIKE[kind]), only(kind));
        },
      },
    ],
    rows: KINDS.filter((kind) => byKind[kind].found > 0),
    key: (kind) => kind,
    label: 'Likely duplicates by kind',
  });
}

/** Leaves rows out, or has them sent after all. */
function decide(
  { path, draw }: DuplicatesView,
  which: object,
  skip: boolean,
  words: string,
  what: string,
): VNode {
  const label = `${skip ? 'Leave out' : 'Send'}${words === '' ? '' : ` ${words}`}`;
  const run = async (): Promise<void> =>
    draw(await fetchJson<ImportState>(`${path}/duplicates`, { body: { ...which, skip } }));
  const id = `${skip ? 'skip' : 'send'}-${Object.values(which).join('')}`;
  return h(Decide, { key: id, id, label, what, run });
}

interface DecideOptions {
  id: string;
  label: string;
  what: string;
  run(): Promise<void>;
}

function Decide({ id, label, what, run }: DecideOptions): VNode {
  const [isBusy, setBusy] = useState(false);
  const onClick = (): void => {
    setBusy(true);
    void run().finally(() => setBusy(false));
  };
  return button(label, onClick, { id, disabled: isBusy, 'aria-label': `${label}: ${what}` });
}

function duplicateTable(view: DuplicatesView, { rows, next }: ShownDuplicates): Child[] {
  const { kind: shown, after } = view.place;
  const turn = (to: number[]): void => view.turn({ kind: shown, after: to });
  const list = table<FoundDuplicate>({
    columns: [
      { head: 'Line', cell: ({ line }) => number(line) },
      { head: 'In the file', kind: 'title', cell: ({ title }) => title ?? '…' },
      {
        head: 'Looks like',
        kind: 'title',
        cell: ({ post_id, post_title }) =>
          h('a', { href: `/posts/${post_id}`, target: '_blank' }, `${post_id}: ${post_title ?? '(deleted)'}`),
      },
      { head: 'By', cell: ({ kind, score }) => `${ALIKE[kind]}, ${percent(score)}` },
      { head: '', cell: ({ line, skipped }) => decide(view, { line }, skipped === 0, '', `line ${line}`) },
    ],
    rows,
    key: ({ line }) => line,
    label: 'Rows that look like posts',
  });
  const nav = h(
    'nav.pager',
    { 'aria-label': 'Pages of likely duplicates' },
    after.length > 1
      ? button('Previous page', () => turn(after.slice(0, -1)), { id: 'duplicates-back' })
      : null,
    next === null ? null : button('Next page', () => turn([...after, next]), { id: 'duplicates-on' }),
  );
  return [list, after.length > 1 || next !== null ? nav : null];
}
