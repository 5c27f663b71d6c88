import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fuzzCsv } from './fuzz/csv.ts';
import { fuzzDecoder } from './fuzz/decoder.ts';

/** More with `npm run fuzz`. */
const COUNT = 1000;
const SEED = 20_261_115;

describe('damaged input', () => {
  it('of the decoder is refused with a reason or kept exactly as it came', () => {
    const { accepted, refused, unreadable } = fuzzDecoder(COUNT, SEED);
    assert.equal(accepted + refused + unreadable, COUNT);
    assert.ok(accepted > 50 && refused > 50, `${accepted} accepted, ${refused} refused`);
  });

  it('of the CSV reader is refused as a whole, or row by row, or kept exactly as it was written', async () => {
    const { accepted, refused, unreadable } = await fuzzCsv(COUNT, SEED);
    assert.ok(accepted > 500 && refused > 100, `${accepted} accepted, ${refused} refused`);
    assert.ok(unreadable < COUNT / 2, `${unreadable} files could not be read at all`);
  });
});
