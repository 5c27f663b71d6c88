import { CsvParser, DELIMITERS, type Delimiter, faultText } from '../base/csv.ts';
import { emailKey } from '../base/email.ts';
import { AppError } from '../base/errors.ts';
import { nearest } from '../base/text.ts';
import type { ReportReader } from '../store/reports.ts';
import type { Segments } from './report.ts';

const EMAIL_NAMES = ['email', 'e-mail', 'mail', 'email address', 'e-mail address', 'customer email'];
/** A list of customers has short cells. */
const LIMITS = { fieldBytes: 1024 * 1024, rowBytes: 8 * 1024 * 1024 };

export interface SegmentChoice {
  /** The column that customers are grouped by; the first one beside the e-mail unless given. */
  by?: string | undefined;
  /** The column of numbers that is added up. */
  sum?: string | undefined;
}

/** Customers from the text of a CSV file: an e-mail column, and any others. Throws AppError('usage') for the file as a whole. */
export function readSegments(text: string, { by, sum }: SegmentChoice): Segments {
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
  const customers = records.map((cells, i) => ({
    email: (cells[email] ?? '').trim(),
    group: (cells[group] ?? '').trim() || null,
    amount: amount === null ? null : amountOf(cells[amount] ?? '', i + 2, names[amount] ?? ''),
  }));
  const { kept, notes } = oncePerEmail(customers);
  return {
    by: names[group] ?? '',
    sum: amount === null ? null : (names[amount] ?? ''),
    customers: kept,
    notes,
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

/** `1,200.50`, `€ 99`, `1200`; an empty cell is no amount. */
function amountOf(cell: string, row: number, column: string): number | null {
  const digits = cell.replace(/[\s\p{Sc}']/gu, '').replace(/,(?=\d{3}(\D|$))/g, '');
  if (digits === '') return null;
  if (/^-?\d+(\.\d+)?$/.test(digits)) return Number(digits);
  const where = `row ${row} of the customers file has "${cell.trim()}" in ${column}`;
  throw new AppError('usage', `${where}: that is no number`, {
    hint: 'Write amounts with a dot for decimals, such as 1200.50.',
  });
}

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
