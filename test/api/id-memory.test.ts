import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { idMemory } from '../../src/api/id-memory.ts';

describe('the memory of ids', () => {
  it('tells for any sequence of ids which come for the first time, as a set would', () => {
    const ids = fc.array(fc.oneof(fc.nat(50), fc.maxSafeNat()), { maxLength: 3000 });
    fc.assert(
      fc.property(ids, (sequence) => {
        const isFirst = idMemory();
        const seen = new Set<number>();
        for (const id of sequence) {
          assert.equal(isFirst(id), !seen.has(id));
          seen.add(id);
        }
      }),
    );
  });

  it('keeps what it knows when the first id comes that does not fit into 32 bits', () => {
    const isFirst = idMemory();
    const ids = Array.from({ length: 2000 }, (_, n) => 2 ** 32 - 1000 + n);
    for (const id of ids) assert.ok(isFirst(id), String(id));
    for (const id of ids) assert.ok(!isFirst(id), String(id));
  });

  it('takes in a hundred thousand neighbouring ids, and multiples of a large power of two, in a moment', () => {
    for (const step of [1, 2 ** 20, 2 ** 32]) {
      const isFirst = idMemory();
      const count = step === 1 ? 100_000 : 2000;
      for (let i = 1; i <= count; i++) assert.ok(isFirst(i * step));
      for (let i = 1; i <= count; i++) assert.ok(!isFirst(i * step));
    }
  });
});
