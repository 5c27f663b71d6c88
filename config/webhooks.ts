import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf } from '../src/base/errors.ts';
import { Secret } from '../src/base/secret.ts';
import type { Parse } from './parse.ts';

export interface Webhook {
  /** What it is known by in the mirror, in logs and on the page: its name, or a digest of its address. */
  id: string;
  /** A secret, because the addresses that Slack, Discord and Teams give out let anybody write there. */
  url: Secret;
  host: string;
  /** The key of the signature; null for a format that has none. */
  key: Secret | null;
  format: WebhookFormat;
  /** Types, or groups such as `post.*`; null for every type that is an event to people. */
  types: readonly string[] | null;
  /** By name, short name or number; null for all. */
  boards: readonly string[] | null;
  rule: WebhookRule | null;
  personal: boolean;
}

export const WEBHOOK_FORMATS = ['standard', 'slack', 'discord', 'teams'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** `votes>=50`: of all changes, those that make it true. */
export interface WebhookRule {
  field: 'votes' | 'comments' | 'status' | 'board';
  operator: '=' | '!=' | '>' | '>=' | '<' | '<=';
  value: string;
}

/** Enough that nobody guesses it; the specification asks for 24 to 64 bytes. */
const KEY_BYTES = { least: 24, most: 64 };

export const webhookSecret: Parse<Secret> = (value) => {
  const text = value.trim().replace(/^whsec_/, '');
  const bytes = Buffer.from(text, 'base64');
  const isBase64 = bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  if (!isBase64 || bytes.length < KEY_BYTES.least || bytes.length > KEY_BYTES.most)
    throw new Error(
      'must be 24 to 64 random bytes in base64, with or without whsec_ before them, such as "openssl rand -base64 32" prints',
    );
  return new Secret(text);
};

export const webhookUrl: Parse<Secret> = (value) => {
  const url = URL.parse(value.trim());
  if (!url || !['https:', 'http:'].includes(url.protocol))
    throw new Error('must be a URL such as https://example.com/hook');
  if (url.username || url.password) throw new Error('must not hold a user name or password');
  return new Secret(url.href);
};

export const rule: Parse<WebhookRule> = (value) => {
  const match = /^\s*(votes|comments|status|board)\s*(>=|<=|!=|=|>|<)\s*(\S.*?)\s*$/.exec(value);
  const [, field = '', operator = '', wanted = ''] = match ?? [];
  const isCount = field === 'votes' || field === 'comments';
  if (!match || (isCount ? !/^\d+$/.test(wanted) : !['=', '!='].includes(operator)))
    throw new Error('must be a rule such as votes>=50, comments>10, status=Completed or board!=Internal');
  return { field, operator, value: wanted } as WebhookRule;
};

interface Given {
  url: Secret | null;
  secret: Secret | null;
  file: string | null;
}

/** Every endpoint of the settings; throws an Error that says what is wrong, without an address or a secret in it. */
export function readWebhooks({ url, secret, file }: Given, cwd: string): Webhook[] {
  if (url && !secret)
    throw new Error(
      'WEBHOOK_SECRET is required with WEBHOOK_URL: receivers tell by it that a message is ours',
    );
  const single = url ? [readWebhook({ url: url.reveal(), secret: secret?.reveal() }, cwd)] : [];
  const all = [...single, ...(file === null ? [] : fromFile(resolve(cwd, file), cwd))];
  const twice = all.find(({ id }, i) => all.findIndex((other) => other.id === id) < i);
  if (twice)
    throw new Error(`two webhooks are called ${twice.id}: give each a "name" of its own in WEBHOOKS_FILE`);
  return all;
}

function fromFile(path: string, cwd: string): Webhook[] {
  const name = `WEBHOOKS_FILE=${JSON.stringify(path)}`;
  return readWebhookList(readWebhookFile(path, name), cwd, 'WEBHOOKS_FILE');
}

/** What a file of this form holds; `name` is what an error calls it. */
export function readWebhookFile(path: string, name: string): Record<string, unknown>[] {
  let list: unknown;
  try {
    list = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${name} ${code ? `cannot be read (${code})` : 'is not JSON'}`);
  }
  if (!Array.isArray(list)) throw new Error(`${name} must hold a list of webhooks`);
  return list.map((given: unknown) => Object(given) as Record<string, unknown>);
}

export function readWebhookList(
  list: readonly Record<string, unknown>[],
  cwd: string,
  name: string,
): Webhook[] {
  return list.map((given, i) => {
    try {
      return readWebhook(given, cwd);
    } catch (error) {
      throw new Error(`webhook ${i + 1} of ${name}: ${messageOf(error)}`);
    }
  });
}

const NAME = /^[A-Za-z0-9_-]{1,40}$/;
const TEXT = { type: 'string' };
const TEXTS = { type: 'array', items: TEXT, minItems: 1 };

/** The fields of one webhook in WEBHOOKS_FILE, as JSON Schema. */
export const WEBHOOK_FIELDS = {
  name: { ...TEXT, pattern: NAME.source, description: 'its name on the page and in logs' },
  url: {
    ...TEXT,
    pattern: '^https?://',
    description: 'https; http and private addresses only if WEBHOOK_ALLOW lists them',
  },
  secret: { ...TEXT, description: 'key of the signature: 24 to 64 bytes in base64' },
  secret_file: { ...TEXT, description: 'path of a file with the key' },
  types: { ...TEXTS, description: 'types of changes, or groups such as post.*' },
  boards: { ...TEXTS, description: 'boards by name, short name or number' },
  rule: { ...TEXT, description: 'such as votes>=50: the changes that make it true' },
  format: { enum: WEBHOOK_FORMATS, default: 'standard', description: 'form of the message' },
  personal: { type: 'boolean', default: false, description: 'true adds the author' },
};
const FIELDS = Object.keys(WEBHOOK_FIELDS);

/** One of them; throws an Error without an address or a secret in it. */
export function readWebhook(given: Record<string, unknown>, cwd: string): Webhook {
  const unknown = Object.keys(given).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    throw new Error(`there is no field "${unknown}"; there are ${FIELDS.join(', ')}`);
  const url = field('url', webhookUrl, textIn(given, 'url') ?? '');
  const name = textIn(given, 'name');
  if (name !== null && !NAME.test(name)) throw new Error('"name" must be letters, digits, - and _');
  const format = field('format', formatOf, textIn(given, 'format') ?? 'standard');
  const key = keyOf(given, cwd);
  if (format === 'standard' && !key)
    throw new Error('a "secret" or a "secret_file" is missing: the format standard is signed');
  const ruled = textIn(given, 'rule');
  return {
    id: name ?? hash('sha256', url.reveal()).slice(0, 12),
    url,
    host: new URL(url.reveal()).host,
    key,
    format,
    types: listIn(given, 'types'),
    boards: listIn(given, 'boards'),
    rule: ruled === null ? null : field('rule', rule, ruled),
    personal: given.personal === true,
  };
}

function keyOf(given: Record<string, unknown>, cwd: string): Secret | null {
  const [text, path] = [textIn(given, 'secret'), textIn(given, 'secret_file')];
  if (text !== null) return field('secret', webhookSecret, text);
  if (path === null) return null;
  try {
    return webhookSecret(readFileSync(resolve(cwd, path), 'utf8'));
  } catch (error) {
    throw new Error(`"secret_file" ${messageOf(error)}`);
  }
}

const formatOf: Parse<WebhookFormat> = (text) => {
  const format = WEBHOOK_FORMATS.find((one) => one === text);
  if (!format) throw new Error(`must be one of ${WEBHOOK_FORMATS.join(', ')}`);
  return format;
};

function field<T>(name: string, parse: Parse<T>, text: string): T {
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`"${name}" ${messageOf(error)}`);
  }
}

function textIn(given: Record<string, unknown>, name: string): string | null {
  const value = given[name];
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string') return value;
  throw new Error(`"${name}" must be a text`);
}

function listIn(given: Record<string, unknown>, name: string): string[] | null {
  const value = given[name];
  if (value === undefined || value === null) return null;
  if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string'))
    return value as string[];
  throw new Error(`"${name}" must be a list of texts`);
}
