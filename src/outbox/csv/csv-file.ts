/** The words of CSV reading: what a file says, and what became of each of its rows. */

export const FIELDS = ['board', 'title', 'content', 'email', 'full_name', 'key'] as const;
export type Field = (typeof FIELDS)[number];

export type Delimiter = ',' | ';' | '\t';
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

export interface ReadOptions {
  /**
   * Field to header, as the person typed it; both sides are checked here, so any text may come in. Null leaves the field out, also
   * where a column of the file could be it.
   */
  map?: Readonly<Record<string, string | null | undefined>> | undefined;
  /** The board of every row; a board column in the file is then ignored. */
  board?: string | undefined;
  /** The largest field, counted as it is written in the file once that is UTF-8. */
  maxFieldBytes?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called with the number of bytes of the source read so far. */
  onProgress?: ((bytesRead: number) => void) | undefined;
}

export interface MappedColumn {
  field: Field;
  header: string;
  index: number;
  how: 'exact' | 'alias' | 'asked';
}

export interface CsvPost {
  board: string;
  title: string;
  content: string;
  email: string | null;
  full_name: string | null;
}

export interface AcceptedRow {
  ok: true;
  /** The physical line on which the record starts; the first line of the file is 1. */
  line: number;
  cells: string[];
  post: CsvPost;
  key: string | null;
  /** What the person should know though the row is fine. */
  notes: string[];
  /** What an earlier import of this row came to, when the file is one of our own results files. */
  previous?: { state: string; post_id: string };
}

export interface RefusedRow {
  ok: false;
  line: number;
  /** As good as they could be read; empty when the row was too large to keep. */
  cells: string[];
  reason: string;
}

export type CsvRow = AcceptedRow | RefusedRow;

export interface CsvFile {
  encoding: Encoding;
  bom: boolean;
  delimiter: Delimiter;
  headers: string[];
  mapping: MappedColumn[];
  ignored: string[];
  /** Can be walked once; leaving the walk early closes the source. */
  rows: AsyncIterable<CsvRow[]>;
}
