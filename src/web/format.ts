const whole = new Intl.NumberFormat();
const percentage = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();

/**
 * The time zone of the reader, for days, weeks and times. The address of a page can name another zone. A browser that does not know its
 * zone reports Etc/Unknown.
 */
export const OWN_ZONE = timeZone === 'Etc/Unknown' ? 'UTC' : timeZone;

const change = new Intl.NumberFormat(undefined, {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
});
const month = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', timeZone: 'UTC' });

interface ZoneFormats {
  day: Intl.DateTimeFormat;
  moment: Intl.DateTimeFormat;
}

/** A page shows hundreds of times in one zone, and making a format takes far longer than using it. */
const formats = new Map<string, ZoneFormats>();

function formatsOf(zone: string): ZoneFormats {
  const made = formats.get(zone) ?? {
    day: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: zone }),
    moment: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone: zone }),
  };
  formats.set(zone, made);
  return made;
}

export function number(value: number | null): string {
  return value === null ? '–' : whole.format(value);
}

export function percent(share: number | null): string {
  return share === null ? '–' : percentage.format(share);
}

/** How much more or less, with its sign. */
export function changeText(share: number): string {
  return change.format(share);
}

/** A date in Hebrew or Arabic keeps its own order within an English sentence. */
export function isolated(text: string): string {
  return /[\u0590-\u08ff]/.test(text) ? `\u2068${text}\u2069` : text;
}

export function date(iso: string | null, zone = OWN_ZONE): string {
  if (iso === null) return '–';
  if (iso.length === 7) return isolated(month.format(new Date(iso)));
  // A day without an hour is the same day in every zone.
  return isolated(formatsOf(iso.length === 10 ? 'UTC' : zone).day.format(new Date(iso)));
}

export function time(iso: string | null, zone = OWN_ZONE): string {
  return iso === null ? '–' : isolated(formatsOf(zone).moment.format(new Date(iso)));
}

/** The time alone where it is of today. */
export function clockTime(iso: string): string {
  const at = new Date(iso);
  return at.toDateString() === new Date().toDateString() ? isolated(hour.format(at)) : time(iso);
}

/** A sentence of the service, which has its instants as the browser is to show them. */
export function withClockTimes(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, clockTime);
}

/**
 * A period as its days in the zone of the question, which may be the zone of another person. The last day stands in the place of the
 * midnight that ends the period. Moments within a day are shown with their time.
 */
export function period(since: string, until: string, zone: string): string {
  const isMidnight = (iso: string): boolean =>
    new Date(iso).toLocaleTimeString('en-GB', { timeZone: zone }) === '00:00:00';
  const isDays = isMidnight(since) && isMidnight(until);
  const style: Intl.DateTimeFormatOptions = {
    dateStyle: 'medium',
    timeZone: zone,
    ...(!isDays && { timeStyle: 'short' }),
  };
  const shown = new Intl.DateTimeFormat(undefined, style);
  const last = isDays ? Date.parse(until) - 1 : Date.parse(until);
  return isolated(shown.formatRange(new Date(since), last));
}

/** The first and the last day of several. */
export function dayRange(first: string, last: string, zone: string): string {
  return isolated(formatsOf(zone).day.formatRange(new Date(first), new Date(last)));
}

/** A sentence of the service with its dates in the reader's own format: days, instants, and times of the clock that was asked for. */
export function withDates(text: string, zone = OWN_ZONE): string {
  return text.replace(
    /\b\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z)?( \d{2}:\d{2}\b)?/g,
    (found, instant, wall) => {
      const parsed = new Date(wall ? `${found.replace(' ', 'T')}Z` : found);
      if (Number.isNaN(parsed.getTime())) return found;
      // A time of the clock is shown as it stands.
      if (wall) return time(parsed.toISOString(), 'UTC');
      return instant ? time(found, zone) : date(found);
    },
  );
}

const UNITS: [limitSeconds: number, perUnit: number, name: string][] = [
  [90, 1, 's'],
  [90 * 60, 60, 'min'],
  [36 * 3600, 3600, 'h'],
  [Number.POSITIVE_INFINITY, 86_400, 'd'],
];

/** `45 s`, `3 min`, `5 h`, `2 d`. */
export function span(ms: number): string {
  const seconds = Math.max(0, ms / 1000);
  const [, perUnit, name] = UNITS.find(([limit]) => seconds < limit) ?? [0, 1, 's'];
  return `${number(Math.round(seconds / perUnit))} ${name}`;
}

/** How long something took that has a beginning and, once it is over, an end. */
export function lasted(from: string, to: string | null): string {
  if (to === null) return '–';
  const ms = Math.max(0, Date.parse(to) - Date.parse(from));
  return ms < 1000 ? `${ms} ms` : span(ms);
}

interface Pace {
  rows: number;
  perMinute: number;
  ms: number;
  /** In milliseconds since the epoch. */
  until: number;
}

const hour = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const HALF_DAY_MS = 12 * 3_600_000;

/** `5,000 posts at 60 a minute: about 83 min, until 17:40`. */
export function estimateText({ rows, perMinute, ms, until }: Pace): string {
  const end = (ms < HALF_DAY_MS ? hour : formatsOf(OWN_ZONE).moment).format(new Date(until));
  return `${counted(rows, 'post')} at ${number(perMinute)} a minute: about ${span(ms)}, until ${end}`;
}

export function ago(iso: string | null): string {
  return iso === null ? 'never' : `${span(Date.now() - Date.parse(iso))} ago`;
}

/** `1 post`, `2 posts`. */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${number(n)} ${n === 1 ? one : many}`;
}

/** `12 kB`, `3 MB`. */
export function size(bytes: number): string {
  if (bytes < 1024 * 1024) return `${number(Math.ceil(bytes / 1024))} kB`;
  return `${number(Math.round(bytes / 1024 / 1024))} MB`;
}

/** The name of a report, a column or a check, as a title. */
export function titleOf(name: string): string {
  const text = name.replaceAll(/[-_]/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
