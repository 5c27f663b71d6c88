import { useEffect, useRef } from 'preact/hooks';
import { OWN_ZONE } from '../format.ts';
import { h, type VNode } from '../h.ts';
import { type ControlChoice, field, select, TextInput } from './controls.ts';

/** As an address says it: nothing for the usual one, `30d`, or days. */
interface PeriodChoice {
  since: string | null;
  until: string | null;
}

const PERIODS: ControlChoice[] = [
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

/** Chosen days belong to a time zone. The address names the zone, so a link shows the same days to everybody. */
export function withZone<T extends ZonedChoice>(chosen: T): T {
  return { ...chosen, tz: isOfDays(chosen) ? (chosen.tz ?? OWN_ZONE) : null };
}

/** A period as below, and where its days are chosen, whose they are. */
export function zonedPeriodFields(
  chosen: ZonedChoice,
  options: PeriodOptions,
  onChange: (change: Partial<ZonedChoice>) => void,
): VNode[] {
  const fields = periodFields(chosen, options, onChange);
  if (!isOfDays(chosen)) return fields;
  return [...fields, zoneField(chosen.tz ?? OWN_ZONE, (tz) => onChange({ tz: tz || null }))];
}

/** A period: one of the usual ones, or two days. Every period ends before a moment, so the address has the day after the last one. */
export function periodFields(
  { since, until }: PeriodChoice,
  { usual, hasUntil }: PeriodOptions,
  onChange: (change: Partial<PeriodChoice>) => void,
): VNode[] {
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
    h(DayField, {
      key: 'since',
      name: 'since',
      label: 'From',
      value: firstDay(since),
      onDay: (day) => onChange({ since: day }),
    }),
    ...(hasUntil ? [h(DayField, { key: 'until', name: 'until', label: 'To', value: last, onDay: to })] : []),
  ];
}

/** Time to move from the day to the year of a date before the change counts. */
const DAY_PAUSE_MS = 1200;
/** The first digits of a year make an early one, which no filter takes. */
const DAYS = { min: '1900-01-01', max: '9999-12-30' };

interface DayOptions {
  name: string;
  label: string;
  value: string;
  onDay(day: string | null): void;
}

/**
 * A day to type or to pick. Once the field holds a date, a browser reports every key as a change, even the first digit of a year. So a
 * change counts when the person leaves the field, presses Enter or pauses. The field keeps what is half typed.
 */
function DayField({ name, label, value, onDay }: DayOptions): VNode {
  const input = useRef<HTMLInputElement>(null);
  const lastValue = useRef(value);
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (input.current && lastValue.current !== value) input.current.value = value;
    lastValue.current = value;
  }, [value]);
  useEffect(() => () => clearTimeout(pause.current), []);
  const tell = (): void => {
    clearTimeout(pause.current);
    const day = input.current;
    if (!day?.validity.valid || day.value === lastValue.current) return;
    lastValue.current = day.value;
    onDay(day.value || null);
  };
  return field(
    label,
    h('input', {
      ref: input,
      type: 'date',
      id: `field-${name}`,
      name,
      defaultValue: value,
      ...DAYS,
      onChange: () => {
        clearTimeout(pause.current);
        pause.current = setTimeout(tell, DAY_PAUSE_MS);
      },
      onBlur: tell,
      onKeyDown: ({ key }) => key === 'Enter' && tell(),
    }),
  );
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
export function zoneField(chosen: string, onChange: (zone: string) => void): VNode {
  const zones = new Set([OWN_ZONE, 'UTC', ...Intl.supportedValuesOf('timeZone')]);
  const input = { id: 'field-tz', name: 'tz', list: 'zones' };
  return h(
    'div',
    field('Time zone', h(TextInput, { value: chosen, onText: (zone) => onChange(zone ?? ''), input })),
    h(
      'datalist',
      { id: 'zones' },
      [...zones].map((value) => h('option', { key: value, value })),
    ),
  );
}
