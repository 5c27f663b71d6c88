import type { Db } from '../db.ts';
import { immediate, keptUntilWritten, scalar } from '../sql.ts';

/** A column of a table in the form that reports add up: one number a row. */
export type Numbers = Float64Array | Int32Array | Uint8Array;

type Kind = 'number' | 'time' | 'flag';
type Columns = Readonly<Record<string, readonly [sql: string, kind: Kind]>>;

/** The key stands first: rows are packed in its order. Times are milliseconds since the epoch, flags 0 or 1. */
const SOURCES = {
  posts: {
    table: 'posts',
    columns: {
      id: ['id', 'number'],
      created: ['created', 'time'],
      board: ['board_id', 'number'],
      status: ['status_id', 'number'],
      votes: ['votes_count', 'number'],
      comments: ['comments_count', 'number'],
      creator: ['creator_id', 'number'],
      version: ['version_at', 'time'],
      gone: ['deleted_at IS NOT NULL', 'flag'],
    },
  },
  comments: {
    table: 'comments',
    columns: {
      id: ['id', 'number'],
      post: ['post_id', 'number'],
      created: ['created', 'time'],
      creator: ['creator_id', 'number'],
      gone: ['deleted_at IS NOT NULL', 'flag'],
      /** What the view team_replies asks of the comment itself; the rest is that its author is of the team. */
      reply: ["kind = 'reply' AND internal = 0", 'flag'],
    },
  },
  versions: {
    table: 'post_versions',
    columns: {
      n: ['n', 'number'],
      post: ['post_id', 'number'],
      at: ['observed_at', 'time'],
      status: ['status_id', 'number'],
      votes: ['votes_count', 'number'],
      board: ['board_id', 'number'],
      gone: ['deleted', 'flag'],
    },
  },
} as const satisfies Record<string, { table: string; columns: Columns }>;

type Source = keyof typeof SOURCES;
export type ColumnOf<S extends Source> = keyof (typeof SOURCES)[S]['columns'] & string;
/** The columns that were asked for, each with a number for every row. Versions are in the order in which they were superseded. */
export type Packed<C extends string> = { rows: number } & Record<C, Numbers>;

/** Rows in one value: so few that the rest, which is read row by row, is quick, and so many that the values are few. */
const CHUNK = 8192;
/** Packed rows that may have changed before the first of them are packed again: as many are read one by one in about 30 ms. */
const MOST_CHANGES = 8192;

const ALL = Object.keys(SOURCES) as Source[];

type Cell = string | number;

function sourceOf(source: Source): { table: string; key: string; columns: Columns } {
  const { table, columns } = SOURCES[source];
  return { table, columns, key: source === 'versions' ? 'n' : 'id' };
}

/** Keeps the columns up to date, a chunk a transaction. */
export function columnPacker(db: Db, { chunk = CHUNK, mostChanges = MOST_CHANGES } = {}) {
  const lasts = scalar(db)<[Source], number>('SELECT last FROM report_packed WHERE source = ?');
  const setLast = db.prepare('UPDATE report_packed SET last = ? WHERE source = ?');
  const write = db.prepare(`
    INSERT INTO report_columns (source, name, first, rows, data) VALUES (?, ?, ?, ?, ?)`);
  const drop = db.prepare('DELETE FROM report_columns WHERE source = ? AND first = ?');
  const changes = db.prepare<[Source], { n: number; least: number }>(`
    SELECT count(*) AS n, min(id) AS least FROM report_changes WHERE source = ?`);
  const settle = db.prepare('DELETE FROM report_changes WHERE source = ? AND id BETWEEN ? AND ?');
  const chunkAt = scalar(db)<[Source, number], number | null>(`
    SELECT max(first) FROM report_columns WHERE source = ? AND first <= ?`);
  const chunkAfter = scalar(db)<[Source, number], number | null>(`
    SELECT min(first) FROM report_columns WHERE source = ? AND first > ?`);

  const pack = (source: Source, from: number, to: number): void => {
    const { table, key, columns } = sourceOf(source);
    const names = Object.values(columns).map(([sql]) => sql);
    const rows = db
      .prepare<[number, number], Cell[]>(`
        SELECT ${names.join(', ')} FROM ${table} WHERE ${key} BETWEEN ? AND ? ORDER BY ${key}`)
      .raw()
      .all(from, to);
    if (rows.length === 0) return;
    for (const [place, [name, [, kind]]] of Object.entries(columns).entries())
      write.run(source, name, Number(rows[0]?.[0]), rows.length, bytesOf(numbersOf(rows, place, kind)));
  };
  /** The last key of the next chunk from a key on; undefined where fewer rows are left. */
  const endOf = (source: Source, from: number): number | undefined => {
    const { table, key } = sourceOf(source);
    const sql = `SELECT ${key} FROM ${table} WHERE ${key} >= ? ORDER BY ${key} LIMIT 1 OFFSET ${chunk - 1}`;
    return scalar(db)<[number], number>(sql).get(from);
  };
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
    step: immediate(
      db,
      (sources: readonly Source[] = ALL): boolean => sources.some(packNew) || sources.some(packAgain),
    ),
    /** Forgets what is packed: the next steps pack everything anew from the tables. */
    clear: immediate(db, (): void => {
      db.exec('DELETE FROM report_columns; DELETE FROM report_changes; UPDATE report_packed SET last = -1');
    }),
  };
}

