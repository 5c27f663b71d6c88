import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { flagOf, printed, SETTINGS, type Setting } from '../../config/schema.ts';

const settings: [string, Setting<unknown>][] = Object.entries(SETTINGS);

describe('the table of settings', () => {
  it('names each setting once, in the style of the environment', () => {
    const names = settings.map(([, { env }]) => env);
    assert.equal(new Set(names).size, names.length);
    for (const name of names) assert.match(name, /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/);
  });

  it('makes a flag of every name', () => {
    assert.equal(flagOf('FEEDBACK_BASE_URL'), '--feedback-base-url');
    for (const [, { env }] of settings) assert.match(flagOf(env), /^--[a-z0-9]+(-[a-z0-9]+)*$/);
  });

  for (const [key, definition] of settings) {
    const { env, fallback, fallbackText, meaning, secret } = definition;

    it(`explains ${env} in a few words that do not end in a full stop`, () => {
      assert.match(meaning, /^.{5,120}[^.\s]$/);
    });

    it(`reads the fallback of ${env} back as itself once printed`, () => {
      if (fallback === null) return;
      assert.notEqual(secret, true, `${key} is a secret and must not have one in the source`);
      assert.deepEqual(definition.parse(printed(definition, fallback)), fallback);
      assert.equal(fallbackText, undefined, `${key} needs no words for a value that prints itself`);
    });
  }
});
