import { AppError } from '../base/errors.ts';
import { CsvParser, DELIMITERS, type Delimiter, faultText } from '../text/csv.ts';
import { emailKey } from '../text/email.ts';
import { type ReadNumber, readNumbers } from '../text/numbers.ts';
import { counted, nearest } from '../text/text.ts';
import type { Segments } from './report.ts';
import type { ReportReader } from './store.ts';

const EMAIL_NAMES = ['email', 'e-mail', 'mail', 'email address', 'e-mail address', 'customer email'];
/** A list of customers has short cells. */
const LIMITS = { fieldBytes: 1024 * 1024, rowBytes: 8 * 1024 * 1024 };

export interface CustomerColumns {
  /** The column that customers are grouped by; the first one beside the e-mail unless given. */
  by?: string | undefined;
  sum?: string | undefined;
}

/** Customers from the text of a CSV file: an e-mail column, and any others. Throws AppError('usage') for the file as a whole. */
export function readSegments(text: string, { by, sum }: CustomerColumns): Segments {
  const [headers = [], ...records] = recordsOf(text);
  const names = headers.map((header) => header.trim());
  const email = names.findIndex((name) => EMAIL_NAMES.includes(name.toLowerCase().replaceAll('_', ' ')));
  if (email < 0)
    throw new AppError('usage', 'the customers file has no e-mail column', {
      hint: `Call one of its columns "email". It has: ${names.join(', ')}.`,
    });
  const group = by === undefined ? names.findIndex((_, i) => i !== email) : columnOf(names, 'by', by);
  if (group < 0)
    throw new AppError('usage', 'the customers file has no column besides the e-mail', {
      hint: 'Add one to group by, such as company or plan.',
    });
  const amount = sum === undefined ? null : columnOf(names, 'sum', sum);
  const amounts = amount === null ? null : amountsOf(records, amount, names[amount] ?? '');
  const customers = records.map((cells, i) => ({
    email: (cells[email] ?? '').trim(),
    group: (cells[group] ?? '').trim() || null,
    amount: amounts?.values[i] ?? null,
  }));
  const { kept, notes } = oncePerEmail(customers);
  return {
    by: names[group] ?? '',
    sum: amount === null ? null : (names[amount] ?? ''),
    customers: kept,
    notes: [...notes, ...(amounts?.notes ?? [])],
  };
}

function recordsOf(text: string): string[][] {
  const parser = new CsvParser(delimiterOf(text.slice(0, text.search(/[\r\n]|$/))), LIMITS);
  parser.push(Buffer.from(text.replace(/^\uFEFF/, '')));
  const records = [...parser.records(Number.POSITIVE_INFINITY), ...parser.finish()];
  for (const { line, fault } of records)
    if (fault)
      throw new AppError(
        'usage',
        `the customers file cannot be read as CSV: line ${line} ${faultText(fault, LIMITS)}`,
      );
  if (records.length > 0) return records.map(({ cells }) => cells);
  throw new AppError('usage', 'the customers file is empty', {
    hint: 'It needs a header line: email, and then any columns such as company, plan, mrr.',
  });
}

/** The one that takes the header apart into the most names. */
function delimiterOf(header: string): Delimiter {
  const parts = (delimiter: Delimiter): number => header.split(delimiter).length;
  return DELIMITERS.reduce<Delimiter>((best, next) => (parts(next) > parts(best) ? next : best), ',');
}

function columnOf(names: readonly string[], flag: string, wanted: string): number {
  const found = names.findIndex((name) => name.toLowerCase() === wanted.trim().toLowerCase());
  if (found >= 0) return found;
  const close = nearest(wanted, names);
  throw new AppError('usage', `--${flag}: the customers file has no column "${wanted}"`, {
    hint: `${close === null ? '' : `Did you mean ${close}? `}Its columns are ${names.join(', ')}.`,
  });
}

/** The amounts of a column. A cell that is no number counts as none, and the notes say where it is. */
function amountsOf(records: readonly string[][], place: number, column: string) {
  const texts = records.map((cells) => cells[place] ?? '');
  const read = readNumbers(texts);
  const placesWhere = (isOne: (cell: ReadNumber) => boolean): number[] =>
    read.flatMap((cell, i) => (isOne(cell) ? [i] : []));
  const listed = (places: readonly number[]): string =>
    places
      .slice(0, MOST_NAMED)
      .map((i) => `"${texts[i]?.trim()}" in row ${i + 2}`)
      .join(', ') + (places.length > MOST_NAMED ? ', …' : '');
  const unread = placesWhere(({ kind }) => kind === 'unread');
  const guessed = placesWhere((cell) => cell.kind === 'number' && cell.isGuess);
  const notes = [];
  if (unread.length > 0)
    notes.push(
      `${counted(unread.length, 'cell')} of ${column} without a number: ${listed(unread)}. No amount is counted there.`,
    );
  if (guessed.length > 0)
    notes.push(
      `In ${column} the sign before three digits was read as thousands: ${listed(guessed)}. Write two decimals if it has decimals.`,
    );
  return { values: read.map((cell) => (cell.kind === 'number' ? cell.value : null)), notes };
}

const MOST_NAMED = 3;

interface Kept {
  kept: Segments['customers'];
  notes: string[];
}

/** The first row of an e-mail counts, however it is spelt. */
function oncePerEmail(customers: Segments['customers']): Kept {
  const first = new Map<string, Segments['customers'][number]>();
  let nameless = 0;
  for (const customer of customers) {
    const key = emailKey(customer.email);
    if (key === '') nameless++;
    else if (!first.has(key)) first.set(key, customer);
  }
  const repeated = customers.length - nameless - first.size;
  const notes: string[] = [];
  if (repeated > 0)
    notes.push(
      `${rows(repeated)} of the file ${repeated === 1 ? 'repeats' : 'repeat'} an e-mail: the first of each counts.`,
    );
  if (nameless > 0) notes.push(`${rows(nameless)} of the file ${nameless === 1 ? 'has' : 'have'} no e-mail.`);
  return { kept: [...first.values()], notes };
}

function rows(n: number): string {
  return n === 1 ? '1 row' : `${n.toLocaleString('en')} rows`;
}

/** A customer of the file with the users of the mirror who have that e-mail; one person can stand there more than once. */
export type FoundCustomer = Omit<Segments['customers'][number], 'email'> & { users: number[] };

/** How well the file and the mirror know each other. */
export async function findCustomers(
  reader: Pick<ReportReader, 'usersWith'>,
  segments: Segments,
): Promise<{ customers: FoundCustomer[]; notes: string[] }> {
  const customers: FoundCustomer[] = [];
  for (const { email, group, amount } of segments.customers)
    customers.push({ group, amount, users: await reader.usersWith(email) });
  const found = customers.filter(({ users }) => users.length > 0).length;
  const all = customers.length;
  const matched = `${found.toLocaleString('en')} of the ${all.toLocaleString('en')} customers of the file are in the mirror, found by e-mail.`;
  return { customers, notes: [matched, ...segments.notes] };
}
