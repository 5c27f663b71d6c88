import type { Db } from '../../db/open.ts';
import { dataVersion, immediate, readMeta, scalar, writeMeta } from '../../db/sql.ts';

/** A column of a table in the form that reports add up: one number a row. */
export type Numbers = Float64Array | Int32Array | Uint16Array | Uint8Array;

/** Times are milliseconds since the epoch, truths 0 or 1. The key, a post, stands first: rows are packed in its order. */
const SOURCES = {
  posts: {
    table: 'posts',
    order: 'id',
    columns: {
      id: 'id',
      created: 'created',
      board: 'board_id',
      status: 'status_id',
      votes: 'votes_count',
      comments: 'comments_count',
      creator: 'creator_id',
      version: 'version_at',
      gone: 'deleted_at IS NOT NULL',
    },
  },
  comments: {
    table: 'comments',
    order: 'post_id, created',
    columns: {
      post: 'post_id',
      created: 'created',
      creator: 'creator_id',
      gone: 'deleted_at IS NOT NULL',
      /** What the view team_replies asks of the comment itself; the rest is that its author is of the team. */
      reply: "kind = 'reply' AND internal = 0",
    },
  },
  versions: {
    table: 'post_versions',
    order: 'post_id, n',
    columns: {
      post: 'post_id',
      at: 'observed_at',
      status: 'status_id',
      votes: 'votes_count',
      board: 'board_id',
      gone: 'deleted',
    },
  },
} as const satisfies Record<
  string,
  { table: string; order: string; columns: Readonly<Record<string, string>> }
>;

type Source = keyof typeof SOURCES;
export type ColumnOf<S extends Source> = keyof (typeof SOURCES)[S]['columns'] & string;
/** The columns that were asked for, each with a number for every row. The versions of a post are in the order in which they were superseded. */
export type Packed<C extends string> = { rows: number } & Record<C, Numbers>;

/** Rows in one value: so few that the rest, which is read row by row, is quick, and so many that the values are few. */
const CHUNK = 8192;
/** Posts whose packed rows may have changed before the first of them are packed again: as many are read one by one in about 30 ms. */
const MOST_CHANGES = 4096;

const ALL = Object.keys(SOURCES) as Source[];

type Cell = string | number;

/** Counts how often rows were packed: with the same number the packed rows are the same. */
const PACKS = 'report_packs';

function notePacked(db: Db): void {
  writeMeta(db, PACKS, String(1 + Number(readMeta(db, PACKS) ?? 0)));
}

function sourceOf(source: Source) {
  const { table, order, columns } = SOURCES[source];
  const known: Readonly<Record<string, string>> = columns;
  const [key, keySql] = source === 'posts' ? ['id', 'id'] : ['post', 'post_id'];
  return { table, order, columns: known, key, keySql };
}

/** Packs rows from the tables. */
function chunkWriter(db: Db, chunk: number) {
  const write = db.prepare(`
    INSERT INTO report_columns (source, name, first, rows, data) VALUES (?, ?, ?, ?, ?)`);

  const pack = (source: Source, from: number, to: number): void => {
    const { table, keySql, order, columns } = sourceOf(source);
    const rows = db
      .prepare<[number, number], Cell[]>(`
        SELECT ${Object.values(columns).join(', ')} FROM ${table} WHERE ${keySql} BETWEEN ? AND ? ORDER BY ${order}`)
      .raw()
      .all(from, to);
    if (rows.length === 0) return;
    for (const [place, name] of Object.keys(columns).entries()) {
      const { buffer } = narrowed(numbersOf(rows, place));
      write.run(source, name, Number(rows[0]?.[0]), rows.length, Buffer.from(buffer as ArrayBuffer));
    }
  };
  /** The key of the last row of the next chunk from a key on; undefined where fewer rows are left. */
  const endOf = (source: Source, from: number): number | undefined => {
    const { table, keySql } = sourceOf(source);
    const sql = `SELECT ${keySql} FROM ${table} WHERE ${keySql} >= ? ORDER BY ${keySql} LIMIT 1 OFFSET ${chunk - 1}`;
    return scalar(db)<[number], number>(sql).get(from);
  };
  return { pack, endOf };
}

