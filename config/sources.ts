import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AppError, messageOf } from '../src/base/errors.ts';
import { nearest } from '../src/text/text.ts';
import { givenText, type LoadInput, loadSettings, readDotenv, readSettings, type Settings } from './load.ts';
import { flagOf, SETTINGS, type SettingKey } from './schema.ts';
import { type Problem, parseSourceFile, type SourceField } from './source-file.ts';

/** What a source may say in `sources.yaml`, and which setting that is. Everything else is one for all sources. */
export const SOURCE_FIELDS = {
  base_url: 'baseUrl',
  token: 'token',
  auth: 'auth',
  auth_param: 'authParameter',
  page_param: 'pageParameter',
  cursor_param: 'cursorParameter',
  queue_url: 'queueUrl',
  head_every: 'headEvery',
  sweep_every: 'sweepEvery',
  sweep_cron: 'sweepCron',
  time_zone: 'timeZone',
  pages_ahead: 'pagesAhead',
  push_concurrency: 'pushConcurrency',
  push_per_minute: 'pushPerMinute',
  push_settle: 'pushSettle',
  push_mark: 'pushMark',
  export_cron: 'exportCron',
  export_format: 'exportFormat',
  retention_deleted: 'retentionDeleted',
  changes_keep: 'changesKeep',
  webhook_url: 'webhookUrl',
  webhook_secret: 'webhookSecret',
  webhooks_file: 'webhooksFile',
  rules_file: 'rulesFile',
  publish_url: 'publishUrl',
  publish_schema: 'publishSchema',
  mcp_write: 'mcpWrite',
  mcp_personal: 'mcpPersonal',
  delivered_statuses: 'deliveredStatuses',
} as const satisfies Record<string, SettingKey>;

type FieldName = keyof typeof SOURCE_FIELDS;

/** Two sources with the same of these would be one: they have no default. */
export const NO_DEFAULT: readonly string[] = ['base_url', 'token', 'publish_schema'];

/** The names that the fields have, with those of files for secrets. */
export const SOURCE_FIELD_NAMES: readonly string[] = (Object.keys(SOURCE_FIELDS) as FieldName[]).flatMap(
  (name) => (isSecret(name) ? [name, `${name}_file`] : [name]),
);

export function isSecret(name: FieldName): boolean {
  return 'secret' in SETTINGS[SOURCE_FIELDS[name]];
}

export interface ConfiguredSource {
  name: string;
  settings: Settings;
  input: LoadInput;
}

export interface Sources {
  path: string;
  /** What holds for the process: where it listens, how it logs, the folder of all sources. */
  shared: Settings;
  all: readonly ConfiguredSource[];
}

/** Null where there is no such file, and the settings alone say what is mirrored. */
export function loadSources(input: LoadInput): Sources | null {
  const path = sourcesPath(input);
  if (path === null) return null;
  const shared = loadSettings(input);
  const dotenv = readDotenv(input);
  const { file, problems } = parseSourceFile(readFile(path), (name) => input.env[name] || dotenv[name]);
  const dataDir = givenText('dataDir', input)?.text ?? 'data';
  problems.push(...unknownFields('defaults', file.defaults), ...refusedFlags(input));
  for (const name of file.defaults.keys())
    if (NO_DEFAULT.includes(name.replace(/_file$/, '')))
      problems.push({ line: lineOf(file.defaults, name), text: `defaults: ${name} belongs to one source` });
  const folder = dirname(path);
  const all = [...file.sources].map(([name, { line, fields }]) => {
    const unknown = unknownFields(name, fields);
    const given = merged(file.defaults, fields);
    const source = sourceOf(name, given, { input, folder, dataDir, exportDir: shared.exportDir });
    const wrong = source.problems.map((text) =>
      located(text, { name, line, given, defaults: file.defaults }),
    );
    problems.push(...unknown, ...missing(name, line, fields), ...wrong);
    if (shared.fleetUrl && source.settings.queueUrl)
      problems.push({
        line,
        text: `${name}: a queue_url is for one machine; with FLEET_URL each machine has its own queue`,
      });
    return { name, settings: source.settings, input: source.input };
  });
  if (problems.length > 0) throw new AppError('usage', `${path} is wrong:\n${lines(problems).join('\n')}`);
  return { path, shared: Object.freeze({ ...shared, dataDir }), all };
}

/** The sources that SOURCE names, in the order of the file; all if it names none. */
export function chosenSources({ all, path }: Sources, input: LoadInput): readonly ConfiguredSource[] {
  const given = givenText('source', input);
  if (given === null) return all;
  const names = given.text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !all.some((source) => source.name === name));
  if (unknown !== undefined)
    throw new AppError('usage', `there is no source "${unknown}" in ${path}`, {
      hint: `There ${all.length === 1 ? 'is' : 'are'} ${all.map(({ name }) => name).join(', ')}.`,
    });
  return all.filter(({ name }) => names.includes(name));
}

