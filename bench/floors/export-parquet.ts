/** The posts of a mirror as Parquet: node bench/floors/export-parquet.ts mirror.db posts.parquet */
import { fileWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { type Cell, COLUMNS, posts } from './export-rows.ts';

const [mirror = '', out = ''] = process.argv.slice(2);
const isNumber = (name: string): boolean => name === 'id' || /_(id|count)$/.test(name);
const schema = COLUMNS.map((name): SchemaElement => {
  const type = isNumber(name)
    ? ({ type: 'INT32' } as const)
    : ({ type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const);
  return { name, repetition_type: 'OPTIONAL', ...type };
});
const writer = new ParquetWriter({
  writer: fileWriter(out),
  schema: [{ name: 'root', num_children: schema.length }, ...schema],
});
let group: Cell[][] = [];
for (const row of posts(mirror).raw().iterate() as Iterable<Cell[]>) {
  group.push(row);
  if (group.length === 10_000) writeGroup();
}
if (group.length > 0) writeGroup();
await writer.finish();

function writeGroup(): void {
  const columnData = COLUMNS.map((name, i) => ({ name, data: group.map((row) => row[i] ?? null) }));
  void writer.write({ columnData, rowGroupSize: group.length });
  group = [];
}
