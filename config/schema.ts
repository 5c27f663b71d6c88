import type { Secret } from '../src/base/secret.ts';
import {
  collectorUrl,
  cron,
  duration,
  durationOr,
  durationSetting,
  hostName,
  hostNames,
  hostsAndNetworks,
  integer,
  mailAddress,
  names,
  oneOf,
  type Parse,
  parameterName,
  postgresUrl,
  queueUrl,
  retention,
  schemaName,
  smtpUrl,
  text,
  timeZone,
  token,
  upstreamUrl,
} from './parse.ts';
import { webhookSecret, webhookUrl } from './webhooks.ts';

/** One setting: everything the program, the help and `feedback-mirror config` need to know about it. */
export interface Setting<T> {
  /** Name in the environment and in `.env`; the flag is the same name in lower case with dashes. */
  env: string;
  parse: Parse<T>;
  /** The text that `parse` reads back as the same value, where `String` does not give it: a duration, say. */
  print?(value: T): string;
  fallback: T;
  /** The fallback in words, where the value alone would not say it. */
  fallbackText?: string;
  /** Secrets have no flag (arguments are visible to everyone on the machine), can come from a file, and are masked. */
  secret?: true;
  meaning: string;
}

function setting<T>(definition: Setting<T>): Setting<T> {
  return definition;
}

