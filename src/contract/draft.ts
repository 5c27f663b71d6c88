import { NEW_POST_AS_USER_ROW, NEW_POST_ROW, type NewPost } from './entities.ts';

/**
 * What a new post may be, for every way into the outbox: the command line, a CSV file, the form of the dashboard and the API of the
 * mirror. The upstream has the last word; this refuses what is never meant.
 */

/**
 * C0, DEL and C1. The latter are refused too: in text they are nearly always a Windows-1252 file that was converted
 * as Latin-1, and a post full of them would be public before anyone notices.
 */
const CONTROL = /\p{Cc}/u;
const CONTROL_IN_TEXT = /[^\P{Cc}\t\n\r]/u;

/** Spaces, and characters without a width, as a copy from a web page may have alone. */
const UNSEEN = /^[\s\p{Default_Ignorable_Code_Point}]*$/u;

/** One @, no spaces, nothing that belongs to a list or to `Name <address>`; a domain without a dot is an intranet's. */
const EMAIL = /^[^\s@<>()[\],;:\\"]+@[^\s@<>()[\],;:\\".]+(?:\.[^\s@<>()[\],;:\\".]+)*$/u;

/** What is wrong with one field, as a clause without the field's own text (`is blank`); null when nothing is. */
export function fieldProblem(field: string, text: string): string | null {
  if (field !== 'content' && UNSEEN.test(text)) return 'is blank';
  if (field === 'email' && !isEmail(text)) return 'is not one e-mail address';
  if (!text.isWellFormed()) return 'has half a character in it';
  const found = (field === 'content' ? CONTROL_IN_TEXT : CONTROL).exec(text)?.[0];
  return found === undefined ? null : `has ${controlName(found)}`;
}

export function isEmail(text: string): boolean {
  return EMAIL.test(text.trim());
}

function controlName(character: string): string {
  if (character === '\n' || character === '\r') return 'a line break';
  if (character === '\t') return 'a tab';
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return `a control character (U+${code})`;
}

/** What is wrong with each field of a create. */
export type FieldErrors = Record<string, string[]>;

type CheckedDraft =
  | { ok: true; post: NewPost & { email: string | null; full_name: string | null } }
  | { ok: false; errors: FieldErrors };

/**
 * The JSON body of a create, field by field. `complaint` is the rule of the server that asks, about a field that is text.
 * What a customer is known by is trimmed, what people wrote stays as it is.
 */
export function checkBody(
  body: unknown,
  asUser: boolean,
  complaint: (field: string, text: string) => string | null = ownComplaint,
): CheckedDraft {
  const given = Object(body) as Record<string, unknown>;
  const errors: FieldErrors = {};
  const post = { board: '', title: '', content: '', email: '', full_name: '' };
  for (const field of Object.keys(
    (asUser ? NEW_POST_AS_USER_ROW : NEW_POST_ROW).fields,
  ) as (keyof typeof post)[]) {
    const text = given[field];
    const sentence = typeof text === 'string' ? complaint(field, text) : shapeComplaint(text);
    if (sentence !== null) errors[field] = [sentence];
    else post[field] = String(text);
  }
  if (Object.keys(errors).length > 0) return { ok: false, errors };
  const { email, full_name } = post;
  const customer = asUser ? { email: email.trim(), full_name: full_name.trim() } : NO_CUSTOMER;
  return { ok: true, post: { ...post, ...customer } };
}

const NO_CUSTOMER = { email: null, full_name: null };

function ownComplaint(field: string, text: string): string | null {
  const problem = fieldProblem(field, text);
  return problem === null ? null : `This field ${problem}.`;
}

function shapeComplaint(value: unknown): string {
  return value === undefined || value === null ? 'This field is required.' : 'This field is not a string.';
}
