import { AppError } from '../base/errors.ts';
import { CsvParser, type CsvRecord, DELIMITERS, type Delimiter, faultText } from '../text/csv.ts';
import { emailKey, isAddress } from '../text/email.ts';
import { readNumbers } from '../text/numbers.ts';
import { nearest } from '../text/text.ts';

/** One customer of a file: an address, or every address of a domain. */
export interface Customer {
  /** Folded; exactly one of the two. */
  email: string | null;
  domain: string | null;
  company: string | null;
  plan: string | null;
  value: number | null;
  /** Further columns by their names; without empty cells. */
  extra: Record<string, string>;
}

/** A cell or a row that was left out, and where it is. */
interface UnreadCell {
  line: number;
  column: string | null;
  why: string;
  /** It was read, and a person should look at it. */
  isGuess?: true;
}

export interface CustomerFile {
  customers: Customer[];
  /** The columns as the file calls them; null where it has none of that kind. */
  columns: Record<Role, string | null> & { extra: string[] };
  unread: UnreadCell[];
  notes: string[];
}

export const ROLES = ['email', 'domain', 'company', 'plan', 'value'] as const;
export type Role = (typeof ROLES)[number];

/** Names of columns by what they hold. A flag such as `--value "Annual fee"` names any other. */
const NAMES: Record<Role, readonly string[]> = {
  email: ['email', 'mail', 'emailaddress', 'customeremail', 'contactemail', 'useremail'],
  domain: ['domain', 'website', 'emaildomain', 'companydomain'],
  company: ['company', 'companyname', 'account', 'accountname', 'organisation', 'organization', 'customer'],
  plan: ['plan', 'tier', 'subscription', 'package', 'segment'],
  value: ['mrr', 'arr', 'value', 'revenue', 'amount'],
};

/** A list of customers has short cells. */
const LIMITS = { fieldBytes: 1024 * 1024, rowBytes: 8 * 1024 * 1024 };

/** The customers of a CSV text. A bad cell or row is left out and told; only a file that is none throws AppError('usage'). */
export function readCustomers(text: string, chosen: Partial<Record<Role, string>> = {}): CustomerFile {
  const [head, ...records] = recordsOf(text);
  const names = (head?.cells ?? []).map((name) => name.trim());
  const places = placesOf(names, chosen);
  const unread: UnreadCell[] = [];
  const good = records.filter((record) => isReadable(record, unread));
  const values = valuesOf(good, places.value, names, unread);
  const extra = names
    .map((name, i) => ({ name, i }))
    .filter(({ name, i }) => name !== '' && !Object.values(places).includes(i));
  const customers = good.flatMap(({ cells, line }, i) => {
    const cell = (role: Role): string => (places[role] === null ? '' : (cells[places[role]] ?? '').trim());
    const key = keyOf(cell('email'), cell('domain'));
    if (key === null) unread.push({ line, column: null, why: 'the row has neither an e-mail nor a domain' });
    if (key === null) return [];
    const more = extra
      .map(({ name, i }) => [name, (cells[i] ?? '').trim()] as const)
      .filter(([, value]) => value !== '');
    const [company, plan, value] = [cell('company') || null, cell('plan') || null, values[i] ?? null];
    return [{ ...key, company, plan, value, extra: Object.fromEntries(more) }];
  });
  const kept = oncePerKey(customers);
  const columns = Object.fromEntries(
    ROLES.map((role) => [role, places[role] === null ? null : (names[places[role]] ?? null)]),
  );
  return {
    customers: kept,
    columns: { ...(columns as Record<Role, string | null>), extra: extra.map(({ name }) => name) },
    unread: unread.sort((a, b) => a.line - b.line),
    notes: repeatedNote(customers.length - kept.length),
  };
}

function recordsOf(text: string): CsvRecord[] {
  const parser = new CsvParser(delimiterOf(text.slice(0, text.search(/[\r\n]|$/))), LIMITS);
  parser.push(Buffer.from(text.replace(/^\uFEFF/, '')));
  const records = [...parser.records(Number.POSITIVE_INFINITY), ...parser.finish()];
  if (records.length > 0) return records;
  throw new AppError('usage', 'the customers file is empty', {
    hint: 'It needs a header line: email or domain, and then columns such as company, plan, mrr.',
  });
}