/** Every setting, once. */
export const SETTINGS = {
  baseUrl: setting<URL | null>({
    env: 'FEEDBACK_BASE_URL',
    parse: upstreamUrl,
    fallback: null,
    fallbackText: 'the built-in sandbox',
    meaning: 'base URL of the feedback service; https, or http on loopback',
  }),
  token: setting<Secret | null>({
    env: 'FEEDBACK_API_TOKEN',
    parse: token,
    fallback: null,
    secret: true,
    meaning: 'API token',
  }),
  auth: setting<'header' | 'query'>({
    env: 'FEEDBACK_AUTH',
    parse: oneOf('header', 'query'),
    fallback: 'header',
    meaning: 'how the token is sent: as a Bearer header, or as a query parameter',
  }),
  authParameter: setting<string | null>({
    env: 'FEEDBACK_AUTH_PARAM',
    parse: parameterName,
    fallback: null,
    meaning: 'name of the query parameter that carries the token; required with FEEDBACK_AUTH=query',
  }),
  pageParameter: setting<string>({
    env: 'FEEDBACK_PAGE_PARAM',
    parse: parameterName,
    fallback: 'page',
    meaning: 'query parameter for a `next` that is a bare page number',
  }),
  cursorParameter: setting<string>({
    env: 'FEEDBACK_CURSOR_PARAM',
    parse: parameterName,
    fallback: 'cursor',
    meaning: 'query parameter for a `next` that is an opaque cursor',
  }),
  sourcesFile: setting<string | null>({
    env: 'SOURCES_FILE',
    parse: text,
    fallback: null,
    fallbackText: 'sources.yaml in the working folder, where there is one',
    meaning: 'YAML file that names several feedback services, each with its settings',
  }),
  source: setting<string | null>({
    env: 'SOURCE',
    parse: text,
    fallback: null,
    meaning:
      'which source of sources.yaml a command is for; several with commas between, where it takes several',
  }),
  dataDir: setting<string | null>({
    env: 'DATA_DIR',
    parse: text,
    fallback: null,
    fallbackText: 'data, or data/sandbox on the sandbox',
    meaning: 'folder for everything the program writes',
  }),
  mirrorPath: setting<string | null>({
    env: 'MIRROR_PATH',
    parse: text,
    fallback: null,
    fallbackText: 'mirror.db in DATA_DIR',
    meaning: 'the SQLite file of the mirror',
  }),
  queueUrl: setting<Secret | null>({
    env: 'QUEUE_URL',
    parse: queueUrl,
    fallback: null,
    fallbackText: 'embedded: queue.db in DATA_DIR',
    secret: true,
    meaning: 'queue of the service: redis://, rediss:// or postgres://; its password makes it a secret',
  }),
  headEvery: setting<number | 'off'>({
    env: 'SYNC_HEAD_EVERY',
    parse: durationOr('off'),
    print: (value) => (value === 'off' ? value : durationSetting(value)),
    fallback: 120_000,
    meaning: 'how often the newest rows are looked at; off for never',
  }),
  sweepEvery: setting<number | 'auto'>({
    env: 'SYNC_SWEEP_EVERY',
    parse: durationOr('auto'),
    print: (value) => (value === 'auto' ? value : durationSetting(value)),
    fallback: 'auto',
    meaning:
      'how often the whole lists are read, which also finds deletions; auto: every hour, or a tenth of the time',
  }),
  sweepCron: setting<string | null>({
    env: 'SYNC_SWEEP_CRON',
    parse: cron,
    fallback: null,
    meaning: 'cron pattern for sweeps, instead of SYNC_SWEEP_EVERY: five fields, or six with seconds first',
  }),
  timeZone: setting<string | null>({
    env: 'TZ',
    parse: timeZone,
    fallback: null,
    fallbackText: "the machine's",
    meaning: 'time zone of the cron patterns and of the days and weeks in reports, such as Europe/Berlin',
  }),
  pagesAhead: setting<number>({
    env: 'SYNC_PAGES_AHEAD',
    parse: integer(1, 16),
    fallback: 1,
    meaning: 'pages fetched ahead, where the form of `next` allows it',
  }),
  pushConcurrency: setting<number>({
    env: 'PUSH_CONCURRENCY',
    parse: integer(1, 32),
    fallback: 1,
    meaning: 'how many posts may be on their way at the same time',
  }),
  pushPerMinute: setting<number>({
    env: 'PUSH_PER_MINUTE',
    parse: integer(1, 1_000_000),
    fallback: 60,
    meaning: 'how many posts are sent a minute, at most, by all processes of the mirror together',
  }),
  pushSettle: setting<number>({
    env: 'PUSH_SETTLE',
    parse: duration,
    print: durationSetting,
    fallback: 60_000,
    meaning:
      'how long an unclear send is left to settle before the list is searched for it, after the 30 s that a create may take',
  }),
  pushMark: setting<'off' | 'owner' | 'all'>({
    env: 'PUSH_MARK',
    parse: oneOf('off', 'owner', 'all'),
    fallback: 'off',
    meaning:
      "whose posts end with a reference, by which an unclear one is found: none, the owner's (owner), or all",
  }),
  httpHost: setting<string>({
    env: 'HTTP_HOST',
    parse: hostName,
    fallback: '127.0.0.1',
    meaning: 'address the service listens on; one that is not loopback needs HTTP_TOKEN',
  }),
  httpNames: setting<readonly string[] | null>({
    env: 'HTTP_NAMES',
    parse: hostNames,
    fallback: null,
    fallbackText: 'none but localhost and HTTP_HOST',
    meaning:
      'names under which a proxy or another machine calls the service, with commas between; needs HTTP_TOKEN',
  }),
  httpPort: setting<number>({
    env: 'HTTP_PORT',
    parse: integer(0, 65_535),
    fallback: 8080,
    meaning: 'port the service listens on; 0 picks a free one',
  }),
  httpToken: setting<Secret | null>({
    env: 'HTTP_TOKEN',
    parse: token,
    fallback: null,
    secret: true,
    meaning:
      'token that the HTTP side of the service asks for; at least 16 characters where others can reach it',
  }),
  exportCron: setting<string | null>({
    env: 'EXPORT_CRON',
    parse: cron,
    fallback: null,
    fallbackText: 'off',
    meaning: 'cron pattern for scheduled exports: five fields, or six with seconds first',
  }),
  exportFormat: setting<'csv' | 'ndjson' | 'parquet'>({
    env: 'EXPORT_FORMAT',
    parse: oneOf('csv', 'ndjson', 'parquet'),
    fallback: 'parquet',
    meaning: 'format of scheduled exports',
  }),
  exportDir: setting<string | null>({
    env: 'EXPORT_DIR',
    parse: text,
    fallback: null,
    fallbackText: 'exports in DATA_DIR',
    meaning: 'folder for exports',
  }),
  retentionDeleted: setting<number | 'never'>({
    env: 'RETENTION_DELETED',
    parse: retention,
    print: (value) => (typeof value === 'string' ? value : durationSetting(value)),
    fallback: 30 * 86_400_000,
    meaning: 'how long the text and people of deleted rows are kept; 0 for not at all, or never to erase',
  }),
  changesKeep: setting<number>({
    env: 'CHANGES_KEEP',
    parse: duration,
    print: durationSetting,
    fallback: 90 * 86_400_000,
    meaning:
      'how long changes stay in the feed; a consumer that was away for longer starts again from a snapshot',
  }),
  webhookUrl: setting<Secret | null>({
    env: 'WEBHOOK_URL',
    parse: webhookUrl,
    fallback: null,
    secret: true,
    meaning: 'where changes are sent as webhooks; an address that lets its holder write, and so a secret',
  }),
  webhookSecret: setting<Secret | null>({
    env: 'WEBHOOK_SECRET',
    parse: webhookSecret,
    fallback: null,
    secret: true,
    meaning: 'key of the signature of webhooks, in base64; required with WEBHOOK_URL',
  }),
  webhooksFile: setting<string | null>({
    env: 'WEBHOOKS_FILE',
    parse: text,
    fallback: null,
    meaning: 'JSON file with several webhooks, each with what it wants to be told',
  }),
  webhookAllow: setting<readonly string[] | null>({
    env: 'WEBHOOK_ALLOW',
    parse: hostsAndNetworks,
    fallback: null,
    fallbackText: 'none',
    meaning: 'hosts, addresses and networks in private ranges that webhooks may go to, with commas between',
  }),
  rulesFile: setting<string | null>({
    env: 'RULES_FILE',
    parse: text,
    fallback: null,
    fallbackText: '$DATA_DIR/rules.yaml',
    meaning: 'YAML or JSON file with rules: what is told by mail, Slack, Teams or webhook, and how often',
  }),
  smtpUrl: setting<Secret | null>({
    env: 'SMTP_URL',
    parse: smtpUrl,
    fallback: null,
    secret: true,
    meaning: 'mail server for rules, as smtps://user:password@host or smtp://host:port',
  }),
  mailFrom: setting<string | null>({
    env: 'MAIL_FROM',
    parse: mailAddress,
    fallback: null,
    meaning: 'address that mail of rules comes from, such as Feedback <feedback@example.com>',
  }),
  dashboardUrl: setting<URL | null>({
    env: 'DASHBOARD_URL',
    parse: collectorUrl,
    fallback: null,
    fallbackText: 'none: messages link to the service',
    meaning: 'address under which people open the dashboard, for links in messages',
  }),
  publishUrl: setting<Secret | null>({
    env: 'PUBLISH_URL',
    parse: postgresUrl,
    fallback: null,
    fallbackText: 'off',
    secret: true,
    meaning: 'PostgreSQL that gets a copy of the mirror, as postgres://user:password@host/database',
  }),
  publishSchema: setting<string>({
    env: 'PUBLISH_SCHEMA',
    parse: schemaName,
    fallback: 'feedback',
    meaning: 'schema of that copy; one for each mirror',
  }),
  fleetUrl: setting<Secret | null>({
    env: 'FLEET_URL',
    parse: postgresUrl,
    fallback: null,
    fallbackText: 'none: this machine is alone',
    secret: true,
    meaning:
      'PostgreSQL 14 or newer by which several machines share the sources; also PUBLISH_URL where that is not set',
  }),
  fleetMachine: setting<string | null>({
    env: 'FLEET_MACHINE',
    parse: text,
    fallback: null,
    fallbackText: 'the host name',
    meaning: 'name of this machine in the fleet; each machine has one of its own',
  }),
  fleetAddress: setting<URL | null>({
    env: 'FLEET_ADDRESS',
    parse: collectorUrl,
    fallback: null,
    fallbackText: 'HTTP_HOST and HTTP_PORT',
    meaning: 'address under which the other machines of the fleet reach this one',
  }),
  feedToken: setting<Secret | null>({
    env: 'FEED_TOKEN',
    parse: token,
    fallback: null,
    secret: true,
    meaning: 'token that opens the Atom feeds and nothing else, as ?token= in their address',
  }),
  mcpToken: setting<Secret | null>({
    env: 'MCP_TOKEN',
    parse: token,
    fallback: null,
    secret: true,
    meaning: 'token that opens /mcp, the tools for agents, and nothing else; without it they are off there',
  }),
  mcpWrite: setting<'off' | 'drafts'>({
    env: 'MCP_WRITE',
    parse: oneOf('off', 'drafts'),
    fallback: 'off',
    meaning: 'drafts lets agents propose posts, which are sent once a person approves them',
  }),
  mcpPersonal: setting<'off' | 'on'>({
    env: 'MCP_PERSONAL',
    parse: oneOf('off', 'on'),
    fallback: 'off',
    meaning: 'on shows names and e-mail addresses to agents, instead of pseudonyms',
  }),
  deliveredStatuses: setting<readonly string[] | null>({
    env: 'DELIVERED_STATUSES',
    parse: names,
    fallback: null,
    fallbackText: 'those with a name such as Done, Shipped or Released',
    meaning: 'statuses that count as delivered in reports, with commas between',
  }),
  otlpEndpoint: setting<URL | null>({
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    parse: collectorUrl,
    fallback: null,
    fallbackText: 'off',
    meaning: 'where traces are sent over OTLP/HTTP; needs the packages of OpenTelemetry',
  }),
  logLevel: setting<'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'>({
    env: 'LOG_LEVEL',
    parse: oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
    fallback: 'info',
    meaning: 'least serious log line to print',
  }),
  logFormat: setting<'pretty' | 'json' | null>({
    env: 'LOG_FORMAT',
    parse: oneOf('pretty', 'json'),
    fallback: null,
    fallbackText: 'pretty on a terminal, else json',
    meaning: 'form of log lines',
  }),
};

export type SettingKey = keyof typeof SETTINGS;
export type RawSettings = { readonly [K in SettingKey]: (typeof SETTINGS)[K]['fallback'] };

export function printed<T>(definition: Setting<T>, value: T): string {
  // A list becomes its texts with commas between.
  return definition.print ? definition.print(value) : String(value);
}

export function flagOf(env: string): string {
  return `--${env.toLowerCase().replaceAll('_', '-')}`;
}
