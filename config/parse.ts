import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import type { CronExpressionParser } from 'cron-parser';
import { isLoopback } from '../src/base/loopback.ts';
import { Secret } from '../src/base/secret.ts';

/** Reading one setting from text. Each parser returns the value or throws an Error whose message says what is allowed. */
export interface Parse<T> {
  (text: string): T;
  /** The same rule in JSON Schema, as far as it can say it: it accepts every text that is allowed. */
  schema?: Record<string, unknown>;
}

function withSchema<T>(parse: (text: string) => T, schema: Record<string, unknown>): Parse<T> {
  return Object.assign(parse, { schema });
}

const DURATION = '\\d+(ms|s|m|h|d)';

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `500ms 10s 5m 2h 7d`, as milliseconds. */
export const duration: Parse<number> = withSchema(
  (text) => {
    const match = /^(\d+)(ms|s|m|h|d)$/.exec(text.trim());
    if (!match) throw new Error('must be a duration such as 500ms, 10s, 5m, 2h or 7d');
    const ms = Number(match[1]) * UNITS[match[2] as keyof typeof UNITS];
    if (!Number.isSafeInteger(ms)) throw new Error('must be a duration of less than 285,000 years');
    return ms;
  },
  { type: 'string', pattern: `^${DURATION}$` },
);

export function durationSetting(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const)
    if (ms > 0 && ms % UNITS[unit] === 0) return `${ms / UNITS[unit]}${unit}`;
  return `${ms}ms`;
}

/** A duration, or one of the given words for "not at all". */
export function durationOr<const W extends string>(word: W): Parse<number | W> {
  const parse = (text: string): number | W => {
    if (text.trim() === word) return word;
    try {
      return duration(text);
    } catch {
      throw new Error(`must be ${word}, or a duration such as 500ms, 10s, 5m, 2h or 7d`);
    }
  };
  return withSchema(parse, { type: 'string', pattern: `^(${word}|${DURATION})$` });
}

export function integer(min: number, max: number): Parse<number> {
  const parse = (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text.trim()) || value < min || value > max)
      throw new Error(`must be a whole number from ${min} to ${max}`);
    return value;
  };
  return withSchema(parse, { type: ['integer', 'string'], minimum: min, maximum: max, pattern: '^\\d+$' });
}

export function oneOf<const W extends string>(...words: W[]): Parse<W> {
  const parse = (text: string): W => {
    const found = words.find((word) => word === text.trim());
    if (found === undefined) throw new Error(`must be one of ${words.join(', ')}`);
    return found;
  };
  return withSchema(parse, { type: 'string', enum: words });
}

export const text: Parse<string> = (value) => {
  if (value.trim() === '') throw new Error('must not be empty');
  return value;
};

/** `Done, Live on the web`: names with commas between. */
export const names: Parse<readonly string[]> = (value) => {
  const list = value.split(',').map((name) => name.trim());
  if (list.some((name) => name === ''))
    throw new Error('must be names with commas between, none of them empty');
  return list;
};

/** Hosts, addresses and networks (`10.0.0.0/8`), with commas between. */
export const hostsAndNetworks: Parse<readonly string[]> = (value) => {
  const list = names(value);
  for (const entry of list) {
    const [address = '', prefix, ...more] = entry.split('/');
    const most = isIP(address) === 6 ? 128 : 32;
    const isNetwork = isIP(address) !== 0 && more.length === 0 && /^\d{1,3}$/.test(prefix ?? '');
    if (prefix === undefined || (isNetwork && Number(prefix) <= most)) continue;
    throw new Error(`has "${entry}", which is no network: write one as 10.0.0.0/8 or fd00::/8`);
  }
  return list;
};

/** What fits in a header and in a query string: a space or a line break inside is a slip of the paste. */
export const token: Parse<Secret> = (value) => {
  if (!/^[\x21-\x7e]+$/.test(value.trim()))
    throw new Error('must be printable ASCII without spaces or line breaks inside');
  if (value.trim().length < 4)
    throw new Error('must have at least 4 characters: a shorter text cannot be kept out of logs');
  return new Secret(value.trim());
};

/** A name that can stand in a query string without being escaped. */
export const parameterName: Parse<string> = (value) => {
  if (!/^[A-Za-z0-9_.~-]{1,64}$/.test(value))
    throw new Error('must be a parameter name of letters, digits and _ . ~ -');
  return value;
};

