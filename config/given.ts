import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf } from '../src/base/errors.ts';
import type { Secret } from '../src/base/secret.ts';
import type { Parse } from './parse.ts';

/** The fields of a rule, channel or webhook as a person wrote them. Errors name the field, and never quote an address or a key. */
export type Given = Record<string, unknown>;

/** A name that a person gives to a rule, channel or webhook. */
export const GIVEN_NAME = /^[A-Za-z0-9_-]{1,40}$/;

/** Parts of JSON Schema for such fields. */
export const TEXT = { type: 'string' };
export const TEXTS = { type: 'array', items: TEXT, minItems: 1 };

export function refuseUnknown(given: Given, fields: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !fields.includes(name));
  if (unknown !== undefined)
    throw new Error(`there is no field "${unknown}"; there are ${fields.join(', ')}`);
}

const isText = (value: unknown): value is string | number => ['string', 'number'].includes(typeof value);

export function textIn(given: Given, name: string): string | null {
  const value = given[name];
  if (value === undefined || value === null || value === '') return null;
  if (isText(value)) return String(value);
  throw new Error(`"${name}" must be a text`);
}

export function listIn(given: Given, name: string): string[] | null {
  const value = given[name];
  if (value === undefined || value === null) return null;
  if (Array.isArray(value) && value.length > 0 && value.every(isText)) return value.map(String);
  throw new Error(`"${name}" must be a list of texts`);
}

export function wordIn<const T extends string>(given: Given, name: string, words: readonly T[]): T {
  const word = words.find((one) => one === given[name]);
  if (word === undefined) throw new Error(`"${name}" must be one of ${words.join(', ')}`);
  return word;
}

/** A text as the parser of a setting reads it. */
export function parsedText<T>(name: string, parse: Parse<T>, text: string): T {
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`"${name}" ${messageOf(error)}`);
  }
}

/** A secret that is written there, or in the file that `name_file` names. */
export function secretIn(given: Given, name: string, parse: Parse<Secret>, cwd: string): Secret | null {
  const [text, path] = [textIn(given, name), textIn(given, `${name}_file`)];
  if (text !== null) return parsedText(name, parse, text);
  const fromFile: Parse<Secret> = (file) => parse(readFileSync(resolve(cwd, file), 'utf8').trim());
  return path === null ? null : parsedText(`${name}_file`, fromFile, path);
}
