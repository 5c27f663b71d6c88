import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { AppError, messageOf } from '../src/base/errors.ts';
import { isLoopback } from '../src/base/loopback.ts';
import { Secret } from '../src/base/secret.ts';
import type { Webhook } from '../src/contract/telling.ts';
import { machineZone } from './parse.ts';
import { printed, type RawSettings, SETTINGS, type Setting, type SettingKey } from './schema.ts';
import { refusalOf, unknownNames } from './spelling.ts';
import { readWebhooks } from './webhooks.ts';

export type Origin = 'flag' | 'sources.yaml' | 'environment' | '.env' | 'file' | 'default';

export interface Settings extends RawSettings {
  readonly dataDir: string;
  readonly mirrorPath: string;
  readonly exportDir: string;
  readonly timeZone: string;
  readonly logFormat: 'pretty' | 'json';
  /** The webhooks of WEBHOOK_URL and WEBHOOKS_FILE together. */
  readonly webhooks: readonly Webhook[];
  /** Where each value came from, for `feedback-mirror config`. */
  readonly origins: Readonly<Record<SettingKey, Origin>>;
}

export interface LoadInput {
  flags: Readonly<Record<string, string | undefined>>;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  isTerminal: boolean;
  /** Replaces the file `.env`, for a thread that reads the settings as they were at the start. */
  dotenv?: Readonly<Record<string, string | undefined>>;
  /** One source of several: what `sources.yaml` says of it, by the names of the environment. */
  source?: { name: string; values: Readonly<Record<string, string>> };
}

/** What belongs to one source alone. Of several sources none takes it from the environment: a token must reach its own service only. */
const OWN: ReadonlySet<string> = new Set([
  'FEEDBACK_BASE_URL',
  'FEEDBACK_API_TOKEN',
  'FEEDBACK_AUTH',
  'FEEDBACK_AUTH_PARAM',
  'FEEDBACK_PAGE_PARAM',
  'FEEDBACK_CURSOR_PARAM',
  'DATA_DIR',
  'MIRROR_PATH',
  'EXPORT_DIR',
  'PUBLISH_SCHEMA',
]);

/** Flags over environment over `.env` over defaults, checked whole: every problem is reported at once. */
export function loadSettings(input: LoadInput): Settings {
  const { settings, problems } = readSettings(input);
  if (problems.length > 0)
    throw new AppError('usage', `wrong settings:\n${problems.map((p) => `  ${p}`).join('\n')}`);
  return settings;
}

/** The settings are whole only where there is no problem. Each problem begins with the name of its setting. */
export function readSettings(input: LoadInput): { settings: Settings; problems: string[] } {
  const problems: string[] = [];
  const dotenv = attempt(() => readDotenv(input), problems) ?? {};
  const values: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  for (const [key, definition] of Object.entries(SETTINGS) as [SettingKey, Setting<unknown>][]) {
    attempt(() => {
      const found = find(definition, input, dotenv);
      values[key] = found ? parse(definition, found.text) : definition.fallback;
      origins[key] = found?.origin ?? 'default';
    }, problems);
  }
  const unknown = unknownNames(input.env, dotenv).filter(({ isRefused }) => isRefused);
  problems.push(...unknown.map(refusalOf), ...dangerous(input.env));
  const raw = values as unknown as RawSettings;
  if (raw.auth === 'query' && !raw.authParameter) {
    problems.push(
      'FEEDBACK_AUTH_PARAM is required with FEEDBACK_AUTH=query: set it to the name of the query parameter',
    );
  }
  if (raw.httpNames || (raw.httpHost && !isLoopback(raw.httpHost))) problems.push(...unprotected(raw));
  problems.push(...sharedTokens(raw));
  const webhooks = attempt(() => webhooksOf(raw, input.cwd), problems) ?? [];
  const dataDir = raw.dataDir ?? (raw.baseUrl ? 'data' : join('data', 'sandbox'));
  const settings = Object.freeze({
    ...raw,
    source: input.source?.name ?? null,
    dataDir,
    mirrorPath: raw.mirrorPath ?? join(dataDir, 'mirror.db'),
    exportDir: raw.exportDir ?? join(dataDir, 'exports'),
    // Computed when it is read: the first look at the time zone takes 25 ms.
    get timeZone() {
      return raw.timeZone ?? machineZone();
    },
    webhooks,
    logFormat: raw.logFormat ?? (input.isTerminal ? 'pretty' : 'json'),
    origins: Object.freeze(origins as Record<SettingKey, Origin>),
  });
  return { settings, problems };
}

