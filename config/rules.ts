import { readFileSync } from 'node:fs';
import { AppError, messageOf } from '../src/base/errors.ts';
import type { Secret } from '../src/base/secret.ts';
import { type Channel, RULE_EVERY, RULE_WHATS, type Rule } from '../src/contract/telling.ts';
import {
  GIVEN_NAME,
  type Given,
  listIn,
  refuseUnknown,
  secretIn,
  TEXT,
  TEXTS,
  textIn,
  wordIn,
} from './given.ts';
import { machineZone, type Parse, timeZone } from './parse.ts';
import { loadYaml } from './source-file.ts';
import { webhookSecret, webhookUrl } from './webhooks.ts';

/** The file of rules as the program uses it. */
export interface RulesFile {
  rules: Rule[];
  channels: Channel[];
}

const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const AT = /^(?:(?:(sun|mon|tue|wed|thu|fri|sat)[a-z]*)\s+)?([01]?\d|2[0-3]):([0-5]\d)$/i;
const ADDRESS = /^[^\s@<>,;]+@[^\s@<>,;]+$/;

/** The fields of a rule, and of a channel, as JSON Schema. */
export const RULE_FIELDS = {
  name: {
    ...TEXT,
    pattern: GIVEN_NAME.source,
    description: 'its name in commands and logs; a new name is a new rule',
  },
  what: { enum: RULE_WHATS, description: 'what the rule tells of' },
  sources: {
    enum: ['all'],
    description: 'of digest: one message over all sources of sources.yaml; the source itself without it',
  },
  boards: { ...TEXTS, description: 'boards by name, short name or number; all boards without it' },
  statuses: { ...TEXTS, description: 'of status: only posts that get one of these' },
  segment: { ...TEXT, description: 'of customer: such as plan=Pro; every imported customer without it' },
  days: {
    type: 'integer',
    minimum: 1,
    maximum: 365,
    default: 7,
    description: 'of unanswered: after so many days',
  },
  every: { enum: RULE_EVERY, description: 'how often messages are sent' },
  at: {
    ...TEXT,
    pattern: AT.source,
    default: 'mon 09:00',
    description: 'of daily and weekly: such as 09:00 or mon 09:00',
  },
  zone: { ...TEXT, description: 'time zone of at, such as Europe/Berlin; TZ without it' },
  to: { ...TEXTS, description: 'names of channels' },
};
export const CHANNEL_FIELDS = {
  mail: { ...TEXTS, description: 'addresses; needs SMTP_URL and MAIL_FROM' },
  slack: { ...TEXT, description: 'address of an incoming webhook of Slack' },
  slack_file: { ...TEXT, description: 'path of a file with that address' },
  teams: { ...TEXT, description: 'address of an incoming webhook of Teams' },
  teams_file: { ...TEXT, description: 'path of a file with that address' },
  webhook: { ...TEXT, description: 'address that gets signed messages' },
  webhook_file: { ...TEXT, description: 'path of a file with that address' },
  secret: { ...TEXT, description: 'of webhook: key of the signature, 24 to 64 bytes in base64' },
  secret_file: { ...TEXT, description: 'path of a file with that key' },
};

/** What a text of YAML or JSON says. Throws AppError('usage') with every problem; no address and no key is in it. */
export function rulesIn(text: string, cwd: string, usualZone: string | null): RulesFile {
  const problems: string[] = [];
  const file = objectIn(documentOf(text).toJS() ?? {}, 'the file', problems);
  const zone = usualZone ?? machineZone();
  attempt(problems, 'the file', () => refuseUnknown(file, ['channels', 'rules']));
  const channels = Object.entries(objectIn(file.channels ?? {}, 'channels', problems)).flatMap(
    ([name, given]) => attempt(problems, `channel "${name}"`, () => channelOf(name, given, cwd)),
  );
  const list: unknown[] = Array.isArray(file.rules) ? file.rules : [];
  if (!Array.isArray(file.rules ?? [])) problems.push('"rules" must be a list');
  const rules = list.flatMap((given, i) =>
    attempt(problems, `rule ${i + 1}`, () =>
      ruleOf(
        given,
        channels.map(({ name }) => name),
        zone,
      ),
    ),
  );
  for (const [i, { name }] of rules.entries())
    if (rules.findIndex((other) => other.name === name) < i) problems.push(`two rules are called "${name}"`);
  if (problems.length > 0)
    throw new AppError('usage', `the rules have mistakes:\n${problems.map((one) => `  ${one}`).join('\n')}`, {
      hint: 'docs/rules.md has an example of each rule and channel.',
    });
  return { rules, channels };
}

export function rulesText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new AppError('usage', `RULES_FILE cannot be read (${String(Reflect.get(Object(error), 'code'))})`);
  }
}

/** The text with another rule or channel: the one of its name, or one more; without it where `given` is null. Comments stay. */
export function changedRules(text: string, change: RulesChange): string {
  const document = documentOf(text);
  if (change.channel !== undefined) {
    const at = ['channels', change.channel];
    if (change.given === null) document.deleteIn(at);
    else document.setIn(at, document.createNode(change.given));
    return String(document);
  }
  const rules: unknown[] = Object(document.toJS()).rules ?? [];
  const found = rules.findIndex((rule) => Object(rule).name === change.rule);
  const at = ['rules', found < 0 ? rules.length : found];
  if (change.given === null) document.deleteIn(at);
  else if (rules.length === 0) document.set('rules', document.createNode([change.given]));
  else document.setIn(at, document.createNode(change.given));
  return String(document);
}

