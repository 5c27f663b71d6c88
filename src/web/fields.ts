import type { KnownBoard } from '../base/boards.ts';
import { type Child, h } from './dom.ts';
import { OWN_ZONE } from './format.ts';
import { button, type Choice, field, select } from './parts.ts';

/** One of a list; null where none is chosen. */
export function choiceField(
  name: string,
  label: string,
  choices: readonly Choice[],
  chosen: string | null,
  onChange: (value: string | null) => void,
): HTMLElement {
  return field(
    label,
    select(name, choices, chosen ?? '', (value) => onChange(value || null)),
  );
}

export function boardChoices(boards: readonly { slug: string; name: string }[]): Choice[] {
  return boards.map(({ slug, name }) => ({ value: slug, text: name }));
}

export function statusChoices(statuses: readonly { id: number; name: string }[]): Choice[] {
  return statuses.map(({ id, name }) => ({ value: String(id), text: name }));
}

export function plainChoices(values: readonly string[]): Choice[] {
  return values.map((value) => ({ value, text: value.replaceAll('_', ' ') }));
}

/** What becomes of a list in an address, `a,b`. */
export type ListChange = (values: readonly string[]) => readonly string[];

export function listed(text: string | null): string[] {
  return text?.split(',') ?? [];
}

export function changedList(text: string | null, change: ListChange): string | null {
  return change(listed(text)).join(',') || null;
}

/** Several of a list: a box that opens, with a box to tick for each. What was open stays open when it is drawn again. */
export function picks(
  name: string,
  label: string,
  choices: readonly Choice[],
  chosen: readonly string[],
  onChange: (change: ListChange) => void,
  none = 'All',
): HTMLElement {
  const id = `picks-${name}`;
  const known = choices.filter(({ value }) => chosen.includes(value));
  const isOpen = document.querySelector<HTMLDetailsElement>(`#${id}`)?.open ?? false;
  const toggle = (value: string, isOn: boolean): void =>
    onChange((values) => [...values.filter((one) => one !== value), ...(isOn ? [value] : [])]);
  const boxes = choices.map(({ value, text }, i) =>
    h(
      'label.tick',
      h('input', {
        type: 'checkbox',
        id: `${id}-${i}`,
        name,
        value,
        checked: chosen.includes(value),
        on: { change: ({ target }) => toggle(value, (target as HTMLInputElement).checked) },
      }),
      h('span', { dir: 'auto' }, text),
    ),
  );
  const said = chosen.length === 0 ? none : known.length === 1 ? known[0]?.text : `${chosen.length} chosen`;
  return h(
    'div.field',
    h('span', { id: `${id}-label` }, label),
    h(
      'details.picks',
      { id, open: isOpen },
      h(
        'summary',
        { id: `${id}-summary`, 'aria-label': `${label}: ${said}` },
        h('span', { dir: 'auto' }, said),
      ),
      h(
        'div.picks-list',
        { role: 'group', 'aria-labelledby': `${id}-label` },
        ...boxes,
        chosen.length > 0 ? button(none, () => onChange(() => []), { id: `${id}-none` }) : null,
      ),
    ),
  );
}

/** As an address says it: nothing for the usual one, `30d`, or days. */
interface PeriodChoice {
  since: string | null;
  until: string | null;
}

const PERIODS: Choice[] = [
  { value: '7d', text: 'Last 7 days' },
  { value: '30d', text: 'Last 30 days' },
  { value: '90d', text: 'Last 90 days' },
  { value: '365d', text: 'Last 12 months' },
];
const CUSTOM = 'custom';
const DAY_MS = 86_400_000;

interface PeriodOptions {
  /** What no choice means, in words. */
  usual: string;
  /** Whether its end can be chosen too. */
  hasUntil: boolean;
}

/** Whether somebody chose its days; `30d` is the same everywhere. */
function isOfDays({ since, until }: PeriodChoice): boolean {
  return until !== null || (since !== null && !PERIODS.some(({ value }) => value === since));
}

interface ZonedChoice extends PeriodChoice {
  tz: string | null;
}

/** Days that somebody chose are those of a zone, and their address names it: whoever follows it sees the same, wherever they are. */
export function withZone<T extends ZonedChoice>(chosen: T): T {
  return { ...chosen, tz: isOfDays(chosen) ? (chosen.tz ?? OWN_ZONE) : null };
}

/** A period as below, and where its days are chosen, whose they are. */
export function zonedPeriodFields(
  chosen: ZonedChoice,
  options: PeriodOptions,
  onChange: (change: Partial<ZonedChoice>) => void,
): HTMLElement[] {
  const fields = periodFields(chosen, options, onChange);
  if (!isOfDays(chosen)) return fields;
  return [...fields, zoneField(chosen.tz ?? OWN_ZONE, (tz) => onChange({ tz: tz || null }))];
}

/** A period: one of the usual ones, or two days. The address names the day after the last one, as every period ends before a moment. */
export function periodFields(
  { since, until }: PeriodChoice,
  { usual, hasUntil }: PeriodOptions,
  onChange: (change: Partial<PeriodChoice>) => void,
): HTMLElement[] {
  const isCustom = isOfDays({ since, until });
  const choices = [
    { value: '', text: usual },
    ...PERIODS.filter(({ text }) => text !== usual),
    { value: CUSTOM, text: hasUntil ? 'From … to …' : 'Since …' },
  ];
  const pick = (value: string): void => {
    if (value === CUSTOM) onChange({ since: dayOf(Date.now() - 30 * DAY_MS), until: null });
    else onChange({ since: value === '' ? null : value, until: null });
  };
  const period = field('Period', select('period', choices, isCustom ? CUSTOM : (since ?? ''), pick));
  if (!isCustom) return [period];
  const last = until !== null && isDay(until) ? dayOf(Date.parse(until) - DAY_MS) : '';
  const to = (value: string | null): void => onChange({ until: value && dayOf(Date.parse(value) + DAY_MS) });
  return [
    period,
    dayField('since', 'From', firstDay(since), (value) => onChange({ since: value })),
    ...(hasUntil ? [dayField('until', 'To', last, to)] : []),
  ];
}

