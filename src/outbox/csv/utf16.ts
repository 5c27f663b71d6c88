/** A byte that no UTF-8 text has: it marks what UTF-8 cannot say, so that the row around it is refused later. */
const UNSAYABLE = Buffer.from([0xff]);

/**
 * UTF-16 to UTF-8 piece by piece. A lone surrogate becomes a byte that is invalid in UTF-8 instead of the U+FFFD
 * that TextDecoder and Buffer would put there: a silent change must stay visible to the check that follows.
 */
export function utf16Transcoder(bigEndian: boolean): { push(chunk: Uint8Array): Buffer; end(): Buffer } {
  let rest: Buffer = Buffer.alloc(0);
  return {
    push(chunk) {
      const bytes = Buffer.concat([rest, chunk]);
      const whole = wholeCharacters(bytes, bigEndian);
      rest = bytes.subarray(whole);
      const units = bytes.subarray(0, whole);
      return encode((bigEndian ? units.swap16() : units).toString('utf16le'));
    },
    /** A file that ends in the middle of a character ends in something unsayable. */
    end: () => (rest.length === 0 ? rest : UNSAYABLE),
  };
}

/** Without an odd byte at the end, and without a high surrogate that waits for its other half. */
function wholeCharacters(bytes: Buffer, bigEndian: boolean): number {
  const even = bytes.length - (bytes.length % 2);
  if (even === 0) return 0;
  const high = bytes[bigEndian ? even - 2 : even - 1] ?? 0;
  return high >= 0xd8 && high <= 0xdb ? even - 2 : even;
}

function encode(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const pieces = text.split(/\p{Surrogate}/u).map((piece) => Buffer.from(piece));
  return Buffer.concat(pieces.flatMap((piece, i) => (i === 0 ? [piece] : [UNSAYABLE, piece])));
}