export type RulesChange =
  | { rule: string; channel?: undefined; given: Record<string, unknown> | null }
  | { channel: string; given: Record<string, unknown> | null };

function documentOf(text: string) {
  const yaml = loadYaml();
  const lines = new yaml.LineCounter();
  // No pretty errors: they quote the line, and it may hold an address of Slack.
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error)
    throw new AppError(
      'usage',
      `the rules are not YAML: line ${lines.linePos(error.pos[0]).line}: ${error.message}`,
    );
  try {
    document.toJS();
  } catch (error) {
    // Aliases that stand for millions of values.
    throw new AppError('usage', `the rules cannot be used: ${messageOf(error)}`);
  }
  return document;
}

function objectIn(value: unknown, what: string, problems: string[]): Given {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Given;
  problems.push(`${what} must be names, each with what belongs to it`);
  return {};
}

function attempt<T>(problems: string[], what: string, work: () => T): T[] {
  try {
    return [work()];
  } catch (error) {
    problems.push(`${what}: ${messageOf(error)}`);
    return [];
  }
}

function channelOf(name: string, value: unknown, cwd: string): Channel {
  const given = Object(value) as Given;
  refuseUnknown(given, Object.keys(CHANNEL_FIELDS));
  if (!GIVEN_NAME.test(name)) throw new Error('its name must be letters, digits, - and _');
  const kinds = (['mail', 'slack', 'teams', 'webhook'] as const).filter(
    (kind) => given[kind] !== undefined || given[`${kind}_file`] !== undefined,
  );
  const [kind] = kinds;
  if (kinds.length !== 1 || kind === undefined)
    throw new Error('it needs exactly one of mail, slack, teams and webhook');
  if (kind === 'mail') return { name, kind, to: addressesIn(given) };
  const url = requiredSecret(given, kind, webhookUrl, cwd);
  return kind === 'webhook'
    ? { name, kind, url, key: requiredSecret(given, 'secret', webhookSecret, cwd) }
    : { name, kind, url };
}

function addressesIn(given: Given): string[] {
  const list = listIn(given, 'mail') ?? [];
  const wrong = list.findIndex((address) => !ADDRESS.test(address));
  if (wrong >= 0) throw new Error(`"mail" has no address at place ${wrong + 1}`);
  return list;
}

function requiredSecret(given: Given, name: string, parse: Parse<Secret>, cwd: string): Secret {
  const secret = secretIn(given, name, parse, cwd);
  if (secret === null) throw new Error(`"${name}" or "${name}_file" is missing`);
  return secret;
}

function ruleOf(value: unknown, channels: readonly string[], usualZone: string): Rule {
  const given = Object(value) as Given;
  refuseUnknown(given, Object.keys(RULE_FIELDS));
  const name = textIn(given, 'name') ?? '';
  if (!GIVEN_NAME.test(name)) throw new Error('"name" must be 1 to 40 letters, digits, - and _');
  const what = wordIn(given, 'what', RULE_WHATS);
  const every = wordIn(given, 'every', RULE_EVERY);
  const fitting: readonly string[] = EVERY_OF[what] ?? RULE_EVERY;
  if (!fitting.includes(every)) throw new Error(`"${what}" can come ${fitting.join(' or ')}, not ${every}`);
  const to = listIn(given, 'to') ?? [];
  const unknown = to.find((one) => !channels.includes(one));
  if (unknown !== undefined) throw new Error(`there is no channel "${unknown}"`);
  if (to.length === 0) throw new Error('"to" must name a channel');
  const days = given.days ?? 7;
  if (!Number.isSafeInteger(days) || Number(days) < 1 || Number(days) > 365)
    throw new Error('"days" must be 1 to 365');
  const zone = textIn(given, 'zone');
  const boards = listIn(given, 'boards');
  const sources = given.sources == null ? null : wordIn(given, 'sources', ['all']);
  if (sources && what !== 'digest') throw new Error('"sources" is for a digest');
  if (sources && boards) throw new Error('a digest over all sources is for all boards');
  return {
    name,
    what,
    every,
    to: [...new Set(to)],
    days: Number(days),
    sources,
    boards,
    statuses: listIn(given, 'statuses'),
    segment: textIn(given, 'segment'),
    at: momentIn(textIn(given, 'at') ?? 'mon 09:00'),
    zone: zone === null ? usualZone : timeZone(zone),
  };
}

/** A digest of a minute says nothing, and votes are judged by days. */
const EVERY_OF: Partial<Record<Rule['what'], readonly string[]>> = {
  digest: ['daily', 'weekly'],
  votes: ['daily'],
};

function momentIn(text: string): Rule['at'] {
  const [, day = 'mon', hour = '', minute = ''] = AT.exec(text.trim()) ?? [];
  if (minute === '') throw new Error('"at" must be such as 09:00, or mon 09:00');
  return { weekday: WEEKDAYS.indexOf(day.toLowerCase()), hour: Number(hour), minute: Number(minute) };
}
