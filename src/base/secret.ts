import { hash, timingSafeEqual } from 'node:crypto';
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

/** Compared by digests, which have one length and say nothing about the texts: it takes the same time for every guess. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
  return timingSafeEqual(digest(given), digest(expected));
}

/** Shorter than this a text is no secret, and masking it would eat half of every line. */
const SHORTEST = 4;

/** Longest first, so that a spelling that contains another is replaced whole. */
function printedForms(value: string): string[] {
  if (value.length < SHORTEST) return [];
  const encoded = [
    encodeURIComponent(value.toWellFormed()),
    new URLSearchParams({ v: value }).toString().slice(2),
  ];
  const plain = [value, ...encoded, ...encoded.map(lowerHex), ...base64Forms(value)];
  const forms = new Set(plain.flatMap((form) => [form, inJson(form), inJson(inJson(form)), slashed(form)]));
  return [...forms].sort((a, b) => b.length - a.length);
}

/** An upstream may spell `%2F` as `%2f`. */
function lowerHex(encoded: string): string {
  return encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

function inJson(form: string): string {
  return JSON.stringify(form).slice(1, -1);
}

/** PHP's way to write a slash in JSON. */
function slashed(form: string): string {
  return inJson(form).replaceAll('/', '\\/');
}

/** Base64 and base64url of the value at each of the three alignments it can have inside a longer text. */
function base64Forms(value: string): string[] {
  return [0, 1, 2].flatMap((shift) => {
    const bytes = Buffer.from('\0'.repeat(shift) + value);
    const [start, end] = [Math.ceil((shift * 8) / 6), Math.floor((bytes.length * 8) / 6)];
    // The characters at both ends also hold bits of the neighbours, so they differ from text to text.
    return [bytes.toString('base64').slice(start, end), bytes.toString('base64url').slice(start, end)];
  });
}
