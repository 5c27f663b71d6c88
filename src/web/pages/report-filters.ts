import type { ReportInfo, ReportsAnswer } from '../../http/dashboard/reports.ts';
import type { SegmentChoices } from '../../segments/store.ts';
import { OWN_ZONE } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import {
  boardChoices,
  changedList,
  checklist,
  choiceField,
  field,
  listIn,
  plainChoices,
  statusChoices,
  TextInput,
} from '../parts/controls.ts';
import { periodFields, zoneField } from '../parts/period.ts';
import { groupField, segmentField } from '../parts/segment-field.ts';
import type { Choose } from '../shell/page.ts';

const SAME = [
  { value: '', text: 'Each for itself' },
  { value: '1', text: 'Counted together' },
];
const FINISHED = [
  { value: '', text: 'Leave out' },
  { value: '1', text: 'List too' },
];
const BOARDS = [
  { value: '', text: 'Together' },
  { value: 'board', text: 'One by one' },
];
const AGAINST = [
  { value: '', text: 'Nothing' },
  { value: 'previous', text: 'The period before' },
  { value: 'month', text: 'A month earlier' },
  { value: 'year', text: 'A year earlier' },
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
  'against',
  'segment',
  'sort',
  'closed',
] as const;
export type ReportChoice = Record<(typeof NAMES)[number], string | null>;

/** The zone is always one, and the order is shown in the table. */
export function countChosen(chosen: ReportChoice): number {
  return NAMES.filter((name) => name !== 'tz' && name !== 'sort' && chosen[name] !== null).length;
}

export function reportFilters(
  info: ReportInfo,
  { boards, statuses, customers }: ReportsAnswer & { customers: SegmentChoices },
  chosen: ReportChoice,
  choose: Choose<keyof ReportChoice>,
): Child[] {
  const { takes, since: usual } = info;
  const takesOne = (flag: ReportInfo['takes'][number]): boolean => takes.includes(flag);
  const places = [{ value: '', text: 'All boards' }, ...boardChoices(boards)];
  const named = [...new Set(statuses.map(({ name }) => name))].map((name) => ({ value: name, text: name }));
  return [
    takesOne('post') && postField(chosen.post, (post) => choose({ post })),
    takesOne('since') &&
      periodFields(chosen, { usual: usualText(usual), hasUntil: takesOne('until') }, choose),
    canCompare(info, chosen) &&
      choiceField('against', 'Compare with', comparisons(info), chosen.against, (against) =>
        choose({ against }),
      ),
    takesOne('board') && choiceField('board', 'Board', places, chosen.board, (board) => choose({ board })),
    takesOne('by') &&
      (info.isOfCustomers
        ? groupField(customers, chosen.by, (by) => choose({ by }))
        : choiceField('by', 'Boards', BOARDS, chosen.by, (by) => choose({ by, against: null }))),
    takesOne('segment') && segmentField(customers, chosen.segment, (segment) => choose({ segment })),
    takesOne('status') &&
      checklist('status', 'Status', statusChoices(statuses), listIn(chosen.status), (change) =>
        choose(({ status }) => ({ status: changedList(status, change) })),
      ),
    takesOne('includeClosed') &&
      choiceField('closed', 'Finished posts', FINISHED, chosen.closed, (closed) => choose({ closed })),
    takesOne('delivered') &&
      checklist(
        'delivered',
        'Counts as delivered',
        named,
        listIn(chosen.delivered),
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
  return field('Post', h(TextInput, { value: post, onText, input }));
}

/** Two periods are set side by side where the report has one, and rows that are in both: not the weeks of one of them. */
function canCompare({ name, takes, since: usual }: ReportInfo, { since, by }: ReportChoice): boolean {
  const isByWeek = name === 'first-reply' && by === null;
  return takes.includes('against') && (usual !== null || since !== null) && !isByWeek;
}

/** The overview compares by itself. */
function comparisons({ name }: ReportInfo): typeof AGAINST {
  if (name !== 'overview') return AGAINST;
  return [{ value: '', text: 'The period before' }, ...AGAINST.slice(2)];
}
