import { type Child, h } from './dom.ts';
import { button, type Choice, field, select } from './parts.ts';

/** Several of a list: a box that opens, with a box to tick for each. What was open stays open when it is drawn again. */
export function picks(
  name: string,
  label: string,
  choices: readonly Choice[],
  chosen: readonly string[],
  onChange: (values: string[]) => void,
  none = 'All',
): HTMLElement {
  const id = `picks-${name}`;
  const known = choices.filter(({ value }) => chosen.includes(value));
  const isOpen = document.querySelector<HTMLDetailsElement>(`#${id}`)?.open ?? false;
  const toggle = (value: string, isOn: boolean): void => {
    const others = chosen.filter((one) => one !== value);
    onChange(isOn ? [...others, value] : others);
  };
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
        chosen.length > 0 ? button(none, () => onChange([]), { id: `${id}-none` }) : null,
      ),
    ),
  );
}

/** As an address says it: nothing for the usual one, `30d`, or days. */
export interface PeriodChoice {
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

export interface PeriodOptions {
  /** What no choice means, in words. */
  usual: string;
  /** Whether its end can be chosen too. */
  hasUntil: boolean;
}

/** A period: one of the usual ones, or two days. The address names the day after the last one, as every period ends before a moment. */
export function periodFields(
  { since, until }: PeriodChoice,
  { usual, hasUntil }: PeriodOptions,
  onChange: (choice: PeriodChoice) => void,
): HTMLElement[] {
  const isCustom = until !== null || (since !== null && !PERIODS.some(({ value }) => value === since));
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
  const day = (name: string, label: string, value: string, set: (value: string | null) => void) => {
    const input = h('input', { type: 'date', id: `field-${name}`, name, value });
    input.addEventListener('change', () => set(input.value === '' ? null : input.value));
    return field(label, input);
  };
  const last = until !== null && isDay(until) ? dayOf(Date.parse(until) - DAY_MS) : '';
  const to = (value: string | null): void =>
    onChange({ since, until: value && dayOf(Date.parse(value) + DAY_MS) });
  return [
    period,
    day('since', 'From', firstDay(since), (value) => onChange({ since: value, until })),
    ...(hasUntil ? [day('until', 'To', last, to)] : []),
  ];
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
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = new Set([own, 'UTC', ...Intl.supportedValuesOf('timeZone')]);
  input.addEventListener('change', () => onChange(input.value.trim()));
  const list = h('datalist', { id: 'zones' }, ...[...zones].map((value): Child => h('option', { value })));
  return h('div', field('Time zone', input), list);
}
