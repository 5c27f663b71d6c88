import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { liveToken } from '../../config/load.ts';
import { chosenSources, loadSources, SOURCE_FIELD_NAMES, type Sources } from '../../config/sources.ts';
import { sourcesSchema } from '../../deploy/editor-schemas.ts';
import { messageOf } from '../../src/base/errors.ts';
import { problemOf } from '../http/replica/openapi-client.ts';
import { folder, input } from './inputs.ts';

const TWO = `
defaults: { sweep_every: 1h }
sources:
  acme:
    base_url: https://feedback.acme.example
    token: \${ACME_TOKEN}
  beta:
    base_url: https://feedback.beta.example
    token_file: secrets-beta
    sweep_every: 15m
`;

function load(text: string, env: Record<string, string> = {}, files: Record<string, string> = {}): Sources {
  const cwd = folder({ 'sources.yaml': text, ...files });
  const sources = loadSources(input({ cwd, env }));
  assert.ok(sources);
  return sources;
}

function loadTwo(env: Record<string, string> = {}): Sources {
  return load(TWO, { ACME_TOKEN: 'token-of-acme', ...env }, { 'secrets-beta': 'token-of-beta\n' });
}

/** What is wrong with a file, a problem a line. */
function problemsOf(text: string, env: Record<string, string> = {}): string[] {
  try {
    load(text, env);
    return [];
  } catch (error) {
    return messageOf(error)
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  }
}

const acme = (more: string): string =>
  `sources:\n  acme:\n    base_url: https://a.example\n    token: abcdef\n${more}`;

describe('sources.yaml', () => {
  it('is left out where there is none', () => {
    assert.equal(loadSources(input()), null);
  });

  it('gives each source its service, its token, its folder and its settings', () => {
    const [first, second] = loadTwo().all.map(({ settings }) => settings);
    assert.deepEqual(
      [first, second].map((one) => [
        one?.source,
        one?.baseUrl?.host,
        one?.token?.reveal(),
        one?.dataDir,
        one?.sweepEvery,
        one?.publishSchema,
      ]),
      [
        ['acme', 'feedback.acme.example', 'token-of-acme', join('data', 'acme'), 3_600_000, 'feedback_acme'],
        ['beta', 'feedback.beta.example', 'token-of-beta', join('data', 'beta'), 900_000, 'feedback_beta'],
      ],
    );
    assert.equal(first?.mirrorPath, join('data', 'acme', 'mirror.db'));
  });

  it('gives no source the service, token or file of the environment', () => {
    const env = {
      FEEDBACK_API_TOKEN: 'of-another-service',
      FEEDBACK_BASE_URL: 'https://other.example',
      FEEDBACK_AUTH: 'query',
      FEEDBACK_AUTH_PARAM: 'key',
      MIRROR_PATH: 'elsewhere.db',
      PUSH_PER_MINUTE: '7',
    };
    for (const { settings, input: own } of loadTwo(env).all) {
      assert.equal(settings.token?.reveal(), `token-of-${settings.source}`);
      assert.ok(settings.token);
      assert.equal(liveToken(own, settings.token, () => 0)().reveal(), `token-of-${settings.source}`);
      assert.equal(settings.auth, 'header');
      assert.equal(settings.mirrorPath, join('data', settings.source ?? '', 'mirror.db'));
      assert.equal(settings.pushPerMinute, 7);
    }
  });

  it('reads a new token from its file without a restart', () => {
    const cwd = folder({ 'sources.yaml': TWO, 'secrets-beta': 'first-token' });
    const beta = loadSources(input({ cwd, env: { ACME_TOKEN: 'abcdef' } }))?.all[1];
    assert.ok(beta?.settings.token);
    let now = 0;
    const token = liveToken(beta.input, beta.settings.token, () => now);
    writeFileSync(join(cwd, 'secrets-beta'), 'second-token');
    now = 5000;
    assert.equal(token().reveal(), 'second-token');
  });

  it('is refused as a whole, every problem with its line', () => {
    const text = `defaults:
  token: shared-secret
  colour: red
sources:
  Acme: { base_url: https://a.example, token: abcdef }
  beta:
    base_url: http://b.example
    token: \${NOT_SET}
    sweep_every: often
    swep_cron: '* * * * *'
  gamma:
    push_per_minute: 0
`;
    assert.deepEqual(problemsOf(text), [
      'line 2: defaults: token belongs to one source',
      `line 3: defaults: there is no field "colour": there are ${SOURCE_FIELD_NAMES.join(', ')}`,
      'line 5: "Acme" is no name of a source: use 1 to 40 small letters, digits and hyphens',
      'line 7: beta: base_url="http://b.example" must be https, or http on loopback only (127.0.0.1, ::1, localhost)',
      'line 8: beta: token: $' + '{NOT_SET} is not set: set it in the environment or in .env',
      'line 9: beta: sweep_every="often" must be auto, or a duration such as 500ms, 10s, 5m, 2h or 7d',
      'line 10: beta: there is no field "swep_cron": did you mean sweep_cron?',
      'line 11: gamma: base_url is missing',
      'line 11: gamma: token or token_file is missing',
      'line 12: gamma: push_per_minute="0" must be a whole number from 1 to 1000000',
    ]);
    assert.deepEqual(problemsOf(acme('    sweep_every: often\n    auth: query')), [
      'line 2: acme: FEEDBACK_AUTH_PARAM is required with FEEDBACK_AUTH=query: set it to the name of the query parameter',
      'line 5: acme: sweep_every="often" must be auto, or a duration such as 500ms, 10s, 5m, 2h or 7d',
    ]);
  });

  it('never shows a token in a problem', () => {
    const texts = [
      acme('    token: second-canary'),
      'sources:\n  a: {base_url: https://a.example, token: "canary bad"}',
      'sources:\n  a: [canary-token',
      'canary-token',
      'sources:\n  a: canary-token',
    ];
    for (const text of texts) {
      const problems = problemsOf(text);
      assert.notEqual(problems.length, 0, text);
      assert.doesNotMatch(problems.join(), /canary/);
    }
  });

  it('agrees with its JSON Schema about what is allowed', async () => {
    const { $schema: _, ...schema } = sourcesSchema();
    const field = fc.constantFrom('push_per_minute', 'sweep_every', 'auth', 'nothing', 'page_param');
    const value = fc.constantFrom('5m', 'off', 'header', '12', 'page');
    const name = fc.constantFrom('acme', 'a-1', 'Acme', 'a_b');
    await fc.assert(
      fc.asyncProperty(name, field, value, async (source, key, text) => {
        const fields = { base_url: 'https://a.example', token: 'abcdef', [key]: text };
        const file = { sources: { [source]: fields } };
        const isAllowed = problemsOf(JSON.stringify(file)).length === 0;
        // The schema knows the form of a value and leaves the rest to the program.
        if (isAllowed) assert.equal(await problemOf(schema, file), null);
        if (key === 'nothing' || /[^a-z0-9-]/.test(source)) assert.ok(await problemOf(schema, file));
      }),
      { numRuns: 25 },
    );
  });

  it('is asked for the sources that a command names, and names those there are', () => {
    const sources = loadTwo();
    const chosen = (source: string) =>
      chosenSources(sources, input({ flags: { SOURCE: source } })).map(({ name }) => name);
    assert.deepEqual(chosen('beta,acme'), ['acme', 'beta']);
    assert.deepEqual(chosen('beta'), ['beta']);
    assert.throws(() => chosen('gamma'), { message: /no source "gamma"/, hint: 'There are acme, beta.' });
  });
});
