import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf } from '../src/base/errors.ts';
import { Secret } from '../src/base/secret.ts';
import { WEBHOOK_FORMATS, type Webhook, type WebhookRule } from '../src/contract/telling.ts';
import {
  GIVEN_NAME,
  type Given,
  listIn,
  parsedText,
  refuseUnknown,
  secretIn,
  TEXT,
  TEXTS,
  textIn,
  wordIn,
} from './given.ts';
import type { Parse } from './parse.ts';

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

interface OfSettings {
  url: Secret | null;
  secret: Secret | null;
  file: string | null;
}

/** Every endpoint of the settings; throws an Error that says what is wrong, without an address or a secret in it. */
export function readWebhooks({ url, secret, file }: OfSettings, cwd: string): Webhook[] {
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
export function readWebhookFile(path: string, name: string): Given[] {
  let list: unknown;
  try {
    list = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${name} ${code ? `cannot be read (${code})` : 'is not JSON'}`);
  }
  if (!Array.isArray(list)) throw new Error(`${name} must hold a list of webhooks`);
  return list.map((given: unknown) => Object(given) as Given);
}

export function readWebhookList(list: readonly Given[], cwd: string, name: string): Webhook[] {
  return list.map((given, i) => {
    try {
      return readWebhook(given, cwd);
    } catch (error) {
      throw new Error(`webhook ${i + 1} of ${name}: ${messageOf(error)}`);
    }
  });
}

/** The fields of one webhook in WEBHOOKS_FILE, as JSON Schema. */
export const WEBHOOK_FIELDS = {
  name: { ...TEXT, pattern: GIVEN_NAME.source, description: 'its name on the page and in logs' },
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

/** One of them; throws an Error without an address or a secret in it. */
export function readWebhook(given: Given, cwd: string): Webhook {
  refuseUnknown(given, Object.keys(WEBHOOK_FIELDS));
  const url = parsedText('url', webhookUrl, textIn(given, 'url') ?? '');
  const name = textIn(given, 'name');
  if (name !== null && !GIVEN_NAME.test(name)) throw new Error('"name" must be letters, digits, - and _');
  const format = textIn(given, 'format') === null ? 'standard' : wordIn(given, 'format', WEBHOOK_FORMATS);
  const key = secretIn(given, 'secret', webhookSecret, cwd);
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
    rule: ruled === null ? null : parsedText('rule', rule, ruled),
    personal: given.personal === true,
  };
}
