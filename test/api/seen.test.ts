import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { idMemory } from '../../src/api/seen.ts';

const anyId = fc.oneof(
  fc.nat(50),
  fc.nat(),
  fc.maxSafeNat(),
  fc.constantFrom(-1, 0.5, 2 ** 32 - 2, 2 ** 32 - 1, 2 ** 32, '7', '4294967294'),
);

describe('the memory of ids', () => {
  it('tells of each id whether it is the first time, as a Set does', () => {
    const property = fc.property(fc.array(anyId, { maxLength: 3000, size: 'max' }), (ids) => {
      const isFirst = idMemory();
      const seen = new Set<number | string>();
      for (const id of ids) {
        assert.equal(isFirst(id), !seen.has(id));
        seen.add(id);
      }
    });
    fc.assert(property, { numRuns: 50 });
  });

  it('stays fast where ids differ only in their high bits', () => {
    const isFirst = idMemory();
    for (let n = 0; n < 60_000; n++) assert.equal(isFirst(n * 2 ** 16), true);
    for (let n = 0; n < 60_000; n++) assert.equal(isFirst(n * 2 ** 16), false);
  });
});
