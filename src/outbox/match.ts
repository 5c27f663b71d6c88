import { hash } from 'node:crypto';
import type { PostText } from '../store/outbox-seam.ts';

/** A post as the upstream shows it, reduced to what can be compared with an outbox row. */
export interface SeenPost {
  title: string;
  content: string;
  boardUrl: string;
  creatorEmail: string | null;
}

/** Whether a post of the upstream can be the one this row asked for. The service may wrap, trim and re-encode what it is given. */
export function looksLike(row: PostText, post: SeenPost): boolean {
  return (
    slug(row.board) === slug(post.boardUrl) &&
    (row.email === null || row.email.toLowerCase() === post.creatorEmail?.toLowerCase()) &&
    isSameText(row.title, post.title) &&
    isSameText(row.content, post.content)
  );
}

/** Equal for any two rows that one and the same post could look like. */
export function twinKey({ board, title, content, email }: PostText): string {
  const parts = [slug(board), bareWords(title), bareWords(content), email?.toLowerCase() ?? ''];
  return hash('sha256', parts.map((part) => `${part.length}:${part}`).join(''), 'base64url');
}

/** The short part of a board's URL, also of one that already is just that. */
function slug(url: string): string {
  const path = url.replace(/[?#].*$/, '').replace(/\/+$/, '');
  return path.slice(path.lastIndexOf('/') + 1).toLowerCase();
}

/** Two texts that differ only in mark-up or escaping count as the same: such a post is looked at, never sent a second time. */
function isSameText(a: string, b: string): boolean {
  if (a === b) return true;
  const forms = new Set(formsOf(a));
  return formsOf(b).some((form) => forms.has(form));
}

/** As given, unescaped, and without mark-up. */
function formsOf(text: string): string[] {
  return [fold(text), fold(unescaped(text)), fold(unescaped(withoutTags(text)))];
}

/** The loosest form: nothing two look-alikes could still differ in. */
function bareWords(text: string): string {
  return fold(withoutTags(unescaped(withoutTags(text))));
}

function fold(text: string): string {
  return text.normalize('NFC').replace(/\s+/g, ' ').trim();
}

function withoutTags(text: string): string {
  return text.replace(/<[^<>]*>/g, ' ');
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

function unescaped(text: string): string {
  return text.replace(
    /&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,5});/gi,
    (whole, name: string) => entity(name) ?? whole,
  );
}

function entity(name: string): string | undefined {
  if (!name.startsWith('#')) return ENTITIES[name.toLowerCase()];
  const code = name[1]?.toLowerCase() === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}