export interface SettingLine {
  name: string;
  value: string | null;
  /** What a missing value means, in words for people. A program would take it for a value. */
  otherwise: string;
  from: Origin;
  meaning: string;
}

export function settingLines(settings: Settings): SettingLine[] {
  return (Object.keys(SETTINGS) as SettingKey[]).map((key) => {
    const definition: Setting<unknown> = SETTINGS[key];
    const value = settings[key];
    return {
      name: definition.env,
      value: value === null ? null : printed(definition, value),
      otherwise: definition.fallbackText ?? '',
      from: settings.origins[key],
      meaning: definition.meaning,
    };
  });
}

/** The least that the token of an address that others can reach may have: shorter ones are guessed. */
const SHORTEST_HTTP_TOKEN = 16;

function unprotected({ httpHost, httpNames, httpToken, mcpToken }: RawSettings): string[] {
  const where = httpNames
    ? `HTTP_NAMES=${JSON.stringify(httpNames.join(', '))}`
    : `HTTP_HOST=${JSON.stringify(httpHost)}`;
  const danger = 'anyone who reaches that address could read the mirror and send posts';
  const short = Object.entries({ HTTP_TOKEN: httpToken, MCP_TOKEN: mcpToken }).filter(
    ([, secret]) => secret && secret.reveal().length < SHORTEST_HTTP_TOKEN,
  );
  return [
    ...(httpToken ? [] : [`HTTP_TOKEN is required with ${where}: ${danger}`]),
    ...short.map(
      ([name]) =>
        `${name} must have at least ${SHORTEST_HTTP_TOKEN} characters with ${where}: a shorter one can be guessed`,
    ),
  ];
}

/**
 * A token that is to open one thing only opens more where it is also another one. HTTP_TOKEN may be that of the feedback service: programs that
 * were made for it find the mirror in its place.
 */
function sharedTokens({ token, httpToken, feedToken, mcpToken }: RawSettings): string[] {
  const secrets = {
    FEEDBACK_API_TOKEN: token,
    HTTP_TOKEN: httpToken,
    FEED_TOKEN: feedToken,
    MCP_TOKEN: mcpToken,
  };
  const texts = Object.entries(secrets).map(([name, secret]) => [name, secret?.reveal()] as const);
  return (['FEED_TOKEN', 'MCP_TOKEN'] as const).flatMap((name, i) => {
    const text = secrets[name]?.reveal();
    // A pair of equal tokens is reported once.
    const same = texts.slice(0, i + 2).find(([, other]) => text !== undefined && other === text);
    return same ? [`${name} must not be the same as ${same[0]}: it would open more than it is for`] : [];
  });
}

function webhooksOf(
  { webhookUrl: url, webhookSecret: secret, webhooksFile: file }: RawSettings,
  cwd: string,
): Webhook[] {
  return readWebhooks({ url: url ?? null, secret: secret ?? null, file: file ?? null }, cwd);
}

/** Every text of the settings that must not be printed; of a URL, its password also on its own. */
export function secretsOf(settings: Settings): Secret[] {
  const hooks = settings.webhooks.flatMap(({ url, key }) => [url, key]);
  // Skips the time zone, which is computed when it is read.
  const values = Object.values(Object.getOwnPropertyDescriptors(settings)).map(({ value }) => value);
  const secrets = [...values, ...hooks].filter((value) => value instanceof Secret);
  return [...secrets, ...secrets.flatMap((secret) => passwordOf(secret) ?? [])];
}

export function passwordOf(url: Secret | null): Secret | null {
  const password = url && URL.parse(url.reveal())?.password;
  return password ? new Secret(decodeURIComponent(password)) : null;
}

function attempt<T>(step: () => T, problems: string[]): T | undefined {
  try {
    return step();
  } catch (error) {
    problems.push(messageOf(error));
    return undefined;
  }
}

/** How long a token read from a file is trusted before the file is looked at again. */
const TOKEN_FRESH_MS = 1000;

/**
 * The token as it is now: where it stands in a file (`FEEDBACK_API_TOKEN_FILE` or `.env`), a new one written there takes effect
 * within a second. A file that is unreadable for a moment leaves the last good token in place.
 */
