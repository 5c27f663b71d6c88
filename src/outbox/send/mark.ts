import { hash } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import type { Post } from '../../contract/decode.ts';
import type { OutboxRow } from '../decide/types.ts';
import { marksIn, type ShownPost } from '../decide/whose.ts';
import type { OutboxContext } from './context.ts';
import { fromList } from './window.ts';

/** Whose posts carry a mark: none, those of the token's owner, or those in the name of customers too. */
export type MarkSetting = 'off' | 'owner' | 'all';

/** Without the letters that look like digits. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 8;

/** `Ref FM-7K3Q9D2H`: forty bits that name the row. People do not write them by chance. */
function referenceOf(mirrorId: string, row: number): string {
  const bytes = hash('sha256', `${mirrorId} ${row}`, 'buffer').subarray(0, LENGTH);
  return `Ref FM-${[...bytes].map((byte) => ALPHABET[byte % ALPHABET.length]).join('')}`;
}

/** The last line of a row's content: what its import says, and its reference. Null where it carries none. */
export function markFor({ store, mark }: OutboxContext, row: OutboxRow): string | null {
  // What an earlier attempt carried stays: the post of either is found by it.
  if (row.mark !== null) return row.mark;
  const label = store.batch(row.batch)?.mark ?? null;
  const isWanted = label !== null || mark === 'all' || (mark === 'owner' && row.kind === 'owner');
  if (!isWanted || store.marks()[row.board] === 'lost') return null;
  return markLine(label, referenceOf(store.mirrorId(), row.id));
}

function markLine(label: string | null, reference: string): string {
  return label === null || label === '' ? reference : `${label} · ${reference}`;
}

/** What an import's posts are to carry: its own label, and what the setting says. */
export interface Marking {
  label: string | null;
  setting: MarkSetting;
}

/** How the last line of a post would look, for a person who decides about an import; null where it has none. */
export function markExample({ label, setting }: Marking, email: string | null): string | null {
  const isWanted = label !== null || setting === 'all' || (setting === 'owner' && email === null);
  return isWanted ? markLine(label, 'Ref FM-7K3Q9D2H') : null;
}

const LONGEST_LABEL = 80;

/** What a person wants to stand before the reference: one short line. */
export function markLabel(text: string): string {
  const label = text.trim();
  if (label.length <= LONGEST_LABEL && !/[\r\n]/.test(label)) return label;
  throw new AppError('usage', `the mark of an import is one line of at most ${LONGEST_LABEL} characters`, {
    hint: 'Such as --mark "Imported from Canny".',
  });
}

export function contentAsSent({ content, mark }: Pick<OutboxRow, 'content' | 'mark'>): string {
  if (mark === null) return content;
  return content === '' ? mark : `${content}\n\n${mark}`;
}

function hasMark(post: Pick<Post, 'content'>, mark: string): boolean {
  const [reference] = marksIn({ content: mark });
  return reference !== undefined && marksIn(post).includes(reference);
}

/** What the upstream's own search finds: by the mark where the board keeps marks, else by the title. A failed search has found nothing. */
export async function searchFor(
  { store, client, signal }: OutboxContext,
  { mark, board, title }: OutboxRow,
): Promise<ShownPost[]> {
  const reference = store.marks()[board] === 'kept' ? marksIn({ content: mark ?? '' })[0] : undefined;
  const text = (reference ?? title).trim();
  const answer = text === '' ? null : await client.search(text, signal).catch(() => null);
  return answer?.rows.map(fromList) ?? [];
}

/**
 * The first marked post of each board is read back, by search and then in the list: where the service has dropped the mark, the board gets
 * none from then on. Returns the sentence to tell once; null where there is nothing to tell.
 */
export async function readBack(
  context: OutboxContext,
  { board, mark, post_id }: OutboxRow,
): Promise<string | null> {
  const { store, client, signal } = context;
  if (mark === null || post_id === null || store.marks()[board] !== undefined) return null;
  const [reference = ''] = marksIn({ content: mark });
  const isIt = ({ id }: Post): boolean => id === post_id;
  const searched = await client.search(reference, signal).catch(() => null);
  const listed =
    searched?.rows.find(isIt) ?? (await client.page('posts', '', signal).catch(() => null))?.rows.find(isIt);
  if (!listed) return null;
  const isKept = hasMark(listed, mark);
  store.noteMark(board, isKept ? 'kept' : 'lost');
  return isKept ? null : lostMarkText(board);
}

export function lostMarkText(board: string): string {
  return `the service does not keep the reference mark on the board ${board}: posts go there without one`;
}
