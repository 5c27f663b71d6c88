import { NewPost, NewPostAsUser } from './entities.ts';

/** What is wrong with each field of a create. */
export type FieldErrors = Record<string, string[]>;

export type CheckedDraft =
  | { ok: true; post: NewPost & { email: string | null; full_name: string | null } }
  | { ok: false; errors: FieldErrors };

const EMAIL = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/;

/**
 * The body of a create as every server of this API checks it, field by field. `boardProblem` says what is wrong with a board that is
 * not blank; what a customer is known by is trimmed, what people wrote stays as it is.
 */
export function checkDraft(
  body: unknown,
  asUser: boolean,
  boardProblem: (board: string) => string | null,
): CheckedDraft {
  const schema = asUser ? NewPostAsUser : NewPost;
  const checked = schema.safeParse(body);
  const given: Record<string, unknown> = isObject(body) ? body : {};
  const errors: FieldErrors = {};
  for (const field of Object.keys(schema.shape)) {
    const broken = checked.error?.issues.some((issue) => issue.path[0] === field || issue.path.length === 0);
    const complaint = broken ? shapeComplaint(given[field]) : rule(field, given[field], boardProblem);
    if (complaint) errors[field] = [complaint];
  }
  if (!checked.success || Object.keys(errors).length > 0) return { ok: false, errors };
  const { board, title, content } = checked.data;
  const customer = NewPostAsUser.safeParse(body);
  const who =
    asUser && customer.success
      ? { email: customer.data.email.trim(), full_name: customer.data.full_name.trim() }
      : { email: null, full_name: null };
  return { ok: true, post: { board, title, content, ...who } };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shapeComplaint(value: unknown): string {
  if (value === undefined || value === null) return 'This field is required.';
  return typeof value === 'string' ? 'Not valid text.' : 'Not a string.';
}

function rule(field: string, value: unknown, boardProblem: (board: string) => string | null): string | null {
  const text = String(value);
  if (field === 'content') return null;
  if (text.trim() === '') return 'This field may not be blank.';
  if (field === 'email' && !EMAIL.test(text.trim())) return 'Not a valid e-mail address.';
  return field === 'board' ? boardProblem(text) : null;
}
