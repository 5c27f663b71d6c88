import type { KnownBoard } from '../../base/boards.ts';
import type { ImportState } from '../../http/dashboard/imports.ts';
import type { ImportChoices, Preview } from '../../http/dashboard/uploads.ts';
import type { Field } from '../../outbox/csv/rows.ts';
import type { UnknownBoard } from '../../outbox/import/boards.ts';
import type { Duplicate } from '../../outbox/import/duplicates.ts';
import type { RefusedLine } from '../../outbox/import/intake.ts';
import { fetchJson } from '../api.ts';
import { type Child, fill, h } from '../dom.ts';
import { counted, number, size } from '../format.ts';
import { banner, button, card, failure, field, openForm, select, table } from '../parts.ts';

export interface PreviewView {
  path: string;
  state: ImportState;
  boards: KnownBoard[];
  draw(state: ImportState): void;
}

/** What the dry run of a file showed, how it was read, and the button that imports it. */
export function showPreview(view: PreviewView): Child[] {
  const { path, state, boards, draw } = view;
  const { preview } = state;
  if (!preview) return [banner('bad', 'This file was never read. Choose it again.')];
  const trouble = h('div', { 'aria-live': 'polite' });
  const again = async (choices: ImportChoices): Promise<void> => {
    try {
      draw(await fetchJson<ImportState>(`${path}/preview`, { body: choices }));
    } catch (error) {
      fill(trouble, failure(error));
    }
  };
  return [
    trouble,
    preview.ok ? summary(view, preview) : banner('warn', sentence(preview.problem)),
    columnForm({ state, preview, boards, onChange: (choices) => void again(choices) }),
    ...(preview.ok ? [refusedCard(preview), ...foundCards(state, preview)] : []),
  ];
}

function sentence(problem: string): string {
  return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}. Say below how the file is to be read.`;
}

type Readable = Preview & { ok: true };

function summary(view: PreviewView, preview: Readable): HTMLElement {
  const { rows, accepted, already, refused } = preview.tally;
  const figures: [string, number][] = [
    [rows === 1 ? 'row in the file' : 'rows in the file', rows],
    ['new, would be sent', accepted],
    ['imported before', already],
    ['refused', refused],
  ];
  return card(
    { title: 'What would happen', note: `${size(view.state.bytes)}; nothing was written so far` },
    h('div.figures', ...figures.map(([name, n]) => h('div.figure', h('b', number(n)), h('span', name)))),
    notes(preview),
    h('div.actions', importButton(view, preview), other(), results(view, already)),
  );
}

function notes({ tally }: Readable): Child {
  if (tally.notes.length === 0) return null;
  const text = tally.notes.map(
    ({ text: what, rows, lines }) => `${what} (${counted(rows, 'row')}, first in line ${lines[0] ?? '?'})`,
  );
  return h('ul.note', ...text.map((one) => h('li', one)));
}

function importButton({ path, draw }: PreviewView, { tally, choices, found }: Readable): HTMLElement {
  const rows = counted(tally.accepted, 'row');
  const asCustomers = found.asKnownCustomer + found.asNewCustomer;
  const label = tally.accepted === 0 ? 'Nothing new to import' : `Import ${rows}`;
  const ask = (): void =>
    openForm({
      title: `Import ${rows}?`,
      content: [
        `${rows} will be put into the outbox and sent upstream, one after the other.`,
        asCustomers > 0
          ? ` ${number(asCustomers)} go out in a customer's name, who may be told about it by the service.`
          : null,
      ],
      action: `Import ${rows}`,
      run: async () => draw(await fetchJson<ImportState>(`${path}/commit`, { body: choices })),
    });
  return button(label, ask, { class: 'main', id: 'import', disabled: tally.accepted === 0 });
}

function other(): HTMLElement {
  return h('a.button', { id: 'other-file', href: '/outbox/import' }, 'Choose another file');
}

function results({ path }: PreviewView, already: number): Child {
  if (already === 0) return null;
  return h('a.button', { id: 'results', href: `${path}/results`, download: '' }, 'Results as CSV');
}

function refusedCard({ tally }: Readable): Child {
  if (tally.refused === 0) return null;
  const note =
    tally.refused > tally.refusals.length ? `the first ${number(tally.refusals.length)} are shown` : null;
  return card(
    {
      title: `${counted(tally.refused, 'row')} refused`,
      note: note ?? 'mend them and import the file again',
    },
    table<RefusedLine>(
      [
        { head: 'Line', cell: ({ line }) => number(line) },
        { head: 'Why', cell: ({ reason }) => reason },
      ],
      tally.refusals,
      'HttpError rows',
    ),
  );
}

const NAMES: Record<Field, string> = {
  title: 'Title',
  content: 'Text',
  board: 'Board',
  email: "Customer's e-mail",
  full_name: "Customer's name",
  key: 'Your own key',
};

export interface ColumnForm {
  state: ImportState;
  preview: Preview;
  boards: KnownBoard[];
  onChange(choices: ImportChoices): void;
}

