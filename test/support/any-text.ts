import fc, { type StringConstraints } from 'fast-check';

const SURROGATES = 0x800;

/** Any character, also those that no font has. With its own unit `binary`, fast-check first builds a table of all of them: 0.5 s. */
const character = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES })
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + SURROGATES));

/** Any well-formed text. */
export function anyText(constraints: Omit<StringConstraints, 'unit'> = {}): fc.Arbitrary<string> {
  return fc.string({ unit: character, ...constraints });
}