export function liveToken(input: LoadInput, first: Secret, now: () => number = Date.now): LiveToken {
  let token = first;
  let news: TokenNews | null = null;
  let readAt = now();
  const read = (): Secret => {
    const age = now() - readAt;
    if (age >= 0 && age < TOKEN_FRESH_MS) return token;
    readAt = now();
    const found = readToken(input);
    news = newsOf(found, { token, news, at: new Date(readAt).toISOString() });
    if (typeof found !== 'string') token = found;
    return token;
  };
  return Object.assign(read, {
    news() {
      read();
      return news;
    },
  });
}

/** A token that was written after the start, and what is wrong with it. */
export interface TokenNews {
  since: string;
  problem: string | null;
}

export interface LiveToken {
  (): Secret;
  news(): TokenNews | null;
}

function newsOf(
  found: Secret | string,
  last: { token: Secret; news: TokenNews | null; at: string },
): TokenNews | null {
  if (typeof found === 'string')
    return last.news?.problem === found ? last.news : { since: last.at, problem: found };
  if (found.reveal() !== last.token.reveal()) return { since: last.at, problem: null };
  return last.news?.problem ? null : last.news;
}

/** The token, or what is wrong with it. */
function readToken(input: LoadInput): Secret | string {
  try {
    const found = find(SETTINGS.token, input, readDotenv(input));
    return found ? (parse(SETTINGS.token, found.text) as Secret) : `${SETTINGS.token.env} is empty`;
  } catch (error) {
    return messageOf(error);
  }
}

export function readDotenv({ dotenv, cwd }: Pick<LoadInput, 'dotenv' | 'cwd'>): LoadInput['env'] {
  return dotenv ?? parseEnv(dotenvText(cwd));
}

function dotenvText(folder: string): string {
  const path = join(folder, '.env');
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    if (errno(error) === 'ENOENT') return '';
    throw new AppError('usage', `the file ${path} cannot be read (${errno(error)}): correct or remove it`);
  }
}

function errno(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'error';
}

interface Found {
  text: string;
  origin: Origin;
}

/** An empty value counts as not set, as in `NAME= command` and in compose files. */
function find(definition: Setting<unknown>, input: LoadInput, dotenv: LoadInput['env']): Found | null {
  const { env: name, secret } = definition;
  const { source, cwd } = input;
  const isOwn = source !== undefined && OWN.has(name);
  const flag = secret || isOwn ? undefined : input.flags[name];
  if (flag) return { text: flag, origin: 'flag' };
  const shared = [
    [input.env, 'environment'],
    [dotenv, '.env'],
  ] as const;
  const all = source ? ([[source.values, 'sources.yaml'], ...(isOwn ? [] : shared)] as const) : shared;
  for (const [values, origin] of all) {
    const text = values[name];
    if (text) return { text, origin };
    const path = secret && values[`${name}_FILE`];
    if (path) return { text: readSecret(`${name}_FILE`, path, cwd), origin: 'file' };
  }
  return null;
}

/** The text of one setting, as it was given. */
export function givenText(key: SettingKey, input: LoadInput): { text: string; origin: Origin } | null {
  return find(SETTINGS[key], input, readDotenv(input));
}

function readSecret(name: string, path: string, cwd: string): string {
  let text: string;
  try {
    text = readFileSync(resolve(cwd, path), 'utf8').trim();
  } catch (error) {
    throw new Error(
      `${name}=${JSON.stringify(path)} cannot be read (${errno(error)}): give the path of a readable file`,
    );
  }
  if (text === '')
    throw new Error(`${name}=${JSON.stringify(path)} is an empty file: write the secret into it`);
  return text;
}

function parse(definition: Setting<unknown>, text: string): unknown {
  try {
    return definition.parse(text);
  } catch (error) {
    const shown = definition.secret ? '' : `=${JSON.stringify(withoutCredentials(text))}`;
    throw new Error(`${definition.env}${shown} ${messageOf(error)}`);
  }
}

/** A password or token pasted into a URL is still a secret when the URL is refused. */
function withoutCredentials(text: string): string {
  return text
    .replace(/^(\s*[a-z][a-z0-9+.-]*:).*@/is, '$1//[secret]@')
    .replace(/(:\/\/.*?)[?#].*$/s, '$1?[secret]');
}

function dangerous(env: LoadInput['env']): string[] {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return [];
  return [
    'NODE_TLS_REJECT_UNAUTHORIZED="0" would send the token to anyone who answers: unset it, or add the certificate with NODE_EXTRA_CA_CERTS',
  ];
}
