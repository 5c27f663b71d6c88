import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SETTINGS, type Setting } from '../../config/schema.ts';
import { settingsSchema, webhooksSchema } from '../../deploy/editor-schemas.ts';
import { GENERATED, generated } from '../../deploy/generate.ts';
import { problemOf } from '../http/replica/openapi-client.ts';

const root = resolve(import.meta.dirname, '../..');
const settings = Object.values<Setting<unknown>>(SETTINGS);

/** The validator of the tests reads an older draft, of which these schemas are a part too. */
function without$schema({ $schema: _, ...schema }: { $schema: string }): object {
  return schema;
}

describe('the schemas for editors', () => {
  it('are in the checkout as "npm run generate" writes them', () => {
    for (const name of Object.keys(GENERATED))
      assert.equal(
        readFileSync(join(root, 'schemas', name), 'utf8'),
        generated(name),
        `run npm run generate: ${name}`,
      );
  });

  it('accept every value that the program accepts', async () => {
    const { properties } = settingsSchema() as { properties: Record<string, Record<string, unknown>> };
    const texts = [
      '0',
      '1',
      '16',
      '8080',
      'off',
      'auto',
      'never',
      'header',
      'query',
      '30d',
      '500ms',
      'a-b',
      'Europe/Berlin',
    ];
    const allowed = settings.flatMap(({ env, parse }) =>
      texts.filter((text) => isAllowed(parse, text)).map((text) => [env, text] as const),
    );
    assert.ok(allowed.length > settings.length);
    for (const [env, text] of allowed) {
      const { enum: words, pattern } = properties[env] ?? {};
      if (Array.isArray(words)) assert.ok(words.includes(text), `${env}=${text}`);
      if (typeof pattern === 'string') assert.match(text, new RegExp(pattern), `${env}=${text}`);
    }
    const defaults = Object.entries(properties).flatMap(([name, one]) =>
      one.default ? [[name, one.default]] : [],
    );
    assert.equal(await problemOf(without$schema(settingsSchema()), Object.fromEntries(defaults)), null);
  });

  it('accept and refuse durations and words as the program does, and whole numbers of any size', () => {
    const { properties } = settingsSchema() as { properties: Record<string, { pattern?: string }> };
    const patterned = settings.filter(({ env, parse }) => parse.schema && properties[env]?.pattern);
    fc.assert(
      fc.property(
        fc.constantFrom(...patterned),
        fc.stringMatching(/^[0-9a-z]{1,6}$/),
        ({ env, parse }, text) => {
          const matches = new RegExp(properties[env]?.pattern ?? '').test(text);
          // How large a whole number may be is the program's to say.
          const isAsAllowed = matches === isAllowed(parse, text) || (matches && /^\d+$/.test(text));
          assert.ok(isAsAllowed, `${env}=${text}`);
        },
      ),
    );
  });

  it('accept the file of docs/changes.md, and refuse an unknown field and a missing secret', async () => {
    const page = readFileSync(join(root, 'docs/changes.md'), 'utf8');
    const [, example = ''] = /```json\n(\[[\s\S]*?)```/.exec(page) ?? [];
    const schema = without$schema(webhooksSchema());
    assert.equal(await problemOf(schema, JSON.parse(example)), null);
    assert.ok(await problemOf(schema, [{ url: 'https://example.com', secret: 'x', colour: 'red' }]));
    assert.ok(await problemOf(schema, [{ url: 'https://example.com' }]));
  });
});

function isAllowed(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}