/** The one that takes the header apart into the most names. */
function delimiterOf(header: string): Delimiter {
  const parts = (delimiter: Delimiter): number => header.split(delimiter).length;
  return DELIMITERS.reduce<Delimiter>((best, next) => (parts(next) > parts(best) ? next : best), ',');
}

function isReadable({ line, cells, fault }: CsvRecord, unread: UnreadCell[]): boolean {
  if (fault) unread.push({ line, column: null, why: `the row ${faultText(fault, LIMITS)}` });
  return fault === null && cells.some((cell) => cell.trim() !== '');
}

function placesOf(
  names: readonly string[],
  chosen: Partial<Record<Role, string>>,
): Record<Role, number | null> {
  const place = (role: Role): number | null => {
    const wanted = chosen[role];
    if (wanted !== undefined) return columnNamed(names, role, wanted);
    const found = names.findIndex((name) => NAMES[role].includes(plain(name)));
    return found < 0 ? null : found;
  };
  const places = Object.fromEntries(ROLES.map((role) => [role, place(role)])) as Record<Role, number | null>;
  if (places.email !== null || places.domain !== null) return places;
  throw new AppError('usage', 'the customers file has no column with e-mails or domains', {
    hint: `Call one "email" or "domain", or name it with --email COLUMN. It has: ${names.join(', ')}.`,
  });
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

function columnNamed(names: readonly string[], flag: string, wanted: string): number {
  const found = names.findIndex((name) => plain(name) === plain(wanted));
  if (found >= 0) return found;
  const close = nearest(wanted, names);
  throw new AppError('usage', `--${flag}: the customers file has no column "${wanted}"`, {
    hint: `${close === null ? '' : `Did you mean ${close}? `}Its columns are ${names.join(', ')}.`,
  });
}

/** The numbers of the value column, in the order of the records. */
function valuesOf(
  records: readonly CsvRecord[],
  place: number | null,
  names: readonly string[],
  unread: UnreadCell[],
): (number | null)[] {
  if (place === null) return [];
  const column = names[place] ?? '';
  return readNumbers(records.map(({ cells }) => cells[place] ?? '')).map((read, i) => {
    const { line = 0, cells = [] } = records[i] ?? {};
    const shown = (cells[place] ?? '').trim().slice(0, 40);
    if (read.kind === 'unread') unread.push({ line, column, why: `"${shown}" is no number` });
    if (read.kind !== 'number') return null;
    if (read.isGuess)
      unread.push({ line, column, why: `"${shown}" was read as ${read.value}`, isGuess: true });
    return read.value;
  });
}

/** An address decides before a domain. A cell for addresses may hold `@example.com`, and one for domains a web address. */
function keyOf(email: string, domain: string): Pick<Customer, 'email' | 'domain'> | null {
  if (isAddress(email)) return { email: emailKey(email), domain: null };
  const host = [email, domain].map(hostIn).find((found) => found !== null) ?? null;
  return host === null ? null : { email: null, domain: host };
}

function hostIn(cell: string): string | null {
  const [, host = ''] =
    /^(?:https?:\/\/)?@?(?:www\.)?([^\s@/:?#]+\.[^\s@/:?#]+)(?:[/:?#].*)?$/i.exec(cell.trim()) ?? [];
  return host === '' ? null : emailKey(host);
}

/** The first row of an address or a domain counts. */
function oncePerKey(customers: readonly Customer[]): Customer[] {
  const first = new Map<string, Customer>();
  for (const customer of customers) {
    const key = customer.email ?? `@${customer.domain}`;
    if (!first.has(key)) first.set(key, customer);
  }
  return [...first.values()];
}

function repeatedNote(repeated: number): string[] {
  if (repeated === 0) return [];
  const rows = repeated === 1 ? '1 row repeats' : `${repeated.toLocaleString('en')} rows repeat`;
  return [`${rows} an e-mail or a domain: the first row of each counts.`];
}
