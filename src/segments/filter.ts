import { AppError } from '../base/errors.ts';
import type { Db } from '../db/open.ts';
import { scalar } from '../db/sql.ts';
import { caseFolded } from '../text/email.ts';
import { nearest } from '../text/text.ts';

/** Which customers are meant, such as `plan=Pro` or `value>=1000`. The words of the file are matched as the file has them. */
export interface SegmentChoice {
  column: string;
  operator: Operator;
  value: string | number;
}

const OPERATORS = ['>=', '<=', '>', '<', '='] as const;
type Operator = (typeof OPERATORS)[number];

/** Columns of the table; any other name is one of the file's further columns. */
const COLUMNS = ['plan', 'company', 'email', 'domain', 'value'] as const;
type Column = (typeof COLUMNS)[number];

const isColumn = (name: string): name is Column => (COLUMNS as readonly string[]).includes(name);

/** Rows of the table `segments`, called s, that are chosen. */
export function segmentCondition({ column, operator }: SegmentChoice): string {
  if (column === 'value') return `s.value ${operator} $segment`;
  return `${isColumn(column) ? `s.${column}` : 's.extra ->> $segmentColumn'} = $segment`;
}

export function segmentBound({ column, value }: SegmentChoice): Record<string, string | number> {
  return isColumn(column) ? { segment: value } : { segment: value, segmentColumn: `$."${column}"` };
}

/** Reads `plan=Pro`, `Pro` (a plan), `company=Acme` or `value>=1000` against what the mirror holds. */
export function segmentReader(db: Db): (text: string) => SegmentChoice {
  const count = scalar(db)<[], number>('SELECT count(*) FROM segments');
  const columnOf = segmentColumns(db);
  return (text) => {
    if (count.get() === 0)
      throw new AppError('usage', 'no customers were imported yet', {
        hint: 'Run "feedback-mirror segments import customers.csv" first.',
      });
    const { name, operator, value } = partsOf(text);
    const { column, isOwn } = columnOf(name);
    if (column === 'value') return { column, operator, value: numberIn(value) };
    if (operator !== '=') throw new AppError('usage', `"${text}": ${operator} compares the value only`);
    const known = isOwn
      ? scalar(db)<[], string>(
          `SELECT DISTINCT ${column} FROM segments WHERE ${column} IS NOT NULL ORDER BY 1`,
        ).all()
      : scalar(db)<[string], string>(
          'SELECT DISTINCT v FROM (SELECT extra ->> ? AS v FROM segments) WHERE v IS NOT NULL ORDER BY 1',
        ).all(`$."${column}"`);
    return { column, operator, value: knownValue(column, value, known) };
  };
}

/** The column that a person means: one of the table's, or one of the file's further columns. */
export function segmentColumns(db: Db): (wanted: string) => { column: string; isOwn: boolean } {
  const names = scalar(db)<[], string>(
    'SELECT DISTINCT j.key FROM segments s JOIN json_each(s.extra) j ORDER BY 1',
  );
  const valueName = scalar(db)<[], string>(
    'SELECT value_name FROM segments WHERE value_name IS NOT NULL LIMIT 1',
  );
  return (wanted) => {
    const column = columnNamed(wanted, valueName.get() ?? null, names.all());
    return { column, isOwn: isColumn(column) };
  };
}

function partsOf(text: string): { name: string; operator: Operator; value: string } {
  const found = /^([^<>=]*)(>=|<=|=|>|<)(.*)$/s.exec(text);
  if (!found) return { name: 'plan', operator: '=', value: text.trim() };
  const [, name = '', operator = '=', value = ''] = found;
  return { name: name.trim(), operator: operator as Operator, value: value.trim() };
}

function columnNamed(wanted: string, valueName: string | null, further: readonly string[]): string {
  const known = [...COLUMNS, ...(valueName === null ? [] : [valueName]), ...further];
  const found = known.find((name) => caseFolded(name) === caseFolded(wanted));
  if (found !== undefined) return found === valueName ? 'value' : found;
  const close = nearest(wanted, known);
  throw new AppError('usage', `the imported customers have no column "${wanted}"`, {
    hint: `${close === null ? '' : `Did you mean ${close}? `}Their columns are ${known.join(', ')}.`,
  });
}

function numberIn(text: string): number {
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new AppError('usage', `"${text}" is no number`, { hint: 'Write it such as value>=1200.50.' });
}

const LISTED = 12;

function knownValue(column: string, wanted: string, known: readonly string[]): string {
  const found = known.find((value) => caseFolded(value) === caseFolded(wanted));
  if (found !== undefined) return found;
  const close = nearest(wanted, known, 3);
  const isShort = known.length <= LISTED && (column === 'plan' || !isColumn(column));
  throw new AppError('usage', `no customer has ${column} "${wanted}"`, {
    hint: `${close === null ? '' : `Did you mean ${close}? `}${isShort ? `There are ${known.join(', ')}.` : ''}`.trim(),
  });
}
