import type { Field } from '../../../outbox/csv/csv-file.ts';
import type { KnownBoard } from '../../../store/outbox/import-reads.ts';
import type { ImportState, Rehearsal, Wishes } from '../../dashboard/imports-shapes.ts';
import { h } from '../dom.ts';
import { card, field, select } from '../parts.ts';

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
  rehearsal: Rehearsal;
  boards: KnownBoard[];
  onChange(wishes: Wishes): void;
}

/** Which column is what, as it was found, to be put right by choosing; each choice rehearses the file anew. */
export function columnForm({ state, rehearsal, boards, onChange }: ColumnForm): HTMLElement {
  const { wishes } = rehearsal;
  const found = (name: Field): string | null | undefined => {
    // A file that could not be read was not mapped either: what nobody chose is still to be found by its name.
    if (!rehearsal.ok) return wishes.map[name];
    return rehearsal.facts.mapping.find((column) => column.field === name)?.header ?? null;
  };
  const columns = [
    ...(rehearsal.ok ? [] : [{ value: 'by-name', text: '(by its name)' }]),
    { value: 'none', text: '(no column)' },
    ...state.headers.map((header) => ({ value: `=${header}`, text: header || '(no name)' })),
  ];
  const choose = (name: Field): HTMLElement => {
    const onColumn = (value: string): void => {
      const { [name]: _, ...others } = wishes.map;
      const map =
        value === 'by-name' ? others : { ...others, [name]: value.startsWith('=') ? value.slice(1) : null };
      onChange({ board: name === 'board' && value.startsWith('=') ? null : wishes.board, map });
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
  const board = select('board-for-all', forAll, wishes.board ?? '', (value) =>
    onChange({ ...wishes, board: value === '' ? null : value }),
  );
  return card(
    { title: 'How it is read', note: 'each choice tries it anew' },
    h('div', { class: 'pair' }, ...fields.map(choose), field('One board for all rows', board)),
  );
}

const fields = Object.keys(NAMES) as Field[];
