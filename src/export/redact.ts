import { createHmac } from 'node:crypto';
import { emailKey } from '../base/email.ts';
import type { Cell, ExportRow } from '../store/export/export.ts';
import type { ExportColumn, Personal } from '../store/export/tables.ts';

/** Pseudonyms that stay the same for a person as long as the key does. */
export interface Redactor {
  email(email: string): string;
  /** Of the person with this e-mail; where there is none the name itself has to tell people apart. */
  name(name: string, email: string | null): string;
  /** The text with every e-mail address in it replaced. */
  text(text: string): string;
  /** JSON text with the e-mails in its strings replaced and, if so asked, what stands under keys such as `name`. */
  json(text: string, names: boolean): string;
  /** Something that is unique but may be made from what is hidden: a key the person chose, a digest of an e-mail. */
  key(key: string): string;
}

/** 64 bits: among ten million people the chance that any two share a pseudonym is one in 400,000. */
const DIGITS = 16;
/** Pseudonyms kept at hand, a few MB at most. */
const REMEMBERED = 50_000;

export function createRedactor(key: Uint8Array): Redactor {
  const known = new Map<string, string>();
  const digest = (text: string): string => {
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size >= REMEMBERED) known.clear();
    const made = createHmac('sha256', key).update(text).digest('hex').slice(0, DIGITS);
    known.set(text, made);
    return made;
  };
  const person = (email: string): string => digest(`email:${emailKey(email)}`);
  const redactor: Redactor = {
    email: (email) => `user-${person(email)}@redacted.invalid`,
    name: (name, email) => `Person ${email ? person(email) : digest(`name:${name.trim().toLowerCase()}`)}`,
    text: (text) =>
      text.includes('@')
        ? text.replace(EMAIL, (_, marks: string, email: string) => marks + redactor.email(email))
        : text,
    json: (text, names) => JSON.stringify(redactValue(JSON.parse(text), redactor, names)),
    key: (text) => `key-${digest(`key:${text}`)}`,
  };
  return redactor;
}

/**
 * Begins only where a word begins, so that the longest text costs no more than its length; marks before the first letter, as of a
 * list, are no part of the address.
 */
const EMAIL =
  /(?<![\p{L}\p{M}\p{N}._%+-])([.%+-]*)([\p{L}\p{M}\p{N}_][\p{L}\p{M}\p{N}._%+-]*@[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)+)/gu;

const NAME_KEY =
  /^(full|first|last|given|family|middle|user|display|nick|author|creator|customer|contact)?[_\s-]?(name|alias)$/i;
const EMAIL_KEY = /e-?mail/i;

function redactValue(value: unknown, redactor: Redactor, names: boolean): unknown {
  if (typeof value === 'string') return redactor.text(value);
  if (Array.isArray(value)) return value.map((item) => redactValue(item, redactor, names));
  if (typeof value === 'object' && value !== null) return redactMembers(value, redactor, names);
  return value;
}

/** As a list of members, not one by one: a key may be `__proto__`. */
function redactMembers(object: object, redactor: Redactor, names: boolean): object {
  const members = Object.entries(object) as [string, unknown][];
  const email = members.find(([key, value]) => EMAIL_KEY.test(key) && typeof value === 'string')?.[1];
  return Object.fromEntries(
    members.map(([key, value]) => {
      if (typeof value !== 'string' || value === '') return [key, redactValue(value, redactor, names)];
      if (EMAIL_KEY.test(key)) return [key, redactor.email(value)];
      if (names && NAME_KEY.test(key))
        return [key, redactor.name(value, typeof email === 'string' ? email : null)];
      return [key, redactor.text(value)];
    }),
  );
}

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
