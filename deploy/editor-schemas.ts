import { CHANNEL_FIELDS, RULE_FIELDS } from '../config/rules.ts';
import { printed, SETTINGS, type Setting } from '../config/schema.ts';
import { NAME_PATTERN, VARIABLE } from '../config/source-file.ts';
import { NO_DEFAULT, SOURCE_FIELDS } from '../config/sources.ts';
import { WEBHOOK_FIELDS } from '../config/webhooks.ts';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

/** The settings by their names in the environment, for editors. Secrets also have a name that ends with _FILE. */
export function settingsSchema() {
  const settings = Object.values<Setting<unknown>>(SETTINGS);
  return {
    $schema: DRAFT,
    title: 'Settings of Feedback Mirror, by their names in the environment',
    type: 'object',
    properties: Object.fromEntries(settings.flatMap(properties)),
  };
}

function properties(setting: Setting<unknown>): [name: string, schema: object][] {
  const { env, parse, fallback, fallbackText, secret, meaning } = setting;
  const usual =
    fallback === null
      ? { ...(fallbackText && { $comment: fallbackText }) }
      : { default: printed(setting, fallback) };
  const own: [string, object] = [env, { type: 'string', ...parse.schema, description: meaning, ...usual }];
  if (!secret) return [own];
  return [own, [`${env}_FILE`, { type: 'string', description: `path of a file with ${env}` }]];
}

/** The file that SOURCES_FILE names. */
export function sourcesSchema() {
  const fields = Object.fromEntries(Object.entries(SOURCE_FIELDS).flatMap(fieldsOf));
  const shared = Object.entries(fields).filter(([name]) => !NO_DEFAULT.includes(name.replace(/_file$/, '')));
  const anyOf = [{ required: ['token'] }, { required: ['token_file'] }];
  return {
    $schema: DRAFT,
    title: 'sources.yaml of Feedback Mirror',
    type: 'object',
    properties: {
      defaults: { type: 'object', properties: Object.fromEntries(shared), additionalProperties: false },
      sources: {
        type: 'object',
        minProperties: 1,
        patternProperties: {
          [NAME_PATTERN]: {
            type: 'object',
            properties: fields,
            required: ['base_url'],
            anyOf,
            additionalProperties: false,
          },
        },
        additionalProperties: false,
      },
    },
    required: ['sources'],
    additionalProperties: false,
  };
}

/** A text may also be taken from the environment, whatever the setting allows. */
function fieldsOf([name, key]: [string, keyof typeof SETTINGS]): [name: string, schema: object][] {
  const { parse, secret, meaning: description }: Setting<unknown> = SETTINGS[key];
  const variable = { type: 'string', pattern: VARIABLE };
  const own = parse.schema ? { anyOf: [parse.schema, variable] } : { type: ['string', 'number'] };
  const field: [string, object] = [name, { ...own, description }];
  return secret
    ? [field, [`${name}_file`, { type: 'string', description: `path of a file with ${name}` }]]
    : [field];
}

/** The file that RULES_FILE names. */
export function rulesSchema() {
  const channel = {
    type: 'object',
    properties: CHANNEL_FIELDS,
    additionalProperties: false,
    minProperties: 1,
  };
  return {
    $schema: DRAFT,
    title: 'RULES_FILE of Feedback Mirror',
    type: 'object',
    properties: {
      channels: { type: 'object', additionalProperties: channel },
      rules: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          properties: RULE_FIELDS,
          required: ['name', 'what', 'every', 'to'],
          additionalProperties: false,
        },
      },
    },
    required: ['rules'],
    additionalProperties: false,
  };
}

/** The file that WEBHOOKS_FILE names. */
export function webhooksSchema() {
  return {
    $schema: DRAFT,
    title: 'WEBHOOKS_FILE of Feedback Mirror',
    type: 'array',
    items: {
      type: 'object',
      properties: WEBHOOK_FIELDS,
      required: ['url'],
      additionalProperties: false,
      anyOf: [
        { required: ['secret'] },
        { required: ['secret_file'] },
        { required: ['format'], properties: { format: { enum: ['slack', 'discord', 'teams'] } } },
      ],
    },
  };
}
