import type { SegmentChoices } from '../../segments/store.ts';
import { fetchJson } from '../api.ts';
import { h, type VNode } from '../h.ts';
import { choiceField, field, TextInput } from './controls.ts';

/** An answer with what its page offers for a choice of customers. */
export interface WithCustomers {
  customers: SegmentChoices;
}

/** The columns and plans of the customers that were imported. A page loads them with its answer, so that no field comes later. */
export function segmentChoices(signal: AbortSignal): Promise<SegmentChoices> {
  return fetchJson('/data/segments/choices', { signal });
}

/** Which customers are meant. It is there once customers are imported, and where the address names some. */
export function segmentField(
  { columns, filters }: SegmentChoices,
  chosen: string | null,
  onChoose: (segment: string | null) => void,
): VNode | null {
  if (columns.length === 0 && chosen === null) return null;
  const input = {
    ...{ id: 'field-segment', name: 'segment', list: 'segment-filters' },
    ...{ placeholder: 'plan=Pro', title: 'plan=Pro, value>=1000' },
  };
  return h(
    'div',
    field('Customers', h(TextInput, { value: chosen, onText: onChoose, input })),
    h(
      'datalist',
      { id: 'segment-filters' },
      filters.map((value) => h('option', { key: value, value })),
    ),
  );
}

/** By which column of their file customers are grouped: by plan, unless there are none. */
export function groupField(
  { columns }: SegmentChoices,
  chosen: string | null,
  onChoose: (column: string | null) => void,
): VNode {
  const [usual = 'plan', ...others] = columns;
  const choices = [{ value: '', text: usual }, ...others.map((value) => ({ value, text: value }))];
  return choiceField('by', 'Group by', choices, chosen, onChoose);
}
