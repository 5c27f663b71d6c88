import type { Random } from '../../../src/sandbox/random.ts';

/** Bytes that mean something to JSON, CSV and UTF-8, so that damage is seldom harmless. */
const SHARP = Buffer.from(
  '"\\,;\t\r\n{}[]:0-9e.+u\x00\x1a\x7f\xc3\xa9\xed\xa0\x80\xef\xbb\xbf\xff\xf0',
  'latin1',
);

/** A few places of the bytes changed, cut, doubled or moved. */
export function mutated(bytes: Buffer, random: Random): Buffer {
  let damaged = bytes;
  for (let n = 1 + random.int(4); n > 0; n--) damaged = once(damaged, random);
  return damaged;
}

function once(bytes: Buffer, random: Random): Buffer {
  const [at, to] = [random.int(bytes.length + 1), random.int(bytes.length + 1)];
  const length = 1 + random.int(12);
  const sharp = Buffer.from(Array.from({ length: 1 + random.int(3) }, () => random.pick([...SHARP])));
  const piece = bytes.subarray(at, at + length);
  const put = (what: Buffer, place: number, instead = 0): Buffer =>
    Buffer.concat([bytes.subarray(0, place), what, bytes.subarray(place + instead)]);
  switch (random.int(5)) {
    case 0:
      return put(sharp, at);
    case 1:
      return put(sharp, at, sharp.length);
    case 2:
      return put(Buffer.alloc(0), at, length);
    case 3:
      return put(piece, at);
    default:
      return put(piece, to, length);
  }
}
