import { AppError } from '../base/errors.ts';
import type { Db } from '../db/open.ts';
import { scalar } from '../db/sql.ts';
import { type SegmentChoice, segmentBound, segmentColumns, segmentCondition } from './filter.ts';

/** A customer of the imported file, with the users of the mirror who are theirs. */
export interface KnownCustomer {
  group: string | null;
  amount: number | null;
  users: number[];
}

export interface KnownCustomers {
  by: string;
  /** What the file calls the value; null where it has none. */
  valueName: string | null;
  customers: KnownCustomer[];
  importedAt: string;
}

/** Ids of the users of a choice. */
export function peopleOf(db: Db, choice: SegmentChoice): number[] {
  const sql = `
    SELECT DISTINCT l.user_id FROM people_segments l JOIN segments s ON s.id = l.segment_id
     WHERE ${segmentCondition(choice)} ORDER BY 1`;
  return scalar(db)<object, number>(sql).all(segmentBound(choice));
}

interface Row {
  id: number;
  group: string | null;
  amount: number | null;
  importedAt: string;
  valueName: string | null;
}

/** Every customer of the file, by one of its columns: the plan where there are plans, else the company. */
export function customersBy(db: Db, by: string | undefined): KnownCustomers {
  const { expression, name } = groupOf(db, by);
  const rows = db
    .prepare<object, Row>(`
      SELECT s.id, ${expression} AS "group", s.value AS amount, s.imported_at AS importedAt, s.value_name AS valueName
        FROM segments s ORDER BY s.id`)
    .all({ name: `$."${name}"` });
  const [first] = rows;
  if (!first)
    throw new AppError('usage', 'no customers were imported yet', {
      hint: 'Run "feedback-mirror segments import customers.csv" first.',
    });
  const links = db
    .prepare<[], { user: number; segment: number }>(
      'SELECT user_id AS user, segment_id AS segment FROM people_segments',
    )
    .all();
  const users = Map.groupBy(links, ({ segment }) => segment);
  const customers = rows.map(({ id, group, amount }) => ({
    group: group === null ? null : String(group),
    amount,
    users: (users.get(id) ?? []).map(({ user }) => user),
  }));
  return { by: name, valueName: first.valueName, customers, importedAt: first.importedAt };
}

function groupOf(db: Db, by: string | undefined): { expression: string; name: string } {
  const hasPlans =
    scalar(db)<[], number>('SELECT EXISTS (SELECT 1 FROM segments WHERE plan IS NOT NULL)').get() === 1;
  const { column, isOwn } = segmentColumns(db)(by ?? (hasPlans ? 'plan' : 'company'));
  // Every statement takes the name, so the other form mentions it too.
  return { name: column, expression: isOwn ? `iif($name = '', NULL, s.${column})` : 's.extra ->> $name' };
}
