import type { ReportInfo, ReportsAnswer } from '../../http/dashboard/reports.ts';
import { customerColumns, customersText, keepCustomers } from '../customer-file.ts';
import { OWN_ZONE } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import {
  boardChoices,
  changedList,
  choiceField,
  field,
  listed,
  picks,
  plainChoices,
  statusChoices,
  Typed,
} from '../parts/controls.ts';
import { periodFields, zoneField } from '../parts/period.ts';
import type { Choose } from '../shell/page.ts';

const SAME = [
  { value: '', text: 'Each for itself' },
  { value: '1', text: 'Counted together' },
];
const FINISHED = [
  { value: '', text: 'Leave out' },
  { value: '1', text: 'List too' },
];
const LIMITS = ['20', '50', '100', '500'];

export const NAMES = [
  'board',
  'status',
  'since',
  'until',
  'limit',
  'same',
  'post',
  'delivered',
  'tz',
  'by',
  'sum',
  'sort',
  'closed',
] as const;
export type ReportChoice = Record<(typeof NAMES)[number], string | null>;

/** The zone is always one, and the order is shown in the table. */
export function countChosen(chosen: ReportChoice): number {
  return NAMES.filter((name) => name !== 'tz' && name !== 'sort' && chosen[name] !== null).length;
}

export function reportFilters(
  { takes, since: usual }: ReportInfo,
  { boards, statuses }: ReportsAnswer,
  chosen: ReportChoice,
  choose: Choose<keyof ReportChoice>,
): Child[] {
  const takesOne = (flag: ReportInfo['takes'][number]): boolean => takes.includes(flag);
  const places = [{ value: '', text: 'All boards' }, ...boardChoices(boards)];
  const named = [...new Set(statuses.map(({ name }) => name))].map((name) => ({ value: name, text: name }));
  return [
    takesOne('post') && postField(chosen.post, (post) => choose({ post })),
    takesOne('segments') && customersFields(chosen, choose),
    takesOne('since') &&
      periodFields(chosen, { usual: usualText(usual), hasUntil: takesOne('until') }, choose),
    takesOne('board') && choiceField('board', 'Board', places, chosen.board, (board) => choose({ board })),
    takesOne('status') &&
      picks('status', 'Status', statusChoices(statuses), listed(chosen.status), (change) =>
        choose(({ status }) => ({ status: changedList(status, change) })),
      ),
    takesOne('includeClosed') &&
      choiceField('closed', 'Finished posts', FINISHED, chosen.closed, (closed) => choose({ closed })),
    takesOne('delivered') &&
      picks(
        'delivered',
        'Counts as delivered',
        named,
        listed(chosen.delivered),
        (change) => choose(({ delivered }) => ({ delivered: changedList(delivered, change) })),
        'As set',
      ),
    takesOne('same') &&
      choiceField('same', 'Posts marked as the same', SAME, chosen.same, (same) => choose({ same })),
    takesOne('limit') &&
      choiceField('limit', 'Rows', plainChoices(LIMITS), chosen.limit ?? '20', (limit) =>
        choose({ limit: limit === '20' ? null : limit }),
      ),
    zoneField(chosen.tz ?? OWN_ZONE, (tz) => choose({ tz: tz || null })),
  ];
}

function usualText(since: ReportInfo['since']): string {
  if (since === null) return 'All time';
  return 'days' in since ? `Last ${since.days} days` : `Last ${since.weeks} weeks`;
}

function postField(post: string | null, onText: (post: string | null) => void): VNode {
  const input = { type: 'number', min: 1, id: 'field-post', name: 'post' } as const;
  return field('Post', h(Typed, { value: post, onText, input }));
}

/** The file, and which of its columns customers are grouped by and added up. */
function customersFields({ by, sum }: ReportChoice, choose: Choose<keyof ReportChoice>): VNode[] {
  const take = async (file: File | undefined): Promise<void> => {
    keepCustomers((await file?.text()) ?? null);
    choose({ by: null, sum: null });
  };
  const file = h('input', {
    type: 'file',
    id: 'field-segments',
    name: 'segments',
    accept: '.csv,text/csv',
    onChange: ({ currentTarget }) => void take(currentTarget.files?.[0]),
  });
  const heads = customerColumns();
  const column = (name: 'by' | 'sum', label: string, none: string, chosen: string | null): VNode => {
    const choices = [{ value: '', text: none }, ...heads.map((head) => ({ value: head, text: head }))];
    return choiceField(name, label, choices, chosen, (value) => choose({ [name]: value }));
  };
  if (customersText() === null) return [field('Customers', file)];
  return [
    field('Customers', file),
    column('by', 'Group by', 'First column', by),
    column('sum', 'Add up', 'Nothing', sum),
  ];
}
