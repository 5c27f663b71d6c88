import type { FastifyInstance } from 'fastify';
import { isLongNumber, isRounded, isTooDeep, MOST_LEVELS } from '../base/json.ts';

export class UnstorableJson extends Error {
  override readonly name = 'UnstorableJson';
}

/**
 * JSON text with sorted keys, so that equal values have equal texts.
 * Throws where the text could not say exactly what was received: a number already rounded by parsing,
 * or a lone surrogate.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value === 'number') return exactNumber(value);
  if (Array.isArray(value)) return canonicalArray(value);
  if (isLongNumber(value)) return value.rawJSON;
  if (typeof value === 'object' && value !== null) return canonicalObject(Object.entries(value));
  return JSON.stringify(value);
}

function canonicalArray(items: unknown[]): string {
  return `[${items.map((item) => canonicalJson(item)).join(',')}]`;
}

export function canonicalObject(members: [string, unknown][]): string {
  const sorted = members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${sorted.map(([key, item]) => `${wellFormed(key)}:${canonicalJson(item)}`).join(',')}}`;
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
  const text = utf8Of(body);
  if (isTooDeep(text)) throw tooDeep();
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notJson(error);
  }
}

function utf8Of(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    throw notJson(error);
  }
}

type BadBody = Error & { statusCode: number };

function notJson(cause: unknown): BadBody {
  return Object.assign(new Error('The body is not JSON.', { cause }), { statusCode: 400 });
}

function tooDeep(): BadBody {
  const detail = `The body has lists or objects within each other more than ${MOST_LEVELS} levels deep: send it flatter.`;
  return Object.assign(new Error(detail), { statusCode: 400 });
}

/** Fastify's own reader of JSON, which is given nothing that is nested too deep. */
export function refuseDeepJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) =>
    isTooDeep(body) ? done(tooDeep()) : parse(request, body, done),
  );
}
