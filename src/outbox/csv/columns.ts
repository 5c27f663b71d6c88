import { AppError } from '../../base/errors.ts';
import { nearest } from '../../base/text.ts';
import { FIELDS, type Field, type MappedColumn, type ReadOptions } from './csv-file.ts';
import { ALIASES, plainName } from './header-names.ts';
import { dataColumns } from './result-columns.ts';

type Wishes = Pick<ReadOptions, 'map' | 'board'>;

export interface Columns {
  mapping: MappedColumn[];
  ignored: string[];
}

/** An e-mail column must be settled before a name column can be read as that person's name. */
const ORDER: readonly Field[] = ['title', 'content', 'email', 'full_name', 'board', 'key'];
const RANKS = ['exact', 'likely', 'possible'] as const;
type Rank = (typeof RANKS)[number];

/** Which column feeds which field: what was asked, then the field's own name, then what other tools call it. */
export function mapColumns(headers: readonly string[], wishes: Wishes): Columns {
  const names = dataNames(headers);
  const used = new Map<Field, MappedColumn>();
  for (const column of askedColumns(headers, wishes)) used.set(column.field, column);
  const taken = new Set([...used.values()].map(({ index }) => index));
  const isLeftOut = (field: Field): boolean =>
    wishes.map?.[field] === null || (field === 'board' && wishes.board !== undefined);
  for (const rank of RANKS) {
    for (const field of ORDER) {
      if (used.has(field) || isLeftOut(field)) continue;
      if (rank === 'possible' && field === 'full_name' && !used.has('email')) continue;
      const free = claimants(names, field, rank).filter((index) => !taken.has(index));
      const index = onlyColumn(field, free, headers);
      if (index === null) continue;
      taken.add(index);
      const how = rank === 'exact' ? 'exact' : 'alias';
      used.set(field, { field, header: headers[index] ?? '', index, how });
    }
  }
  requireColumns(headers, used, wishes);
  const mapping = FIELDS.flatMap((field) => used.get(field) ?? []);
  return { mapping, ignored: unused(headers, taken) };
}

/** How many fields the headers seem to have: the right delimiter is the one that makes sense of most. */
export function countClaims(headers: readonly string[], map: ReadOptions['map']): number {
  const names = dataNames(headers);
  const asked = Object.values(map ?? {}).filter((header) => names.includes(plainName(header ?? '')));
  const claimed = FIELDS.filter((field) => RANKS.some((rank) => claimants(names, field, rank).length > 0));
  return asked.length + claimed.length;
}

/** The result columns of our own files are no candidates. */
function dataNames(headers: readonly string[]): string[] {
  return headers.slice(0, dataColumns(headers)).map(plainName);
}

function claimants(names: readonly string[], field: Field, rank: Rank): number[] {
  const claims = rank === 'exact' ? [plainName(field)] : ALIASES[field][rank];
  return names.flatMap((name, index) => (claims.includes(name) ? [index] : []));
}

function askedColumns(headers: readonly string[], { map = {}, board }: Wishes): MappedColumn[] {
  return Object.entries(map).flatMap(([name, header]) => {
    if (header === undefined || header === null) return [];
    const field = FIELDS.find((candidate) => plainName(candidate) === plainName(name));
    if (!field)
      throw unknownName(`--map ${name}=${header}: there is no field`, name, FIELDS, 'The fields are');
    if (field === 'board' && board !== undefined) {
      throw new AppError('usage', '--board and --map board=... contradict each other: give one of them');
    }
    const index = askedColumn(headers, header, field);
    return [{ field, header: headers[index] ?? '', index, how: 'asked' as const }];
  });
}

function askedColumn(headers: readonly string[], asked: string, field: Field): number {
  const exact = headers.flatMap((header, i) => (header === asked ? [i] : []));
  const alike = headers.flatMap((header, i) => (plainName(header) === plainName(asked) ? [i] : []));
  const index = onlyColumn(field, exact.length > 0 ? exact : alike, headers);
  if (index !== null) return index;
  throw unknownName(
    `--map ${field}=${asked}: the file has no column`,
    asked,
    headers,
    'The columns of the file are',
  );
}

function unknownName(start: string, name: string, known: readonly string[], list: string): AppError {
  const near = nearest(name, known);
  const meant = near === null ? '' : `; did you mean "${near}"?`;
  return new AppError('usage', `${start} "${name}"${meant}`, { hint: `${list} ${quoted(known)}.` });
}

/** One column, none, or a refusal: of two that could both be meant neither is guessed. */
function onlyColumn(field: Field, found: readonly number[], headers: readonly string[]): number | null {
  const [first, second] = found;
  if (first === undefined || second === undefined) return first ?? null;
  const names = found.map((index) => headers[index] ?? '');
  const positions = found.map((index) => index + 1).join(' and ');
  const same = new Set(names.map(plainName)).size === 1;
  throw new AppError(
    'usage',
    same
      ? `columns ${positions} have the same name, ${quoted(names.slice(0, 1))}, and could both be the ${field}`
      : `columns ${positions}, ${quoted(names)}, could both be the ${field}`,
    {
      hint: same
        ? 'Rename one of them in the file.'
        : `Say which one it is: --map ${field}=${quoted(names.slice(0, 1))}`,
    },
  );
}

function requireColumns(headers: readonly string[], used: Map<Field, MappedColumn>, { board }: Wishes): void {
  const found = `The columns of the file are ${quoted(headers)}.`;
  if (!used.has('title')) {
    throw new AppError('usage', 'the file has no title column', {
      hint: `${found} Name the right one: --map title=Header`,
    });
  }
  if (board !== undefined && board.trim() === '') throw new AppError('usage', '--board is blank');
  if (board === undefined && !used.has('board')) {
    throw new AppError('usage', 'the file has no board column, and no board was given for all rows', {
      hint: `${found} Give one board for all rows, --board SLUG, or name the column: --map board=Header`,
    });
  }
}

function unused(headers: readonly string[], taken: Set<number>): string[] {
  return headers
    .slice(0, dataColumns(headers))
    .flatMap((header, i) => (taken.has(i) ? [] : [header.trim() === '' ? `(column ${i + 1})` : header]));
}

function quoted(names: readonly string[]): string {
  const shown = names.slice(0, 30).map((name) => `"${name}"`);
  if (names.length > shown.length) shown.push(`and ${names.length - shown.length} more`);
  return shown.join(', ');
}
