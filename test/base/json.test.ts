import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isTooDeep, parseShallow, TooDeepJson } from '../../src/base/json.ts';

function levelsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(levelsOf));
}

describe('JSON that is nested too deep', () => {
  it('has more than 64 levels of lists and objects, whatever its strings and keys hold', () => {
    const inner = fc.jsonValue({ stringUnit: fc.constantFrom('[', ']', '{', '}', '"', '\\', 'a', 'é') });
    const wraps = fc.array(fc.boolean(), { minLength: 55, maxLength: 70 });
    fc.assert(
      fc.property(inner, wraps, (value, lists) => {
        const deep = lists.reduce<unknown>((held, isList) => (isList ? [held] : { '"[\\': held }), value);
        const text = JSON.stringify(deep);
        const isDeep = levelsOf(deep) > 64;
        assert.equal(isTooDeep(text), isDeep);
        if (isDeep) assert.throws(() => parseShallow(text), TooDeepJson);
        else assert.deepEqual(parseShallow(text), JSON.parse(text));
      }),
    );
  });

  it('is detected in 10 MB of brackets, and an unterminated string is not mistaken for it', () => {
    assert.equal(isTooDeep('['.repeat(10_000_000)), true);
    assert.throws(() => parseShallow('['.repeat(10_000_000)), TooDeepJson);
    assert.equal(isTooDeep(`"${'['.repeat(1000)}`), false);
    assert.equal(isTooDeep(`"\\`), false);
  });
});