/** Keeps the columns up to date, a chunk a transaction. */
export function columnPacker(db: Db, { chunk = CHUNK, mostChanges = MOST_CHANGES } = {}) {
  const { pack, endOf } = chunkWriter(db, chunk);
  const lasts = scalar(db)<[Source], number>('SELECT last FROM report_packed WHERE source = ?');
  const setLast = db.prepare('UPDATE report_packed SET last = ? WHERE source = ?');
  const drop = db.prepare('DELETE FROM report_columns WHERE source = ? AND first = ?');
  const changes = db.prepare<[Source], { n: number; least: number }>(`
    SELECT count(*) AS n, min(id) AS least FROM report_changes WHERE source = ?`);
  const settle = db.prepare('DELETE FROM report_changes WHERE source = ? AND id BETWEEN ? AND ?');
  const chunkAt = scalar(db)<[Source, number], number | null>(`
    SELECT max(first) FROM report_columns WHERE source = ? AND first <= ?`);
  const chunkAfter = scalar(db)<[Source, number], number | null>(`
    SELECT min(first) FROM report_columns WHERE source = ? AND first > ?`);

  /** False where less than a chunk of rows is not packed yet. */
  const packNew = (source: Source): boolean => {
    const from = (lasts.get(source) ?? -1) + 1;
    const end = endOf(source, from);
    if (end === undefined) return false;
    pack(source, from, end);
    setLast.run(end, source);
    return true;
  };
  const packAgain = (source: Source): boolean => {
    const { n, least } = changes.get(source) ?? { n: 0, least: 0 };
    if (n < mostChanges) return false;
    const first = chunkAt.get(source, least) ?? chunkAfter.get(source, least) ?? 0;
    const after = chunkAfter.get(source, first) ?? null;
    const [begin, last] = [Math.min(first, least), after === null ? (lasts.get(source) ?? -1) : after - 1];
    drop.run(source, first);
    // More than one where many rows came in between.
    for (let from = begin; from <= last; ) {
      const to = Math.min(endOf(source, from) ?? last, last);
      pack(source, from, to);
      from = to + 1;
    }
    settle.run(source, begin, last);
    return true;
  };
  return {
    /** Packs the next chunk; false when there was nothing left. */
    step: immediate(db, (sources: readonly Source[] = ALL): boolean => {
      const isPacked = sources.some(packNew) || sources.some(packAgain);
      if (isPacked) notePacked(db);

      return isPacked;
    }),
    /** Forgets what is packed: the next steps pack everything again from the tables. */
    clear: immediate(db, (): void => {
      db.exec('DELETE FROM report_columns; DELETE FROM report_changes; UPDATE report_packed SET last = -1');
      notePacked(db);
    }),
  };
}

/**
 * Notes rows that come in among those that are packed. Changes are noted by triggers; one for new rows would take a fortieth of the
 * time of a first sweep, which brings them before anything is packed.
 */
export function packedRows(db: Db) {
  const lasts = scalar(db)<[Source], number>('SELECT last FROM report_packed WHERE source = ?');
  const note = db.prepare('INSERT INTO report_changes VALUES (?, ?) ON CONFLICT DO NOTHING');
  const rowsOf = (source: Source) => {
    let last = -1;
    return {
      /** To be called when a transaction begins: another process may have packed more. */
      refresh(): void {
        last = lasts.get(source) ?? -1;
      },
      /** To be called with the post that a new row is, or is of. */
      added(post: number): void {
        if (post <= last) note.run(source, post);
      },
    };
  };
  return { posts: rowsOf('posts'), comments: rowsOf('comments') };
}

export type ColumnReader = ReturnType<typeof readerOf>;

const readers = new WeakMap<Db, ColumnReader>();

/**
 * The columns as they stand at this moment. What is packed is kept until it is packed again, which in a mirror of a million posts takes
 * 150 to 300 ms to read. A write adds what changed since, some thousand rows, to what is kept.
 */
export function columnReader(db: Db): ColumnReader {
  const reader = readers.get(db) ?? readerOf(db);
  readers.set(db, reader);
  return reader;
}

/** A column: what is packed of it, the rows that changed since, and the two as one. */
interface Column {
  packed: Numbers;
  changed: Numbers;
  more: Numbers;
  whole: Numbers;
}

/** Columns by source and name. */
type Columns = Map<string, Column>;

