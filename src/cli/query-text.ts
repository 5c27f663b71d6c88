import type { Value } from '../query/run.ts';
import type { ReadableTable } from '../query/schema.ts';
import { bytesText, csvLine, isNumber, numberText } from '../query/text.ts';
import { cut, draw, oneLine } from './table.ts';

/** Takes the answer as it comes. */
export interface Printer {
  columns(names: string[]): void;
  rows(rows: Value[][]): void;
  /** What is still held back. A form that was cut off is not completed: nobody may take it for the whole answer. */
  end(isWhole: boolean): void;
  /** For the person. */
  notes(): string[];
}

interface Output {
  print(text: string): void;
  raw: boolean;
}

export function printerFor(format: 'table' | 'csv' | 'json' | 'ndjson', output: Output): Printer {
  return { table: tablePrinter, csv: csvPrinter, json: jsonPrinter, ndjson: ndjsonPrinter }[format](output);
}

const LONGEST_CELL = 80;

function tablePrinter({ print }: Output): Printer {
  let names: string[] = [];
  const all: Value[][] = [];
  let hasCut = false;
  const cell = (value: Value): string => {
    const text = cellText(value);
    const shown = cut(text, LONGEST_CELL);
    hasCut ||= shown !== text;
    return shown;
  };
  return {
    columns(given) {
      names = given;
    },
    rows: (rows) => void all.push(...rows),
    end(isWhole) {
      if (names.length === 0 || (!isWhole && all.length === 0)) return;
      const aligns = names.map((_, i) => (all.every((row) => isNumber(row[i])) ? 'right' : 'left'));
      print(draw([names.map((name) => cut(name, LONGEST_CELL)), ...all.map((row) => row.map(cell))], aligns));
    },
    notes: () => [
      `${all.length.toLocaleString('en')} ${all.length === 1 ? 'row' : 'rows'}`,
      ...(hasCut ? ['Long texts are cut here; --format json, ndjson and csv have them whole.'] : []),
    ],
  };
}

const VISIBLE: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** No character that moves the cursor or hides others, and no text that looks like something else. */
function cellText(value: Value): string {
  if (value === null) return 'NULL';
  if (isNumber(value)) return numberText(value);
  if (typeof value !== 'string') return bytesText(value);
  if (value === 'NULL') return "'NULL'";
  return oneLine(value.replace(/[\n\r\t]/g, (sign) => VISIBLE[sign] ?? sign));
}

function csvPrinter({ print, raw }: Output): Printer {
  // print() adds the line feed.
  const line = (values: Value[]): string => `${csvLine(values, raw)}\r`;
  return {
    columns: (names) => print(line(names)),
    rows: (rows) => print(rows.map(line).join('\n')),
    end: () => undefined,
    notes: () => [],
  };
}

function jsonPrinter({ print }: Output): Printer {
  let object: (row: Value[]) => string = () => '{}';
  let separator = '';
  return {
    columns(names) {
      object = objectText(names);
      print('[');
    },
    rows(rows) {
      print(separator + rows.map(object).join(',\n'));
      separator = ',';
    },
    end(isWhole) {
      if (isWhole) print(']');
    },
    notes: () => [],
  };
}

function ndjsonPrinter({ print }: Output): Printer {
  let object: (row: Value[]) => string = () => '{}';
  return {
    columns(names) {
      object = objectText(names);
    },
    rows: (rows) => print(rows.map(object).join('\n')),
    end: () => undefined,
    notes: () => [],
  };
}

/** Written by hand for the integers: JSON can hold all their digits, JavaScript's numbers cannot. */
function objectText(names: string[]): (row: Value[]) => string {
  const keys = distinct(names).map((name) => JSON.stringify(name));
  return (row) => `{${keys.map((key, i) => `${key}:${jsonText(row[i] ?? null)}`).join(',')}}`;
}

function jsonText(value: Value): string {
  if (value === null) return 'null';
  if (isNumber(value)) return numberText(value);
  return JSON.stringify(typeof value === 'string' ? value : bytesText(value));
}

/** `a, a` becomes `a, a_2`: of two equal keys most readers drop one. */
function distinct(names: string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let n = 2; taken.has(free); n++) free = `${name}_${n}`;
    taken.add(free);
    return free;
  });
}

export function schemaText(tables: readonly ReadableTable[]): string {
  return tables
    .map(({ name, line, columns, types }) => {
      const rows = Object.entries(columns).map(([column, words]) => [
        `  ${column}`,
        types[column] ?? '',
        words,
      ]);
      return `${name}: ${line}\n${draw(rows, ['left', 'left', 'left'])}`;
    })
    .join('\n\n');
}
