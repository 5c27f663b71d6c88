import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../../src/base/errors.ts';
import { resultLine } from '../../../src/outbox/import/results.ts';
import type { Delimiter } from '../../../src/text/csv.ts';
import { anyText } from '../../support/any-text.ts';
import { type Read, readChunked } from './feed.ts';
import { recordLines } from './reference.ts';

const delimiter = fc.constantFrom<Delimiter>(',', ';', '\t');
const eol = fc.constantFrom('\r\n' as const, '\n' as const, '\r' as const);
const chunk = fc.integer({ min: 1, max: 40 });
const encoding = fc.constantFrom('utf-8', 'utf-8 with a mark', 'utf-16le', 'utf-16be');

/** Mostly the characters that CSV is made of, and some that take two to four bytes. */
const character = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('"', ',', ';', '\t', '\n', '\r', ' ', 'a', 'é', '😀', '\uFEFF', '\0', '='),
  },
  { weight: 1, arbitrary: anyText({ minLength: 1, maxLength: 1 }) },
);
const cell = fc.array(character, { maxLength: 12 }).map((characters) => characters.join(''));

function encode(text: string, as: string): Buffer {
  if (as === 'utf-8') return Buffer.from(text);
  if (as === 'utf-8 with a mark') return Buffer.from(`\uFEFF${text}`);
  const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le');
  return as === 'utf-16le' ? bytes : bytes.swap16();
}

test('what is written is read back cell by cell, in any delimiter, line end, encoding and chunk size', async () => {
  const table = fc
    .integer({ min: 1, max: 5 })
    .chain((width) =>
      fc
        .array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 8 })
        .map((rows) => ({ width, rows })),
    );
  await fc.assert(
    fc.asyncProperty(
      table,
      delimiter,
      eol,
      encoding,
      chunk,
      async ({ width, rows }, separator, end, as, size) => {
        const headers = ['title', ...Array.from({ length: width }, (_, i) => `c${i}`)];
        const lines = [headers, ...rows.map((cells) => ['t', ...cells])].map((cells) =>
          resultLine(cells, separator).replace(/\r\n$/, end),
        );
        const file = await readChunked(encode(lines.join(''), as), { board: 'b' }, size);
        assert.deepEqual(
          file.rows.map((row) => (row.ok ? row.cells : row.reason)),
          rows.map((cells) => ['t', ...cells]),
        );
      },
    ),
    { numRuns: 30 },
  );
});

const VALID = [
  'board,title,content\nb,one,c\nb,"two, too","a ""b""\r\nc"\r\nb,three,"é😀"\n\nb,four,\n',
  'title;board\r\n"a;b";b\r\n"c\rd";"b"\r\ne;b',
  '"title"\t"board"\t"x"\r"a"\tb\t"1\n2"\rc\tb\t\r',
];

const mutation = fc.record({
  at: fc.nat(),
  remove: fc.integer({ min: 0, max: 3 }),
  insert: fc.array(
    fc.constantFrom(0x22, 0x2c, 0x3b, 0x09, 0x0a, 0x0d, 0x00, 0xff, 0xc3, 0xa9, 0xed, 0xa0, 0x61, 0x1a, 0xef),
    { maxLength: 3 },
  ),
});

function mutate(
  bytes: Buffer,
  { at, remove, insert }: { at: number; remove: number; insert: number[] },
): Buffer {
  const place = at % (bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, place), Buffer.from(insert), bytes.subarray(place + remove)]);
}

/** The file, or the sentence that refused it; anything else that is thrown is a defect. */
async function readOrRefuse(bytes: Buffer, size: number): Promise<Read | string> {
  try {
    return await readChunked(bytes, { board: 'b', maxFieldBytes: 60 }, size);
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'usage', String(error));
    return error.message;
  }
}

test('however a file is damaged, every record of it is accepted or refused, once, at its line', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...VALID),
      fc.array(mutation, { minLength: 1, maxLength: 6 }),
      chunk,
      async (text, mutations, size) => {
        const bytes = mutations.reduce(mutate, Buffer.from(text));
        const file = await readOrRefuse(bytes, 64 * 1024);
        assert.deepEqual(await readOrRefuse(bytes, size), file);
        if (typeof file === 'string') return;
        const whole = bytes.toString('latin1').replace(/^(?:\xef\xbb\xbf)+/, '');
        assert.deepEqual(
          file.rows.map((row) => row.line),
          recordLines(whole, file.delimiter).slice(1),
        );
      },
    ),
    { numRuns: 40 },
  );
});

test('however a UTF-16 file is damaged, it is read or refused, the same in any chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...VALID),
      fc.array(mutation, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      chunk,
      async (text, mutations, big, size) => {
        const bytes = mutations.reduce(mutate, encode(text, big ? 'utf-16be' : 'utf-16le'));
        assert.deepEqual(await readOrRefuse(bytes, size), await readOrRefuse(bytes, 64 * 1024));
      },
    ),
    { numRuns: 40 },
  );
});
