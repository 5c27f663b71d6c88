import type { PostsAnswer } from '../../http/dashboard/posts.ts';
import { type Child, h, type Props, type VNode } from '../h.ts';
import {
  boardChoices,
  type ControlChoice,
  changedList,
  checklist,
  choiceField,
  field,
  listIn,
  statusChoices,
  TextInput,
} from '../parts/controls.ts';
import { zonedPeriodFields } from '../parts/period.ts';
import { segmentField, type WithCustomers } from '../parts/segment-field.ts';
import type { Choose } from '../shell/page.ts';

/** What makes a list show less than everything. */
export const FILTERS = [
  'search',
  'board',
  'status',
  'creator',
  'deleted',
  'since',
  'until',
  'votes',
  'segment',
] as const;
type Chosen = Record<(typeof FILTERS)[number] | 'tz' | 'sort', string | null>;

export function isFiltered(chosen: Chosen): boolean {
  return FILTERS.some((name) => chosen[name]);
}

/** Beside the search, which has a place of its own. */
export function countFilters(chosen: Chosen): number {
  return FILTERS.filter((name) => name !== 'search' && chosen[name]).length;
}

const DELETED: ControlChoice[] = [
  { value: '', text: 'Hide' },
  { value: 'too', text: 'Include' },
  { value: 'only', text: 'Only' },
];

const SORTS: ControlChoice[] = [
  { value: '', text: 'Newest' },
  { value: 'oldest', text: 'Oldest' },
  { value: 'votes', text: 'Most votes' },
  { value: 'comments', text: 'Most comments' },
  { value: 'changed', text: 'Recently changed' },
];

export function postFilters(
  chosen: Chosen,
  answer: PostsAnswer & WithCustomers,
  choose: Choose<keyof Chosen>,
): Child[] {
  const one = (name: keyof Chosen, label: string, choices: ControlChoice[]): VNode =>
    choiceField(name, label, withOther(choices, chosen[name]), chosen[name], (value) =>
      choose({ [name]: value }),
    );
  const several = (name: 'board' | 'status', label: string, choices: ControlChoice[]): VNode =>
    checklist(name, label, choices, listIn(chosen[name]), (change) =>
      choose((now) => ({ [name]: changedList(now[name], change) })),
    );
  const typed = (
    name: 'votes' | 'creator',
    label: string,
    value: string | null,
    input: Props<'input'>,
  ): VNode =>
    field(
      label,
      h(TextInput, {
        value,
        // Every post has at least 0 votes.
        onText: (text) => choose({ [name]: name === 'votes' && Number(text) === 0 ? null : text }),
        input: { id: `field-${name}`, name, ...input },
      }),
    );
  return [
    several('board', 'Board', boardChoices(answer.boards)),
    several('status', 'Status', statusChoices(answer.statuses)),
    ...zonedPeriodFields(chosen, { usual: 'Any time', hasUntil: true }, choose),
    typed('votes', 'Votes, at least', chosen.votes, { type: 'number', min: 0, step: 1 }),
    typed('creator', 'Written by', creatorText(chosen, answer), { placeholder: 'Name or e-mail' }),
    segmentField(answer.customers, chosen.segment, (segment) => choose({ segment })),
    one('deleted', 'Deleted posts', DELETED),
    chosen.search === null ? one('sort', 'Sort by', SORTS) : null,
    isFiltered(chosen) ? h('a.button', { id: 'clear-filters', href: '/posts' }, 'Clear all') : null,
  ];
}

/** A person's number in the address is shown as their name. */
function creatorText({ creator }: Chosen, { creator: person }: PostsAnswer): string | null {
  return creator !== null && person && String(person.id) === creator
    ? (person.name ?? `user ${creator}`)
    : creator;
}

/** What came with the address and is none of the usual choices is one too. */
function withOther(choices: ControlChoice[], chosen: string | null): ControlChoice[] {
  const isKnown = chosen === null || choices.some(({ value }) => value === chosen);
  return isKnown ? choices : [...choices, { value: chosen, text: chosen }];
}
