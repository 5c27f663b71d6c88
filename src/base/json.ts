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

/** Whether reading this number may have changed it. */
export function isRounded(value: number): boolean {
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

/** Whether this is a number beyond 2^53 - 1, as `parseJson` gives it. */
export function isLongNumber(value: unknown): value is { rawJSON: string } {
  return exact.isRawJSON(value);
}
