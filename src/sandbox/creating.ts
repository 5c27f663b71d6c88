import { NewPost, NewPostAsUser } from '../contract/entities.ts';
import type { Caller } from './access.ts';
import type { FieldErrors } from './answer.ts';
import type { Creation } from './ledger.ts';
import type { World } from './world.ts';

type Draft = Omit<Creation, 'received_at'>;
export type DraftResult = { ok: true; draft: Draft } | { ok: false; errors: FieldErrors };

const EMAIL = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/;

/** Checks the body of a create and says what is wrong with each field. Without a customer it is the token's owner's. */
export function readDraft(body: unknown, asUser: boolean, caller: Caller, world: World): DraftResult {
  const schema = asUser ? NewPostAsUser : NewPost;
  const checked = schema.safeParse(body);
  const given: Record<string, unknown> = isObject(body) ? body : {};
  const errors: FieldErrors = {};
  for (const field of Object.keys(schema.shape)) {
    const broken = checked.error?.issues.some((issue) => issue.path[0] === field || issue.path.length === 0);
    const complaint = broken ? shapeComplaint(given[field]) : rule(field, given[field], caller, world);
    if (complaint) errors[field] = [complaint];
  }
  if (!checked.success || Object.keys(errors).length > 0) return { ok: false, errors };
  const customer = NewPostAsUser.safeParse(body);
  const { email, full_name } =
    asUser && customer.success ? customer.data : { email: caller.email, full_name: caller.name };
  const { board, title, content } = checked.data;
  return { ok: true, draft: { board, title, content, email: email.trim(), full_name: full_name.trim() } };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shapeComplaint(value: unknown): string {
  if (value === undefined || value === null) return 'This field is required.';
  return typeof value === 'string' ? 'Not valid text.' : 'Not a string.';
}

function rule(field: string, value: unknown, caller: Caller, world: World): string | null {
  const text = String(value);
  if (field === 'content') return null;
  if (text.trim() === '') return 'This field may not be blank.';
  if (field === 'email' && !EMAIL.test(text.trim())) return 'Not a valid e-mail address.';
  if (field === 'board' && !reaches(caller, text, world)) return `There is no board "${text}".`;
  return null;
}

/** A board out of reach is answered like one that does not exist: nobody learns of it. */
function reaches(caller: Caller, slug: string, world: World): boolean {
  const board = world.boards().find((known) => known.slug === slug);
  return board !== undefined && (caller.boards === null || caller.boards.includes(board.id));
}
