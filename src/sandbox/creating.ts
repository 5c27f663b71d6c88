import { checkDraft, type FieldErrors } from '../contract/draft.ts';
import type { Caller } from './access.ts';
import type { Creation } from './ledger.ts';
import type { World } from './world.ts';

type Draft = Omit<Creation, 'received_at'>;
export type DraftResult = { ok: true; draft: Draft } | { ok: false; errors: FieldErrors };

/** Checks the body of a create and says what is wrong with each field. Without a customer it is the token's owner's. */
export function readDraft(body: unknown, asUser: boolean, caller: Caller, world: World): DraftResult {
  const checked = checkDraft(body, asUser, (board) =>
    reaches(caller, board, world) ? null : `There is no board "${board}".`,
  );
  if (!checked.ok) return checked;
  const { email, full_name, ...post } = checked.post;
  const draft = { ...post, email: email ?? caller.email.trim(), full_name: full_name ?? caller.name.trim() };
  return { ok: true, draft };
}

/** A board out of reach is answered like one that does not exist: nobody learns of it. */
function reaches(caller: Caller, slug: string, world: World): boolean {
  const board = world.boards().find((known) => known.slug === slug);
  return board !== undefined && (caller.boards === null || caller.boards.includes(board.id));
}