export type ColumnReader = ReturnType<typeof columnReader>;

/** The columns as they stand at this moment. They are kept until the mirror changes: one page asks for the same ones several times. */
export function columnReader(db: Db) {
  const columns = keptUntilWritten(db, () => new Map<string, Numbers>());
  return {
    /** To be called in a transaction: what it gives must not be written to. */
    read<S extends Source, C extends ColumnOf<S>>(source: S, names: readonly C[]): Packed<C> {
      const kept = columns();
      const missing = names.filter((name) => !kept.has(`${source} ${name}`));
      for (const [name, numbers] of readColumns(db, source, missing)) kept.set(`${source} ${name}`, numbers);
      const packed: Record<string, Numbers | number> = { rows: 0 };
      for (const name of names) {
        const numbers = kept.get(`${source} ${name}`) ?? new Uint8Array(0);
        packed[name] = numbers;
        packed.rows = numbers.length;
      }
      return packed as Packed<C>;
    },
  };
}

/** What is packed with every later change. */
function readColumns(db: Db, source: Source, names: readonly string[]): [name: string, column: Numbers][] {
  if (names.length === 0) return [];
  const { table, key, columns } = sourceOf(source);
  const read = (rest: string): Cell[][] =>
    db
      .prepare<[], Cell[]>(`SELECT ${[key, ...names.map((name) => columns[name]?.[0])].join(', ')} ${rest}`)
      .raw()
      .all();
  const last = `(SELECT last FROM report_packed WHERE source = '${source}')`;
  const tail = read(`FROM ${table} WHERE ${key} > ${last} ORDER BY ${key}`);
  const changed =
    source === 'versions'
      ? []
      : read(`FROM report_changes JOIN ${table} USING (id) WHERE report_changes.source = '${source}'`);
  const places = changed.length === 0 ? [] : placesOf(packedColumn(db, source, key), changed);
  const added = [...changed.filter((_, i) => places[i] === -1), ...tail];
  return names.map((name, i) => {
    const kind = columns[name]?.[1] ?? 'number';
    const patch = numbersOf(changed, i + 1, kind);
    const whole = joined([...packedColumn(db, source, name), numbersOf(added, i + 1, kind)], patch);
    for (const [row, place] of places.entries()) if (place >= 0) whole[place] = patch[row] ?? 0;
    return [name, whole];
  });
}

function packedColumn(db: Db, source: Source, name: string): Numbers[] {
  return db
    .prepare<[string, string], [number, Buffer]>(`
      SELECT rows, data FROM report_columns WHERE source = ? AND name = ? ORDER BY first`)
    .raw()
    .all(source, name)
    .map(([rows, data]) => numbersIn(data, rows));
}

/** Where the changed rows stand among the packed keys, -1 for one that is new between them. */
function placesOf(keys: readonly Numbers[], changed: readonly Cell[][]): number[] {
  const whole = joined(keys);
  return changed.map(([key]) => {
    let [low, high] = [0, whole.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((whole[middle] ?? 0) < Number(key)) low = middle + 1;
      else high = middle;
    }
    return whole[low] === key ? low : -1;
  });
}

/** In the narrowest form that all of them fit in. */
function joined(parts: readonly Numbers[], beside?: Numbers): Numbers {
  const all = beside ? [...parts, beside] : parts;
  const width = Math.max(1, ...all.filter(({ length }) => length > 0).map((part) => part.BYTES_PER_ELEMENT));
  const rows = parts.reduce((sum, { length }) => sum + length, 0);
  const whole = arrayOf(width, rows);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function arrayOf(width: number, rows: number): Numbers {
  if (width === 1) return new Uint8Array(rows);
  return width === 4 ? new Int32Array(rows) : new Float64Array(rows);
}

function numbersOf(rows: readonly Cell[][], place: number, kind: Kind): Numbers {
  const numbers = new Float64Array(rows.length);
  let isSmall = kind !== 'time';
  for (let i = 0; i < rows.length; i++) {
    const cell = rows[i]?.[place];
    const value = typeof cell === 'string' ? timeOf(cell) : (cell ?? 0);
    numbers[i] = value;
    if (value !== (value | 0)) isSmall = false;
  }
  if (!isSmall) return numbers;
  return kind === 'flag' ? Uint8Array.from(numbers) : Int32Array.from(numbers);
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

function bytesOf({ buffer, byteOffset, byteLength }: Numbers): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

function numbersIn(data: Buffer, rows: number): Numbers {
  const width = rows === 0 ? 1 : data.length / rows;
  const { buffer, byteOffset } = data.byteOffset % width === 0 ? data : Buffer.from(data);
  if (width === 1) return new Uint8Array(buffer, byteOffset, rows);
  return width === 4 ? new Int32Array(buffer, byteOffset, rows) : new Float64Array(buffer, byteOffset, rows);
}
