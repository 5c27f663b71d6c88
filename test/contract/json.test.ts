import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, UnstorableJson } from '../../src/contract/json.ts';
import { wellFormedText } from '../support/any-wire.ts';

/** Any JSON value whose numbers and texts can be kept exactly. */
const { value: anyJson } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, min: -1e6, max: 1e6 }).map((n) => n + 0),
    wellFormedText,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(wellFormedText, tie('value'), { maxKeys: 5 }),
  ),
}));

/** The same value with the keys of every object in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}

/** Off the wire: `undefined`, prototypes and -0 have no JSON. */
function received(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe('canonical JSON', () => {
  it('parses back to an equal value', () => {
    fc.assert(
      fc.property(anyJson.map(received), (value) => {
        assert.deepEqual(JSON.parse(canonicalJson(value)), value);
      }),
    );
  });

  it('is stable: parsed and written again it is the same text', () => {
    fc.assert(
      fc.property(anyJson.map(received), (value) => {
        const text = canonicalJson(value);
        assert.equal(canonicalJson(JSON.parse(text)), text);
      }),
    );
  });

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(anyJson.map(received), (value) => {
        assert.equal(canonicalJson(reversed(value)), canonicalJson(value));
      }),
    );
  });

  it('leaves the order of arrays alone', () => {
    assert.equal(canonicalJson([3, 1, 2]), '[3,1,2]');
  });

  it('writes zero and minus zero alike, as they are equal', () => {
    assert.equal(canonicalJson(JSON.parse('-0')), '0');
  });

  it('does not change the value it is given', () => {
    const value = { b: 1, a: [{ d: 1, c: 2 }] };
    canonicalJson(value);
    assert.equal(JSON.stringify(value), '{"b":1,"a":[{"d":1,"c":2}]}');
  });

  it('refuses numbers that no text can say exactly', () => {
    for (const value of [2 ** 53, -(2 ** 53), 1e300, Infinity, NaN])
      assert.throws(() => canonicalJson([value]), UnstorableJson);
  });
});