/** A URL to which the token is sent: https, or http to this machine; no credentials, query or fragment. */
export const upstreamUrl: Parse<URL> = (value) => {
  const url = URL.parse(value.trim());
  if (!url) throw new Error('must be a URL such as https://feedback.example.com');
  if (url.username || url.password)
    throw new Error('must not hold a user name or password; the token has a setting of its own');
  if (/[?#]/.test(url.href)) throw new Error('must not have a query or a fragment');
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    throw new Error('must be https, or http on loopback only (127.0.0.1, ::1, localhost)');
  }
  return url;
};

export const collectorUrl: Parse<URL> = (value) => {
  const url = URL.parse(value.trim());
  if (!url || !['https:', 'http:'].includes(url.protocol))
    throw new Error('must be a URL such as http://localhost:4318');
  if (/[?#]/.test(url.href)) throw new Error('must not have a query or a fragment');
  return url;
};

const QUEUES = ['redis:', 'rediss:', 'postgres:', 'postgresql:'];

export const queueUrl: Parse<Secret> = (value) => {
  const url = URL.parse(value.trim());
  if (!url || !QUEUES.includes(url.protocol) || url.hostname === '')
    throw new Error(
      'must be a URL such as redis://127.0.0.1:6379, rediss://host or postgres://user@host/database',
    );
  return new Secret(value.trim());
};

export const postgresUrl: Parse<Secret> = (value) => {
  const url = URL.parse(value.trim());
  if (!url || !/^postgres(ql)?:$/.test(url.protocol) || url.hostname === '')
    throw new Error('must be a URL such as postgres://user@host/database');
  return new Secret(value.trim());
};

export const smtpUrl: Parse<Secret> = (value) => {
  const url = URL.parse(value.trim());
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '')
    throw new Error('must be smtp://host:port or smtps://user:password@host');
  return new Secret(value.trim());
};

export const mailAddress: Parse<string> = (value) => {
  if (/^(?:[^<>\r\n]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/.test(value.trim())) return value.trim();
  throw new Error('must be an address such as feedback@example.com or Feedback <feedback@example.com>');
};

/** A name that PostgreSQL reads without quotes. Names with pg_ are its own. */
export const schemaName: Parse<string> = (value) => {
  if (!/^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(value.trim()))
    throw new Error('must be a name of small letters, digits and _, not beginning with pg_ or a digit');
  return value.trim();
};

/** Only loaded where a pattern is set: most commands need none. */
function cronParser(): typeof CronExpressionParser {
  const load = createRequire(import.meta.url) as (name: string) => typeof import('cron-parser');
  return load('cron-parser').CronExpressionParser;
}

/** Three fields would be taken for a pattern too, with the rest filled in: nobody means that. */
export const cron: Parse<string> = (value) => {
  const pattern = value.trim();
  const fields = pattern.split(/\s+/).length;
  const isNamed = /^@[a-z]+$/.test(pattern);
  try {
    if (!isNamed && (fields < 5 || fields > 6)) throw new Error();
    cronParser().parse(pattern).next();
  } catch {
    throw new Error(
      'must be a cron pattern that comes true: five fields such as "30 2 * * *", six with seconds first',
    );
  }
  return pattern;
};

/** The zone of this machine. Where it is empty or unknown, times are shown in UTC, and no library takes the name "Etc/Unknown". */
export function machineZone(): string {
  const zone: string | undefined = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return zone === undefined || zone === 'Etc/Unknown' ? 'UTC' : zone;
}

export const timeZone: Parse<string> = (value) => {
  // The C library's way to name a file, as in `:/etc/localtime`.
  if (value.startsWith(':')) return machineZone();
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value.trim() }).resolvedOptions().timeZone;
  } catch {
    throw new Error('must be a time zone such as UTC or Europe/Berlin');
  }
};

export const hostName: Parse<string> = (value) => {
  const host = value.trim();
  const spelt = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  if (!/^[A-Za-z0-9.:[\]-]+$/.test(host) || URL.parse(`http://${spelt}/`)?.port !== '')
    throw new Error('must be an address or a host name, without a port, such as 127.0.0.1');
  return host;
};

/** `mirror.example.com, feedback-mirror`: host names with commas between. */
export const hostNames: Parse<readonly string[]> = (value) =>
  names(value).map((name) => hostName(name).toLowerCase());

export const retention: Parse<number | 'never'> = withSchema(
  (value) => {
    if (value.trim() === '0') return 0;
    try {
      return durationOr('never')(value);
    } catch {
      throw new Error('must be never, 0, or a duration such as 30d');
    }
  },
  { type: 'string', pattern: `^(0|never|${DURATION})$` },
);
