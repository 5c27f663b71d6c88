import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { OutboxStore } from '../store/outbox/store.ts';
import type { OutboxRow } from '../store/outbox/types.ts';
import { rowChecker } from './csv/check.ts';
import { type AcceptedRow, FIELDS, type Field } from './csv/csv-file.ts';
import { batchId } from './import/batch-id.ts';
import { newRow } from './import/intake.ts';

/** The fields of one post as a person gave them; what is missing is blank. */
export type Draft = Partial<Record<Exclude<Field, 'key'>, string | undefined>>;

/** The same rules as for a row of a file. */
export function checkDraft(draft: Draft): AcceptedRow {
  const given: Partial<Record<Field, string | undefined>> = draft;
  const mapping = FIELDS.map((field, index) => ({ field, header: field, index, how: 'exact' as const }));
  const check = rowChecker({ headers: FIELDS, mapping, board: undefined });
  const cells = FIELDS.map((field) => given[field] ?? '');
  const row = check({ ok: true, line: 1, cells });
  if (!row.ok) throw new AppError('usage', `this is no post: ${row.reason}`);
  return row;
}

/** One post into the outbox. Each call is a post of its own, also with the same words. */
export function createRow(
  { store, clock, random }: { store: OutboxStore; clock: Clock; random: () => number },
  row: AcceptedRow,
): OutboxRow {
  const now = clock.now();
  const batch = batchId('create', now, random);
  const [taken] = store.accept([{ ...newRow(row, `create:${randomUUID()}`, batch), line: null }], now);
  const found = taken && store.find(taken.id);
  if (!found) throw new Error('a row that was just accepted is gone');
  return found;
}
