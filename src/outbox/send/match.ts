import { hash } from 'node:crypto';
import { boardSlug } from '../../text/boards.ts';
import { normalizedText } from '../../text/markup.ts';
import type { PostText } from '../decide/types.ts';

/**
 * Equal for any two rows that one and the same post could be taken for, word for word. The person is left out of it: a service may
 * show any creator for a row of the token's owner, and may hide its customers' addresses.
 */
export function contentHash({
  board,
  title,
  content,
}: Pick<PostText, 'board' | 'title' | 'content'>): string {
  const parts = [boardSlug(board), normalizedText(title), normalizedText(content)];
  return hash('sha256', parts.map((part) => `${part.length}:${part}`).join(''), 'base64url');
}
