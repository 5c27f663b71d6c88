import { AppError } from '../base/errors.ts';
import { nearest } from '../base/nearest.ts';
import { PUBLIC_TABLES, type TableWords } from './schema-words.ts';

/** What there is to ask, in words; one table of it, or all. It needs no mirror. */
export function schemaOf(table: string | null): readonly TableWords[] {
  if (table === null) return PUBLIC_TABLES;
  const found = PUBLIC_TABLES.filter(({ name }) => name === table.toLowerCase());
  if (found.length > 0) return found;
  const names = PUBLIC_TABLES.map(({ name }) => name);
  const near = nearest(table, names);
  throw new AppError('usage', `there is no table ${table}`, {
    hint: near === null ? `There are ${names.join(', ')}.` : `Did you mean ${near}?`,
  });
}