function readerOf(db: Db) {
  const version = dataVersion(db);
  let [packs, columns]: [string | undefined, Columns] = ['', new Map()];
  let current: { version: number; names: Set<string> } = { version: -1, names: new Set() };
  const refresh = (): void => {
    const now = version();
    if (current.version === now) return;
    current = { version: now, names: new Set() };
    const known = readMeta(db, PACKS);
    if (known !== packs) [packs, columns] = [known, new Map()];
    // What was worked out from a column (`keptWith`) may depend on other columns and tables: after a write each column is another object.
    for (const column of columns.values()) column.whole = column.whole.subarray();
  };
  return {
    /** To be called in a transaction: what it gives must not be written to. */
    read<S extends Source, C extends ColumnOf<S>>(source: S, names: readonly C[]): Packed<C> {
      refresh();
      const missing = names.filter((name) => !current.names.has(`${source} ${name}`));
      readColumns(db, source, missing, columns);
      for (const name of missing) current.names.add(`${source} ${name}`);
      const packed: Record<string, Numbers | number> = { rows: 0 };
      for (const name of names) {
        const numbers = columns.get(`${source} ${name}`)?.whole ?? NONE;
        packed[name] = numbers;
        packed.rows = numbers.length;
      }
      return packed as Packed<C>;
    },
  };
}

const TIMES: ReadonlySet<string> = new Set(['created', 'version', 'at']);

/** Which tables have other rows, or other sums of a column, than reports would add up. Of times the seconds: sums of more are not exact. */
export function wronglyPacked(db: Db): string[] {
  const isWrong = (source: Source): boolean => {
    const { table, columns } = sourceOf(source);
    const sums = Object.entries(columns).map(
      ([name, sql]) => `total(${TIMES.has(name) ? `unixepoch(${sql})` : sql})`,
    );
    const meant = db
      .prepare<[], number[]>(`SELECT count(*), ${sums.join(', ')} FROM ${table}`)
      .raw()
      .get();
    const read: Columns = new Map();
    readColumns(db, source, Object.keys(columns), read);
    const wholes = Object.keys(columns).map((name) => ({ name, ...read.get(`${source} ${name}`) }));
    const found = [
      wholes[0]?.whole?.length ?? 0,
      ...wholes.map(({ name, whole = NONE }) => sumOf(whole, TIMES.has(name))),
    ];
    return found.some((number, i) => number !== meant?.[i]);
  };
  return db.transaction(() => ALL.filter(isWrong))();
}

function sumOf(numbers: Numbers, isTime: boolean): number {
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i] ?? 0;
    sum += isTime ? Math.floor(number / 1000) : number;
  }
  return sum;
}

/** What is packed with every later change: rows of posts that changed are taken out, and read from their table. */
function readColumns(db: Db, source: Source, names: readonly string[], columns: Columns): void {
  if (names.length === 0) return;
  const { table, key, keySql, order, columns: known } = sourceOf(source);
  const read = (where: string): Cell[][] =>
    db
      .prepare<[], Cell[]>(`
        SELECT ${names.map((name) => known[name]).join(', ')} FROM ${table} WHERE ${keySql} ${where} ORDER BY ${order}`)
      .raw()
      .all();
  const changes = `SELECT id FROM report_changes WHERE source = '${source}'`;
  const changed = Float64Array.from(scalar(db)<[], number>(`${changes} ORDER BY id`).all());
  const rows = [
    ...(changed.length === 0 ? [] : read(`IN (${changes})`)),
    ...read(`> (SELECT last FROM report_packed WHERE source = '${source}')`),
  ];
  const packedOf = (name: string): Numbers =>
    columns.get(`${source} ${name}`)?.packed ?? joined(packedColumn(db, source, name));
  const replaced = changed.length === 0 ? [] : rangesOf(packedOf(key), changed);
  for (const [place, name] of names.entries()) {
    const before = columns.get(`${source} ${name}`);
    const more = narrowed(numbersOf(rows, place));
    if (before && isSame(before.changed, changed) && isSame(before.more, more)) continue;
    const packed = packedOf(name);
    const whole = changed.length + more.length === 0 ? packed : joined([packed], replaced, more);
    columns.set(`${source} ${name}`, { packed, changed, more, whole });
  }
}

