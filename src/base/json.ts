/** JSON.parse with the source of numbers, which TypeScript does not know yet. */
interface ExactJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): value is { rawJSON: string };
}

const exact = JSON as unknown as ExactJson;

/** Deepest nesting of JSON from outside. 10 MB of brackets take 1 GB and seconds to parse, and every recursive reader is at risk. */
export const MOST_LEVELS = 64;

const [BACKSLASH, LIST, LIST_END, OBJECT, OBJECT_END, QUOTE] = [0x5c, 0x5b, 0x5d, 0x7b, 0x7d, 0x22];

/** Whether lists and objects lie within each other more than 64 levels deep. Reads the text once, and makes nothing of it. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    if (sign === QUOTE) at = endOfString(text, at);
    else if (sign === LIST || sign === OBJECT) depth++;
    else if (sign === LIST_END || sign === OBJECT_END) depth--;
    if (depth > MOST_LEVELS) return true;
  }
  return false;
}

/** A text of so many characters takes 40 MB to parse where it is nothing but brackets, and less elsewhere. */
const FREELY_PARSED = 1_000_000;

export class TooDeepJson extends Error {
  override readonly name = 'TooDeepJson';
}

/**
 * JSON.parse for pages of a list. A page is parsed first and its value is walked, in a seventh of the time that its text takes: a sweep
 * of 100,000 posts takes 7 % fewer instructions. Only a large text is read before.
 */
export function parseShallow(text: string): unknown {
  const isLarge = text.length > FREELY_PARSED;
  if (isLarge && isTooDeep(text)) throw new TooDeepJson();
  const value: unknown = JSON.parse(text);
  if (!isLarge && isDeeper(value, MOST_LEVELS)) throw new TooDeepJson();
  return value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeper(item, levels - 1));
  const held = value as Record<string, unknown>;
  // Most fields are no objects: a call for each would take twice as long.
  for (const key in held) if (typeof held[key] === 'object' && isDeeper(held[key], levels - 1)) return true;
  return false;
}

/** Returns where the string that begins here ends. `indexOf` is several times as fast as a loop. */
function endOfString(text: string, begin: number): number {
  let end = text.indexOf('"', begin + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

/** Whether an odd number of backslashes stands before it. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

/** JSON.parse, with numbers beyond 2^53 - 1 as raw JSON instead of rounded: no field takes one, but one that is kept as it came may. */
export function parseJson(text: string): unknown {
  return exact.parse(text, (_key, value, { source = '' }) =>
    typeof value === 'number' && isRounded(value) ? exact.rawJSON(source) : value,
  );
}

/** Whether reading this number may have changed it. */
export function isRounded(value: number): boolean {
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

/** Whether this is a number beyond 2^53 - 1, as `parseJson` gives it. */
export function isLongNumber(value: unknown): value is { rawJSON: string } {
  return exact.isRawJSON(value);
}
