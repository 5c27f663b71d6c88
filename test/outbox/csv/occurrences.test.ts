import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, it } from 'node:test';
import { Occurrences } from '../../../src/outbox/import/csv/source-key.ts';

const digest = (n: number): Buffer => hash('sha256', String(n), 'buffer');

describe('counting occurrences', () => {
  it('counts each digest on its own, however many there are', () => {
    const seen = new Occurrences();
    for (let round = 1; round <= 3; round++)
      for (let n = 0; n < 20_000; n++) assert.equal(seen.count(digest(n)), round);
  });

  it('tells digests apart that begin alike, also with zeros', () => {
    const seen = new Occurrences();
    const alike = [0, 1, 2].map((last) => Buffer.from([0, 0, 0, 0, 0, 0, 0, last]));
    assert.deepEqual(
      [...alike, ...alike].map((each) => seen.count(each)),
      [1, 1, 1, 2, 2, 2],
    );
  });
});
