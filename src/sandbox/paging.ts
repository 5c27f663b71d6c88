import type { Slice, Start } from './listing.ts';

/** How `next` and `previous` are written. The API leaves it open, so the sandbox can speak each plausible way. */
export const PAGING_STYLES = ['url', 'path', 'query', 'number', 'offset', 'cursor', 'cursor-url'] as const;
export type PagingStyle = (typeof PAGING_STYLES)[number];

export const PAGING_PARAMETERS: readonly string[] = ['page', 'limit', 'offset', 'cursor'];

const MAX_LIMIT = 1000;

/** The page a request asks for. `salt` makes an equal position look like another one. */
export interface Position {
  start: Start;
  limit: number;
  salt?: number;
}

type PositionResult = { ok: true; position: Position } | { ok: false; parameter: string };

/** `keyLength`: how many columns order the list, which is what a cursor has to hold. */
export function readPosition(
  style: PagingStyle,
  query: URLSearchParams,
  pageSize: number,
  keyLength: number,
): PositionResult {
  if (isCursor(style)) return readCursor(query.get('cursor'), pageSize, keyLength);
  if (style === 'offset') return readOffset(query, pageSize);
  const page = wholeNumber(query.get('page') ?? '1');
  const offset = page === null ? null : (page - 1) * pageSize;
  if (offset === null || offset < 0 || !Number.isSafeInteger(offset)) return { ok: false, parameter: 'page' };
  return { ok: true, position: { start: { offset }, limit: pageSize } };
}

function readOffset(query: URLSearchParams, pageSize: number): PositionResult {
  const limit = wholeNumber(query.get('limit') ?? String(pageSize));
  const offset = wholeNumber(query.get('offset') ?? '0');
  if (limit === null || limit < 1) return { ok: false, parameter: 'limit' };
  if (offset === null) return { ok: false, parameter: 'offset' };
  return { ok: true, position: { start: { offset }, limit: Math.min(limit, Math.max(MAX_LIMIT, pageSize)) } };
}

function wholeNumber(text: string): number | null {
  return /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null;
}

export function isCursor(style: PagingStyle): boolean {
  return style === 'cursor' || style === 'cursor-url';
}

export function nextPosition(at: Position, page: Slice): Position | null {
  if (!page.more) return null;
  if ('offset' in at.start) return { ...at, start: { offset: at.start.offset + at.limit } };
  return page.lastKey && { start: { key: page.lastKey, back: false }, limit: at.limit };
}

export function previousPosition(at: Position, page: Slice): Position | null {
  if (!page.before) return null;
  if ('offset' in at.start) return { ...at, start: { offset: Math.max(0, at.start.offset - at.limit) } };
  return page.firstKey && { start: { key: page.firstKey, back: true }, limit: at.limit };
}

interface LinkBase {
  /** `http://host:port` as the client wrote it, so that a link leads back where it came from. */
  origin: string;
  path: string;
  /** What else was in the query and stays there. */
  keep: URLSearchParams;
}

/** The position written in the style: a URL, a path, a query string, a number or a bare cursor. */
export function writeLink(style: PagingStyle, to: Position, base: LinkBase): string | number {
  if (style === 'number') return pageNumber(to);
  if (style === 'cursor') return writeCursor(to);
  const query = new URLSearchParams(base.keep);
  for (const [name, value] of Object.entries(parameters(style, to))) query.set(name, value);
  if (style === 'query') return `?${query}`;
  return `${style === 'path' ? '' : base.origin}${base.path}?${query}`;
}

function parameters(style: PagingStyle, to: Position): Record<string, string> {
  if (style === 'cursor-url') return { cursor: writeCursor(to) };
  if (style !== 'offset') return { page: String(pageNumber(to)) };
  return { limit: String(to.limit), offset: String('offset' in to.start ? to.start.offset : 0) };
}

function pageNumber(to: Position): number {
  return 'offset' in to.start ? Math.floor(to.start.offset / to.limit) + 1 : 1;
}

function writeCursor({ start, salt }: Position): string {
  const key = 'key' in start ? start.key : null;
  const back = 'key' in start && start.back;
  return Buffer.from(JSON.stringify([back ? 'b' : 'f', key, salt ?? 0])).toString('base64url');
}

function readCursor(cursor: string | null, limit: number, keyLength: number): PositionResult {
  if (cursor === null) return { ok: true, position: { start: { key: null, back: false }, limit } };
  const parts = parseCursor(cursor);
  if (!Array.isArray(parts)) return { ok: false, parameter: 'cursor' };
  const [direction, key, salt] = parts as unknown[];
  const known = key === null || isKey(key, keyLength);
  if ((direction !== 'b' && direction !== 'f') || !known || !Number.isSafeInteger(salt)) {
    return { ok: false, parameter: 'cursor' };
  }
  const start: Start = { key, back: direction === 'b' };
  return { ok: true, position: { start, limit, salt: salt as number } };
}

function isKey(key: unknown, length: number): key is number[] {
  return Array.isArray(key) && key.length === length && key.every((part) => Number.isSafeInteger(part));
}

function parseCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}
