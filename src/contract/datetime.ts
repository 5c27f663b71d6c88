/** Whether the text is an ISO 8601 date that exists, with or without a time, seconds, fraction and zone. */
export function isDateTime(text: string): boolean {
  return scan(text) !== null;
}

/**
 * The moment in our one spelling, `2024-05-06T07:08:09.123Z`, or null when it is no date and time.
 * A text without a zone is read as UTC, which is what the API's own examples with a zone use.
 */
export function toInstant(text: string): string | null {
  const found = scan(text);
  if (!found) return null;
  const { hasSeconds, fractionEnd, offset } = found;
  if (text.length === DATE_LENGTH) return `${text}T00:00:00.000Z`;
  if (offset === 0 && fractionEnd === 23 && text.length === 24 && OURS.test(text)) return text;
  const minutes = `${text.slice(0, 10)}T${text.slice(11, 16)}`;
  const seconds = hasSeconds ? text.slice(17, 19) : '00';
  const fraction = text.slice(20, Math.min(fractionEnd, 23)).padEnd(3, '0');
  const local = `${minutes}:${seconds}.${fraction}Z`;
  return offset === 0 ? local : utc(local, offset);
}

/** Whether two texts name the same moment, however each of them is spelt: `09:00Z` is `10:00:00.000000+01:00`. */
export function isSameMoment(a: string, b: string): boolean {
  return a === b || (toInstant(a) === toInstant(b) && beyondMillis(a) === beyondMillis(b));
}

/** The digits of the fraction that our own spelling leaves out, without zeros at their end. */
function beyondMillis(text: string): string {
  const fractionEnd = scan(text)?.fractionEnd ?? 0;
  return text.slice(23, Math.max(fractionEnd, 23)).replace(/0+$/, '');
}

/** The letters of our own spelling: a `t`, a comma before the fraction and a `z` are ISO 8601 too. */
const OURS = /^.{10}T.{8}\..{3}Z$/;

/** A service that shows only the day shows all it knows. */
const DATE_LENGTH = 'YYYY-MM-DD'.length;

interface Scan {
  hasSeconds: boolean;
  /** Where the digits of the fraction end; 20 where there are none. */
  fractionEnd: number;
  /** Minutes ahead of UTC. */
  offset: number;
}

/**
 * Two of these stand in every row, so the digits are read one by one: a regular expression took three times as long.
 * Days are checked by hand as well, because V8 rolls 30 February over to March instead of refusing it.
 */
function scan(text: string): Scan | null {
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 2);
  const day = digits(text, 8, 2);
  if (text[4] !== '-' || text[7] !== '-' || year < 0 || !isDay(year, month, day)) return null;
  if (text.length === DATE_LENGTH) return { hasSeconds: false, fractionEnd: 20, offset: 0 };
  if ((text[10] !== 'T' && text[10] !== ' ' && text[10] !== 't') || text[13] !== ':') return null;
  const hour = digits(text, 11, 2);
  if (!isWithin(hour, 23) || !isWithin(digits(text, 14, 2), 59)) return null;
  const hasSeconds = text[16] === ':';
  const second = hasSeconds ? digits(text, 17, 2) : 0;
  if (!isWithin(second, 59)) return null;
  const fractionEnd = hasSeconds ? endOfFraction(text) : 20;
  const offset = fractionEnd < 0 ? null : offsetMinutes(text, hasSeconds ? Math.max(fractionEnd, 19) : 16);
  if (offset === null) return null;
  return { hasSeconds, fractionEnd: Math.max(fractionEnd, 20), offset };
}

/** The number at a position, or -1 if there are other characters than digits. */
function digits(text: string, from: number, count: number): number {
  let value = 0;
  for (let i = from; i < from + count; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value;
}

function isWithin(value: number, most: number): boolean {
  return value >= 0 && value <= most;
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDay(year: number, month: number, day: number): boolean {
  const days = DAYS[month - 1];
  if (days === undefined || day < 1) return false;
  return (
    day <= days || (month === 2 && day === 29 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0))
  );
}

/** 19 where there is no fraction, -1 where it has no digits or more than nine. */
function endOfFraction(text: string): number {
  if (text[19] !== '.' && text[19] !== ',') return 19;
  let end = 20;
  while (isWithin(text.charCodeAt(end) - 48, 9)) end++;
  return end === 20 || end > 29 ? -1 : end;
}

/** Nothing, `Z`, `+02`, `+0200` or `+02:00` and then the end; null where something else stands. */
function offsetMinutes(text: string, from: number): number | null {
  const zone = text.slice(from);
  if (zone === '' || zone === 'Z' || zone === 'z') return 0;
  const hours = digits(zone, 1, 2);
  const minutesAt = zone[3] === ':' ? 4 : 3;
  const minutes = zone.length === 3 ? 0 : digits(zone, minutesAt, 2);
  const isWhole = zone.length === 3 || zone.length === minutesAt + 2;
  if ((zone[0] !== '+' && zone[0] !== '-') || !isWhole || !isWithin(hours, 23) || !isWithin(minutes, 59))
    return null;
  const offset = (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes);
  return isFourDigitYear(text, offset) ? offset : null;
}

/** The moment must still have a year of four digits once the offset is taken off. */
function isFourDigitYear(text: string, offset: number): boolean {
  if (text[0] !== '0' && text[0] !== '9') return true;
  return utc(`${text.slice(0, 10)}T${text.slice(11, 16)}:00.000Z`, offset).length === 24;
}

function utc(local: string, offset: number): string {
  return new Date(Date.parse(local) - offset * 60_000).toISOString();
}
