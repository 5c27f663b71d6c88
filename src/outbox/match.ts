import { hash } from 'node:crypto';
import type { PostText } from '../store/outbox/seam.ts';

/** A post as the upstream shows it, reduced to what can be compared with an outbox row. */
export interface SeenPost {
  title: string;
  content: string;
  boardUrl: string;
  creatorEmail: string | null;
}

/** Whether a post of the upstream can be the one this row asked for. The service may wrap, trim and re-encode what it is given. */
export function looksLike(row: PostText, post: SeenPost): boolean {
  return likeness(row)(post);
}

/** The same for many posts: the row is taken apart once. */
export function likeness(row: PostText): (post: SeenPost) => boolean {
  const board = slug(row.board);
  const [title, content] = [essence(row.title), essence(row.content)];
  return (post) =>
    slug(post.boardUrl) === board &&
    isSamePerson(row.email, post.creatorEmail) &&
    essence(post.title) === title &&
    essence(post.content) === content;
}

/**
 * Equal for any two rows that one and the same post could look like. The person is left out of it: a row of the token's owner
 * is recognised by whatever creator the post shows, and a service may hide its customers' addresses.
 */
export function twinKey({ board, title, content }: PostText): string {
  const parts = [slug(board), essence(title), essence(content)];
  return hash('sha256', parts.map((part) => `${part.length}:${part}`).join(''), 'base64url');
}

/** The words of a text, without mark-up and escaping, for looking it up. */
export function plainText(text: string): string {
  return unescaped(withoutTags(text));
}

/** Nobody knows the address of the token's owner, and an address that is not shown rules nobody out. */
function isSamePerson(email: string | null, shown: string | null): boolean {
  if (email === null || shown === null || shown.trim() === '') return true;
  return email.trim().toLowerCase() === shown.trim().toLowerCase();
}

/** The short part of a board's URL, also of one that already is just that. */
function slug(url: string): string {
  const path = url.replace(/[?#].*$/, '').replace(/\/+$/, '');
  return path.slice(path.lastIndexOf('/') + 1).toLowerCase();
}

/** Nobody escapes a text more often than this; a hostile one could pretend to, a megabyte deep. */
const MOST_ROUNDS = 8;

/**
 * What is left when mark-up, escaping and white space are taken away, as often as there is any: texts with the same essence count
 * as the same. One form for everything, because then two rows that match one post always match each other, which twins rely on.
 */
function essence(text: string): string {
  let plain = text;
  for (let round = 0; round < MOST_ROUNDS && /[<&]/.test(plain); round++) {
    const before = plain;
    plain = unescaped(withoutTags(plain));
    if (plain === before) break;
  }
  return (COMPOSABLE.test(plain) ? plain.normalize('NFC') : plain).replace(/\s+/g, '');
}

/** Below the first combining mark every text is already in its normal form. */
const COMPOSABLE = /[\u0300-\uffff]/;

/** In one pass, inside out: what is left of one tag may complete another, and a text may be nothing but brackets. */
function withoutTags(text: string): string {
  if (!text.includes('<')) return text;
  const open: number[] = [];
  const kept: string[] = [];
  for (const piece of text.split(/([<>])/)) {
    const start = piece === '>' ? open.pop() : undefined;
    if (piece === '<') open.push(kept.length);
    if (start !== undefined) kept.length = start;
    kept.push(start === undefined ? piece : ' ');
  }
  return kept.join('');
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
