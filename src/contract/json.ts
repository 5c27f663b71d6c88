import type { FastifyInstance } from 'fastify';
import { isLongNumber, isRounded } from '../base/json.ts';

/** Deepest nesting kept from an upstream: beyond it `JSON.stringify` and every recursive reader are at risk. */
const MAX_DEPTH = 64;

export class UnstorableJson extends Error {
  override readonly name = 'UnstorableJson';
}

/**
 * JSON text with sorted keys, so that equal values have equal texts.
 * Throws where the text could not say exactly what was received: a number already rounded by parsing,
 * a lone surrogate, nesting past the limit.
 */
export function canonicalJson(value: unknown, depth = 0): string {
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value === 'number') return exactNumber(value);
  if (Array.isArray(value)) return canonicalArray(value, depth);
  if (isLongNumber(value)) return value.rawJSON;
  if (typeof value === 'object' && value !== null) return canonicalObject(Object.entries(value), depth);
  return JSON.stringify(value);
}

function canonicalArray(items: unknown[], depth: number): string {
  refuseDepth(depth);
  return `[${items.map((item) => canonicalJson(item, depth + 1)).join(',')}]`;
}

export function canonicalObject(members: [string, unknown][], depth = 0): string {
  refuseDepth(depth);
  const sorted = members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${sorted.map(([key, item]) => `${wellFormed(key)}:${canonicalJson(item, depth + 1)}`).join(',')}}`;
}

/** `depth` counts the arrays and objects around this one. */
function refuseDepth(depth: number): void {
  if (depth >= MAX_DEPTH) throw new UnstorableJson(`is nested deeper than ${MAX_DEPTH} levels`);
}

function wellFormed(text: string): string {
  if (!text.isWellFormed()) throw new UnstorableJson('has a lone surrogate');
  return JSON.stringify(text);
}

function exactNumber(value: number): string {
  if (isRounded(value)) throw new UnstorableJson('has a number too large to keep exactly');
  return JSON.stringify(value);
}

/** Fastify itself would take text as well, and would replace broken UTF-8 without a word. */
export function takeJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => parseBody(body),
  );
}

/** The JSON of a request. */
export function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    throw Object.assign(new Error('The body is not JSON.', { cause: error }), { statusCode: 400 });
  }
}