function isSame(a: Numbers, b: Numbers): boolean {
  return a.length === b.length && (a as Uint8Array).every((number, i) => number === b[i]);
}

function packedColumn(db: Db, source: Source, name: string): Numbers[] {
  return db
    .prepare<[string, string], [number, Buffer]>(`
      SELECT rows, data FROM report_columns WHERE source = ? AND name = ? ORDER BY first`)
    .raw()
    .all(source, name)
    .map(([rows, data]) => numbersIn(data, rows));
}

type Range = readonly [from: number, to: number];

/** Where the rows of some keys stand; both are in order. */
function rangesOf(keys: Numbers, wanted: Float64Array): Range[] {
  let low = 0;
  return Array.from(wanted, (key) => {
    const from = firstAt(keys, key, low);
    low = firstAt(keys, key + 1, from);
    return [from, low];
  });
}

function firstAt(keys: Numbers, key: number, from: number): number {
  let [low, high] = [from, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? 0) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** All parts but what is in the ranges, and more behind them; in the narrowest form that all of them fit in. */
function joined(parts: readonly Numbers[], without: readonly Range[] = [], more: Numbers = NONE): Numbers {
  const width = Math.max(more.BYTES_PER_ELEMENT, ...parts.map((part) => part.BYTES_PER_ELEMENT));
  const packed = parts.reduce((sum, { length }) => sum + length, 0);
  const whole = arrayOf(width, packed + more.length);
  let end = 0;
  for (const part of parts) {
    whole.set(part, end);
    end += part.length;
  }
  end = withoutRanges(whole, end, without);
  whole.set(more, end);
  return whole.subarray(0, end + more.length);
}

const NONE = new Uint8Array(0);

/** Moves what stands behind each range to its place. */
function withoutRanges(whole: Numbers, rows: number, ranges: readonly Range[]): number {
  let end = ranges[0]?.[0] ?? rows;
  for (const [i, [, from]] of ranges.entries()) {
    const to = ranges[i + 1]?.[0] ?? rows;
    whole.copyWithin(end, from, to);
    end += to - from;
  }
  return end;
}

function arrayOf(width: number, rows: number): Numbers {
  if (width === 1) return new Uint8Array(rows);
  if (width === 2) return new Uint16Array(rows);
  return width === 4 ? new Int32Array(rows) : new Float64Array(rows);
}

/** Not as distances from the smallest, which would be narrower still: adding it to each again takes longer than reading more bytes. */
function narrowed(numbers: Float64Array): Numbers {
  let [least, most] = [0, 0];
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i] ?? 0;
    if (number < least) least = number;
    if (number > most) most = number;
  }
  const width = least < 0 || most >= 2 ** 16 ? 4 : most < 2 ** 8 ? 1 : 2;
  const narrow = arrayOf(least < -(2 ** 31) || most >= 2 ** 31 ? 8 : width, numbers.length);
  narrow.set(numbers);
  return narrow;
}

function numbersIn(data: Buffer, rows: number): Numbers {
  const width = rows === 0 ? 1 : data.length / rows;
  const { buffer, byteOffset } = data.byteOffset % width === 0 ? data : Buffer.from(data);
  if (width === 1) return new Uint8Array(buffer, byteOffset, rows);
  if (width === 2) return new Uint16Array(buffer, byteOffset, rows);
  return width === 4 ? new Int32Array(buffer, byteOffset, rows) : new Float64Array(buffer, byteOffset, rows);
}

function numbersOf(rows: readonly Cell[][], place: number): Float64Array {
  const numbers = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    const cell = rows[i]?.[place];
    numbers[i] = typeof cell === 'string' ? timeOf(cell) : (cell ?? 0);
  }
  return numbers;
}

let day = { text: '', ms: 0 };

/** Times of a chunk are often of the same day, and Date.parse takes ten times as long. */
function timeOf(text: string): number {
  const date = text.slice(0, 10);
  if (date !== day.text) day = { text: date, ms: Date.parse(date) };
  const two = (at: number): number => text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 528;
  const millis = text.charCodeAt(20) * 100 + text.charCodeAt(21) * 10 + text.charCodeAt(22) - 5328;
  return day.ms + ((two(11) * 60 + two(14)) * 60 + two(17)) * 1000 + millis;
}