/** Which column is what, as it was found, to be put right by choosing; each choice is a dry run anew. */
export function columnForm({ state, preview, boards, onChange }: ColumnForm): HTMLElement {
  const { choices } = preview;
  const found = (name: Field): string | null | undefined => {
    // A file that could not be read was not mapped either: what nobody chose is still to be found by its name.
    if (!preview.ok) return choices.map[name];
    return preview.facts.mapping.find((column) => column.field === name)?.header ?? null;
  };
  const columns = [
    ...(preview.ok ? [] : [{ value: 'by-name', text: '(by its name)' }]),
    { value: 'none', text: '(no column)' },
    ...state.headers.map((header) => ({ value: `=${header}`, text: header || '(no name)' })),
  ];
  const choose = (name: Field): HTMLElement => {
    const onColumn = (value: string): void => {
      const { [name]: _, ...others } = choices.map;
      const map =
        value === 'by-name' ? others : { ...others, [name]: value.startsWith('=') ? value.slice(1) : null };
      onChange({ ...choices, board: name === 'board' && value.startsWith('=') ? null : choices.board, map });
    };
    const header = found(name);
    const chosen = header === undefined ? 'by-name' : header === null ? 'none' : `=${header}`;
    const element = select(`map-${name}`, columns, chosen, onColumn);
    return field(NAMES[name], element);
  };
  const forAll = [
    { value: '', text: '(as the column says)' },
    ...boards.map(({ slug, name }) => ({ value: slug, text: name })),
  ];
  const board = select('board-for-all', forAll, choices.board ?? '', (value) =>
    onChange({ ...choices, board: value === '' ? null : value }),
  );
  return card(
    { title: 'How it is read', note: 'each choice tries it anew' },
    h('div.pair', ...fields.map(choose), field('One board for all rows', board)),
  );
}

const fields = Object.keys(NAMES) as Field[];

/** What the mirror can tell about the rows that would be sent. */
export function foundCards(state: ImportState, preview: Readable): Child[] {
  if (preview.tally.accepted === 0) return [];
  return [h('div.grid', asWhom(preview), boardsCard(preview)), duplicatesCard(state, preview)];
}

function asWhom({ found }: Readable): HTMLElement {
  const { mirror, asOwner, asKnownCustomer, asNewCustomer, knownCustomers, newCustomers } = found;
  const rows = [
    { who: 'you, the owner of the token', n: asOwner, people: null },
    { who: 'customers the mirror knows', n: asKnownCustomer, people: knownCustomers },
    {
      who: mirror === 'empty' ? 'customers, new or not' : 'new customers',
      n: asNewCustomer,
      people: newCustomers,
    },
  ].filter(({ n }) => n > 0);
  return card(
    { title: 'Goes out as', size: 'half' },
    table(
      [
        { head: 'Who', cell: ({ who }) => who },
        { head: 'Rows', kind: 'number', cell: ({ n }) => number(n) },
        { head: 'People', kind: 'number', cell: ({ people }) => number(people) },
      ],
      rows,
      'Goes out as',
    ),
  );
}

function boardsCard({ found }: Readable): HTMLElement {
  const { unknownBoards, moreUnknownBoards, mirror } = found;
  const title = 'Boards nobody has seen';
  if (mirror === 'empty')
    return card(
      { title, size: 'half' },
      h('p.note', 'The mirror is still empty, so nothing can be compared.'),
    );
  return card(
    {
      title,
      size: 'half',
      note: moreUnknownBoards > 0 ? `and ${number(moreUnknownBoards)} rows more` : null,
    },
    table<UnknownBoard>(
      [
        { head: 'Board', cell: ({ board }) => board },
        { head: 'Rows', kind: 'number', cell: ({ rows }) => number(rows) },
        { head: 'First in line', kind: 'number', cell: ({ line }) => number(line) },
        { head: 'Perhaps meant', cell: ({ suggestions }) => suggestions.join(', ') || '–' },
      ],
      unknownBoards,
      title,
      'Every board of the file is known.',
    ),
  );
}

function duplicatesCard({ comparison }: ImportState, { found: preview, tally }: Readable): Child {
  if (preview.mirror === 'empty' || comparison === null) return null;
  const { checked } = comparison;
  const { found, examples } = comparison.result ?? { found: 0, examples: [] };
  const scope = checked < tally.accepted ? `${counted(checked, 'row')} compared so far` : null;
  const more = found > examples.length ? `${number(found)} in all` : null;
  return card(
    {
      title: 'Looks like a post that exists',
      note: [more, scope].filter((text) => text !== null).join('; ') || null,
    },
    table<Duplicate>(
      [
        { head: 'Line', cell: ({ line }) => number(line) },
        { head: 'Title in the file', cell: ({ title }) => title },
        {
          head: 'Post',
          cell: ({ postId, postTitle }) => h('a', { href: `/posts/${postId}` }, `${postId}: ${postTitle}`),
        },
      ],
      examples,
      'Looks like a post that exists',
      'None of the new rows does.',
    ),
  );
}
