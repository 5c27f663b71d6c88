import { constants, zstdCompressSync } from 'node:zlib';
import { ByteWriter, type ColumnSource, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { type Encoder, NO_BYTES } from './formats.ts';
import type { ExportCell, ExportRow } from './store/export.ts';
import type { CellType, ExportColumn } from './store/tables.ts';

/** A row group is encoded in one go, without a turn for anything else: this many posts of 800 characters take about 45 ms. */
const GROUP_ROWS = 2500;
/** Long texts end a group early; so memory depends on neither the number nor the size of rows. */
const GROUP_CHARACTERS = 4_000_000;

/** Integers of 64 bits, booleans, UTC timestamps in milliseconds, texts, JSON; compressed with Zstandard. */
export function parquetEncoder(columns: readonly ExportColumn[]): Encoder {
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    schema: schemaOf(columns, ELEMENTS),
    codec: 'ZSTD',
    compressors: { ZSTD: compress },
    // They compare texts by UTF-16 where readers compare UTF-8: a reader would skip the very rows that it looks for.
    statistics: false,
  });
  let group: ExportRow[] = [];
  let characters = 0;

  const writeGroup = (): void => {
    const columnData = columns.map((column, i) => columnOf(column, group, i));
    void writer.write({ columnData, rowGroupSize: group.length });
    [group, characters] = [[], 0];
  };
  return {
    begin: () => NO_BYTES,
    rows(rows) {
      for (const row of rows) {
        group.push(row);
        for (const cell of row) if (typeof cell === 'string') characters += cell.length;
        if (group.length >= GROUP_ROWS || characters >= GROUP_CHARACTERS) writeGroup();
      }
      return taken(bytes);
    },
    end() {
      if (group.length > 0) writeGroup();
      // Told only now that JSON texts are JSON: while it writes, the library would encode them as JSON once more.
      writer.schema = schemaOf(columns, { ...ELEMENTS, json: { ...ELEMENTS.json, converted_type: 'JSON' } });
      void writer.finish();
      return taken(bytes);
    },
  };
}

/** What was written since the last time; the offsets inside the file go on counting. */
function taken(writer: ByteWriter): Uint8Array {
  const bytes = Uint8Array.from(writer.getBytes());
  writer.index = 0;
  return bytes;
}

function compress(bytes: Uint8Array): Uint8Array {
  return zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

type Elements = Record<CellType, Omit<SchemaElement, 'name'>>;

/** Told in both ways, the old and the new: DuckDB knows JSON only by the old one, and times in UTC only by the new one. */
const ELEMENTS: Elements = {
  integer: { type: 'INT64' },
  boolean: { type: 'BOOLEAN' },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  json: { type: 'BYTE_ARRAY', logical_type: { type: 'JSON' } },
};

function schemaOf(columns: readonly ExportColumn[], elements: Elements): SchemaElement[] {
  return [
    { name: 'root', num_children: columns.length },
    ...columns.map(
      ({ name, type, nullable }): SchemaElement => ({
        name,
        repetition_type: nullable ? 'OPTIONAL' : 'REQUIRED',
        ...elements[type],
      }),
    ),
  ];
}

/** Free texts hardly ever repeat: looking for repetitions in them took a tenth of the time. */
function columnOf(
  { name, type, personal }: ExportColumn,
  rows: readonly ExportRow[],
  at: number,
): ColumnSource {
  const convert = CONVERSIONS[type]();
  const data = rows.map((row) => convert(row[at] ?? null));
  return personal?.kind === 'text' ? { name, data: encoded(data), encoding: 'PLAIN' } : { name, data };
}

/** All texts of a column into one buffer: a buffer for each, as the library makes them, takes twice as long. */
function encoded(texts: readonly unknown[]): (Uint8Array | null)[] {
  let characters = 0;
  for (const text of texts) if (typeof text === 'string') characters += text.length;
  const buffer = Buffer.allocUnsafeSlow(characters * BYTES_A_CHARACTER);
  let end = 0;
  return texts.map((text) => {
    if (typeof text !== 'string') return null;
    const start = end;
    end += buffer.write(text, start);
    return buffer.subarray(start, end);
  });
}

/** A UTF-16 unit is three bytes of UTF-8 at most. */
const BYTES_A_CHARACTER = 3;

type Convert = (cell: ExportCell) => bigint | boolean | ExportCell;

const CONVERSIONS: Record<CellType, () => Convert> = {
  integer: () => (cell) => (cell === null ? null : BigInt(cell)),
  boolean: () => (cell) => (cell === null ? null : cell === 1),
  time: timeConversion,
  text: () => (cell) => cell,
  json: () => (cell) => cell,
};

/** Rows of one page were seen and changed at the same moment, so most times are the one before. */
function timeConversion(): Convert {
  let [last, instant]: [ExportCell, bigint] = [null, 0n];
  return (cell) => {
    if (cell === null) return null;
    if (cell !== last) [last, instant] = [cell, BigInt(Date.parse(String(cell)))];
    return instant;
  };
}
