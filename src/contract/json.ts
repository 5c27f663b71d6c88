import type { FastifyInstance } from 'fastify';

/** Deepest nesting kept from an upstream: beyond it `JSON.stringify` and every recursive reader are at risk. */
const MAX_DEPTH = 64;

export class UnstorableJson extends Error {
  override readonly name = 'UnstorableJson';
}

/** What the language has since JSON.parse gives the source of a number, and its types do not. */
interface ExactJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): value is { rawJSON: string };
}

const exact = JSON as unknown as ExactJson;

/** JSON.parse, with numbers beyond 2^53 - 1 as raw JSON instead of rounded: no field takes one, but one that is kept as it came may. */
export function parseJson(text: string): unknown {
  try {
    return exact.parse(text, (_key, value, { source = '' }) =>
      typeof value === 'number' && isRounded(value) ? exact.rawJSON(source) : value,
    );
  } catch (error) {
    // A reviver goes down level by level, and the plain parser does not.
    if (error instanceof RangeError) return JSON.parse(text);
    throw error;
  }
}

function isRounded(value: number): boolean {
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

/** Whether this is a number beyond 2^53 - 1, as `parseJson` gives it. */
export function isLongNumber(value: unknown): value is { rawJSON: string } {
  return exact.isRawJSON(value);
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
