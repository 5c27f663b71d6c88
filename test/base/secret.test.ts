import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { format, inspect } from 'node:util';
import fc from 'fast-check';
import { Secret } from '../../src/base/secret.ts';

const TOKEN = 'fm+live/9Zk"3=ü canary~';
const secret = new Secret(TOKEN);

describe('a secret', () => {
  it('is revealed only when asked to', () => {
    assert.equal(secret.reveal(), TOKEN);
  });

  it('prints as a mask in every way a value is printed', () => {
    const nested = { a: [{ b: secret }], map: new Map([['k', secret]]) };
    const printed = [
      `${secret}`,
      String(secret),
      `a${String(secret)}`,
      JSON.stringify({ secret }),
      JSON.stringify(nested),
      inspect(secret),
      inspect(nested, { depth: 9, showHidden: true }),
      inspect(secret, { customInspect: false, showHidden: true }),
      format('%s %o %O %j', secret, secret, secret, secret),
      inspect(Object.entries(secret)),
      inspect(Object.getOwnPropertyNames(secret)),
      inspect({ ...secret }),
      inspect(structuredClone({ ...secret })),
    ];
    for (const text of printed) assert.doesNotMatch(text, /canary/);
    assert.equal(printed[0], '[secret]');
  });

  it('masks every spelling it can have in a text', () => {
    const spellings = [
      TOKEN,
      encodeURIComponent(TOKEN),
      encodeURIComponent(TOKEN).replace(/%../g, (code) => code.toLowerCase()),
      String(new URLSearchParams({ key: TOKEN })).slice(4),
      JSON.stringify(TOKEN).slice(1, -1),
      JSON.stringify(JSON.stringify(TOKEN)).slice(3, -3),
      TOKEN.replaceAll('"', '\\"').replaceAll('/', '\\/'),
    ];
    for (const spelling of spellings)
      assert.equal(secret.mask(`before ${spelling} after ${spelling}`), 'before [secret] after [secret]');
  });

  it('leaves other text alone', () => {
    assert.equal(secret.mask('nothing of that kind'), 'nothing of that kind');
  });
});

describe('a secret in base64', () => {
  it('is masked inside a longer text at every alignment', () => {
    for (const before of ['', 'u', 'us', 'use', 'user:'])
      for (const after of ['', '@', '@x', '@xy'])
        for (const alphabet of ['base64', 'base64url'] as const) {
          const encoded = Buffer.from(before + TOKEN + after).toString(alphabet);
          const masked = secret.mask(`Basic ${encoded}.`);
          assert.match(masked, /\[secret\]/);
          // What stays are the edges that hold bits of the neighbours: no whole character of the token.
          assert.doesNotMatch(
            Buffer.from(masked.replace('[secret]', ' '), alphabet).toString('latin1'),
            /canar|live/,
          );
        }
  });

  it('is masked for any token and any surroundings', () => {
    const token = fc.string({ unit: 'grapheme-ascii', minLength: 8, maxLength: 40 });
    fc.assert(
      fc.property(token, fc.string(), fc.string(), (value, before, after) => {
        const encoded = Buffer.from(before + value + after).toString('base64');
        assert.match(new Secret(value).mask(encoded), /\[secret\]/);
      }),
    );
  });
});

describe('a secret that is hardly one', () => {
  it('masks nothing when it is empty or shorter than four characters', () => {
    for (const value of ['', 'a', '"', '{', '123']) {
      const line = '{"level":"info","msg":"a123 {abc}"}';
      assert.equal(new Secret(value).mask(line), line);
      assert.equal(String(new Secret(value)), '[secret]');
    }
  });

  it('masks just itself from four characters on', () => {
    assert.equal(new Secret('abcd').mask('abc abcd abcde'), 'abc [secret] [secret]e');
  });

  it('with a lone surrogate can be masked', () => {
    assert.equal(new Secret('\ud800canary').mask('a \ud800canary'), 'a [secret]');
  });

  it('with characters special in patterns and replacements is masked', () => {
    assert.equal(new Secret('$&.*(').mask('x $&.*( y'), 'x [secret] y');
  });
});
