const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|z|[+-]\d\d(?::?\d\d)?)?$/;

/** Whether the text is an ISO 8601 date and time that exists, with or without seconds, fraction and zone. */
export function isDateTime(text: string): boolean {
  const match = DATE_TIME.exec(text);
  return match !== null && exists(match);
}

/**
 * The moment in our one spelling, `2024-05-06T07:08:09.123Z`, or null when it is no date and time.
 * A text without a zone is read as UTC, which is what the API's own examples with a zone use.
 */
export function toInstant(text: string): string | null {
  const match = DATE_TIME.exec(text);
  if (!match || !exists(match)) return null;
  const [, year, month, day, hour, minute, second = '00', fraction = '', zone = 'Z'] = match;
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  const offset = offsetMinutes(zone);
  return offset === 0 ? local : utc(local, offset);
}

function utc(local: string, offset: number): string {
  return new Date(Date.parse(local) - offset * 60_000).toISOString();
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Checked by hand because V8 rolls 30 February over to March instead of refusing it. */
function exists([, year, month, day, hour, minute, second, , zone]: RegExpExecArray): boolean {
  const days = DAYS[Number(month) - 1];
  if (days === undefined || Number(day) === 0) return false;
  if (Number(day) > days && !(month === '02' && day === '29' && isLeap(Number(year)))) return false;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second ?? 0) > 59) return false;
  return (
    zone === undefined ||
    zone === 'Z' ||
    zone === 'z' ||
    isOffset(zone, `${year}-${month}-${day}T${hour}:${minute}Z`)
  );
}

/** Hours to 23, minutes to 59, and the moment still has a year of four digits once the offset is taken off. */
function isOffset(zone: string, local: string): boolean {
  if (Number(zone.slice(1, 3)) > 23 || Number(zone.slice(-2)) > 59) return false;
  return (local[0] !== '0' && local[0] !== '9') || utc(local, offsetMinutes(zone)).length === 24;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function offsetMinutes(zone: string): number {
  if (zone === 'Z' || zone === 'z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', ''));
  return zone[0] === '-' ? -minutes : minutes;
}
