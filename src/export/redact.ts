import type { Redactor } from '../base/redact.ts';
import type { Cell, ExportRow } from '../store/export/export.ts';
import type { ExportColumn, Personal } from '../store/export/tables.ts';

/** A copy of each row without what tells who somebody is. */
export function rowRedaction(
  columns: readonly ExportColumn[],
  redactor: Redactor,
): (row: ExportRow) => ExportRow {
  const at = new Map(columns.map(({ name }, i) => [name, i]));
  const rules = columns.map(({ personal }) => (personal ? ruleOf(personal, at, redactor) : null));
  return (row) =>
    row.map((cell, i) => {
      const rule = rules[i];
      return rule && typeof cell === 'string' && cell !== '' ? rule(cell, row) : cell;
    });
}

type Rule = (text: string, row: ExportRow) => Cell;

function ruleOf(personal: Personal, at: ReadonlyMap<string, number>, redactor: Redactor): Rule {
  switch (personal.kind) {
    case 'email':
      return redactor.email;
    case 'text':
      return redactor.text;
    case 'key':
      return redactor.key;
    case 'json':
      return (text) => redactor.json(text, personal.names);
    case 'name': {
      const email = at.get(personal.of) ?? -1;
      return (text, row) => redactor.name(text, (row[email] ?? null) as string | null);
    }
  }
}
