import { inspect } from 'node:util';

const MASK = '[secret]';

/**
 * A value that must never be printed. Interpolating, inspecting or serialising it yields a mask;
 * only `reveal()` gives the text, so every place that does so can be found by that word.
 */
export class Secret {
  readonly #value: string;
  readonly #forms: string[];

  constructor(value: string) {
    this.#value = value;
    this.#forms = printedForms(value);
  }

  reveal(): string {
    return this.#value;
  }

  /** The same text with every spelling of the secret replaced: as it is, percent-encoded, in JSON, in base64. */
  mask(text: string): string {
    let masked = text;
    for (const form of this.#forms) masked = masked.replaceAll(form, MASK);
    return masked;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}

/** Longest first, so that a spelling that contains another is replaced whole. */
function printedForms(value: string): string[] {
  if (value === '') return [];
  const forms = new Set([
    value,
    encodeURIComponent(value),
    new URLSearchParams({ v: value }).toString().slice(2),
    JSON.stringify(value).slice(1, -1),
    ...base64Forms(value),
  ]);
  return [...forms].sort((a, b) => b.length - a.length);
}

/** Base64 of the value at each of the three alignments it can have inside a longer text, without the unstable edges. */
function base64Forms(value: string): string[] {
  if (value.length < 6) return [];
  const forms = [0, 1, 2].map((shift) => {
    const encoded = Buffer.from('\0'.repeat(shift) + value).toString('base64');
    const start = shift === 0 ? 0 : 4;
    return encoded.replace(/=+$/, '').slice(start, -1);
  });
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))].filter(
    (f) => f.length >= 6,
  );
}