/** Long enough to go from the day to the year; whoever picks a day from the calendar waits no longer. */
const DAY_PAUSE_MS = 1200;
/** The first digits of a year make an early one, which no filter takes. */
const DAYS = { min: '1900-01-01', max: '9999-12-30' };

/**
 * A day to type or to pick. A browser tells of every key as a change once the field holds a date, also of the first digit of another
 * year: it counts when the person leaves the field, presses Enter or pauses.
 */
function dayField(
  name: string,
  label: string,
  value: string,
  onDay: (day: string | null) => void,
): HTMLElement {
  const input = h('input', { type: 'date', id: `field-${name}`, name, value, ...DAYS });
  let told = value;
  let pause: ReturnType<typeof setTimeout> | undefined;
  const tell = (): void => {
    clearTimeout(pause);
    if (!input.isConnected || !input.validity.valid || input.value === told) return;
    told = input.value;
    onDay(told || null);
  };
  input.addEventListener('change', () => {
    clearTimeout(pause);
    pause = setTimeout(tell, DAY_PAUSE_MS);
  });
  input.addEventListener('blur', tell);
  input.addEventListener('keydown', ({ key }) => key === 'Enter' && tell());
  return field(label, input);
}

/** Also of what an address counts back from now, such as `45d`. */
function firstDay(since: string | null): string {
  if (since === null || isDay(since)) return since ?? '';
  const days = /^(\d{1,5})d$/.exec(since)?.[1];
  if (days !== undefined) return dayOf(Date.now() - Number(days) * DAY_MS);
  return Number.isNaN(Date.parse(since)) ? '' : since.slice(0, 10);
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text);
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Whose days and weeks are meant; any zone that the browser knows. */
export function zoneField(chosen: string, onChange: (zone: string) => void): HTMLElement {
  const input = h('input', { id: 'field-tz', name: 'tz', list: 'zones', value: chosen, autocomplete: 'off' });
  const zones = new Set([OWN_ZONE, 'UTC', ...Intl.supportedValuesOf('timeZone')]);
  input.addEventListener('change', () => onChange(input.value.trim()));
  const list = h('datalist', { id: 'zones' }, ...[...zones].map((value): Child => h('option', { value })));
  return h('div', field('Time zone', input), list);
}

interface BoardPicker {
  element: HTMLElement;
  /** A slug, what was typed, or the value of one of the other choices; empty where nothing is chosen. */
  value(): string;
}

interface PickerOptions {
  /** Tells it from other pickers of the page. */
  id: string;
  /** What it asks for, to be read out. */
  label: string;
  boards: readonly KnownBoard[];
  chosen?: string;
  /** Slugs that are likely meant: they stand first. */
  suggested?: readonly string[];
  /** Choices that are no board, behind the boards. */
  others?: readonly Choice[];
  onPick?(value: string): void;
}

const TYPED = '+typed';

/** A board to choose, or to type: a new service has none to choose from, and boards without posts are never listed. */
export function boardPicker(options: PickerOptions): BoardPicker {
  const { id, label, boards, chosen = '', suggested = [], others = [], onPick } = options;
  const known = [...suggested, ...boards.map(({ slug }) => slug), ...others.map(({ value }) => value)];
  const isTyped = chosen !== '' && !known.includes(chosen);
  const input = h('input', {
    id: `field-${id}-typed`,
    'aria-label': `${label}: the short part of its URL`,
    placeholder: 'e.g. feature-requests',
    autocomplete: 'off',
    spellcheck: 'false',
    hidden: boards.length > 0 && !isTyped,
  });
  input.value = isTyped ? chosen : '';
  const pick = (value: string): void => {
    if (value !== '') onPick?.(value);
  };
  input.addEventListener('change', () => pick(input.value.trim()));
  if (boards.length + suggested.length + others.length === 0)
    return { element: input, value: () => input.value.trim() };
  const list = select(id, choicesOf(options), isTyped ? TYPED : chosen, (value) => {
    input.hidden = value !== TYPED;
    if (value === TYPED) input.focus();
    else pick(value);
  });
  list.setAttribute('aria-label', label);
  if (list.value === TYPED) input.hidden = false;
  return {
    element: h('div.board-picker', list, input),
    value: () => (list.value === TYPED ? input.value.trim() : list.value),
  };
}

function choicesOf({ boards, suggested = [], others = [], chosen = '' }: PickerOptions): Choice[] {
  const nameOf = (slug: string): string => boards.find((board) => board.slug === slug)?.name ?? slug;
  const rest = boards.filter(({ slug }) => !suggested.includes(slug));
  return [
    ...(chosen === '' ? [{ value: '', text: 'Choose …' }] : []),
    ...suggested.map((slug) => ({ value: slug, text: `${nameOf(slug)} (suggested)` })),
    ...boardChoices(rest),
    { value: TYPED, text: 'Another board: type it …' },
    ...others,
  ];
}

/** The picker under a label, for a form. */
export function boardField(label: string, picker: BoardPicker): Child {
  return h('div.field', h('span', label), picker.element);
}