function sourcesPath(input: LoadInput): string | null {
  const given = givenText('sourcesFile', input);
  const path = resolve(input.cwd, given?.text ?? 'sources.yaml');
  return given !== null || existsSync(path) ? path : null;
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    throw new AppError('usage', `${path} cannot be read: ${messageOf(error)}`, {
      hint: 'SOURCES_FILE must be the path of a readable file.',
    });
  }
}

/** A source goes before the defaults; its token also before a file with one. */
function merged(defaults: Map<string, SourceField>, own: Map<string, SourceField>): Map<string, SourceField> {
  const given = new Map(defaults);
  for (const [name, field] of own) {
    given.delete(name.endsWith('_file') ? name.slice(0, -'_file'.length) : `${name}_file`);
    given.set(name, field);
  }
  return given;
}

interface Around {
  input: LoadInput;
  /** The folder of the file. Relative paths in the file begin there. */
  folder: string;
  dataDir: string;
  exportDir: string;
}

function sourceOf(
  name: string,
  given: ReadonlyMap<string, SourceField>,
  { input, folder, dataDir, exportDir }: Around,
): { settings: Settings; input: LoadInput; problems: string[] } {
  const isExportSet = givenText('exportDir', input) !== null;
  const fleet = givenText('publishUrl', input) === null ? givenText('fleetUrl', input) : null;
  const values: Record<string, string> = {
    ...(fleet ? { PUBLISH_URL: fleet.text } : {}),
    DATA_DIR: join(dataDir, name),
    PUBLISH_SCHEMA: `${givenText('publishSchema', input)?.text ?? SETTINGS.publishSchema.fallback}_${name.replaceAll('-', '_')}`,
    ...(isExportSet ? { EXPORT_DIR: join(exportDir, name) } : {}),
  };
  for (const [field, { text }] of given) {
    const env = envOf(field);
    if (env) values[env] = /_file$/.test(field) ? resolve(folder, text) : text;
  }
  const own = { ...input, source: { name, values } };
  return { ...readSettings(own), input: own };
}

/** `token_file` is `FEEDBACK_API_TOKEN_FILE`; null for what is no field. */
function envOf(field: string): string | null {
  if (Object.hasOwn(SOURCE_FIELDS, field)) return SETTINGS[SOURCE_FIELDS[field as FieldName]].env;
  const base = field.replace(/_file$/, '');
  return SOURCE_FIELD_NAMES.includes(field) ? `${SETTINGS[SOURCE_FIELDS[base as FieldName]].env}_FILE` : null;
}

function unknownFields(where: string, fields: ReadonlyMap<string, SourceField>): Problem[] {
  return [...fields].flatMap(([name, { line }]) => {
    if (SOURCE_FIELD_NAMES.includes(name)) return [];
    const near = nearest(name, [...SOURCE_FIELD_NAMES]);
    const meant = near === null ? `there are ${SOURCE_FIELD_NAMES.join(', ')}` : `did you mean ${near}?`;
    return [{ line, text: `${where}: there is no field "${name}": ${meant}` }];
  });
}

function missing(name: string, line: number, fields: ReadonlyMap<string, SourceField>): Problem[] {
  const base = fields.has('base_url') ? [] : [{ line, text: `${name}: base_url is missing` }];
  const isKnown = fields.has('token') || fields.has('token_file');
  return isKnown ? base : [...base, { line, text: `${name}: token or token_file is missing` }];
}

/** A flag that names a service or a file would be the same for all sources. */
function refusedFlags({ flags }: LoadInput): Problem[] {
  const names = [
    'FEEDBACK_BASE_URL',
    'FEEDBACK_AUTH',
    'FEEDBACK_AUTH_PARAM',
    'MIRROR_PATH',
    'PUBLISH_SCHEMA',
  ];
  return names
    .filter((env) => flags[env])
    .map((env) => ({ line: 1, text: `${flagOf(env)} belongs to one source: write it there` }));
}

interface Location {
  name: string;
  line: number;
  given: ReadonlyMap<string, SourceField>;
  defaults: ReadonlyMap<string, SourceField>;
}

/** The problem of a setting in the words of the file: `FEEDBACK_API_TOKEN="x" must …` is `acme: token="x" must …` in its line. */
function located(text: string, { name, line, given, defaults }: Location): Problem {
  const [env = ''] = /^[A-Z][A-Z0-9_]*/.exec(text) ?? [];
  const field = SOURCE_FIELD_NAMES.find((one) => envOf(one) === env);
  const place = field === undefined ? undefined : given.get(field);
  if (field === undefined || !place) return { line, text: `${name}: ${text}` };
  const where = place === defaults.get(field) ? 'defaults' : name;
  return { line: place.line, text: `${where}: ${field}${text.slice(env.length)}` };
}

function lineOf(fields: ReadonlyMap<string, SourceField>, name: string): number {
  return fields.get(name)?.line ?? 1;
}

function lines(problems: readonly Problem[]): string[] {
  const sorted = problems
    .toSorted((a, b) => a.line - b.line)
    .map(({ line, text }) => `  line ${line}: ${text}`);
  return [...new Set(sorted)];
}
