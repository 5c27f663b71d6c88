import type { FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';

/** What a request says in its address or body, one value at a time: as wanted, or refused in words. */

export function textIn(given: unknown, name: string): string | null {
  const value: unknown = Reflect.get(Object(given), name);
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string') return value;
  throw new AppError('usage', `"${name}" must be one text`);
}

/** A whole number from 1 up; null where there is none. */
export function numberOf(given: unknown, name: string): number | null {
  const value: unknown = Reflect.get(Object(given), name);
  if (value === undefined || value === null || value === '') return null;
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 1) return number;
  throw new AppError('usage', `"${name}" must be a whole number from 1 up`);
}

export function wordIn<const T extends string>(given: unknown, name: string, words: readonly T[]): T | null {
  const text = textIn(given, name);
  const word = words.find((one) => one === text);
  if (text === null || word !== undefined) return word ?? null;
  throw new AppError('usage', `"${name}" can be ${words.join(', ')}`);
}

export function listOf(given: unknown, name: string): string[] {
  const parts = (textIn(given, name) ?? '').split(',').map((part) => part.trim());
  return [...new Set(parts)].filter((part) => part !== '');
}

export function zoneOf(given: unknown, name: string): string | null {
  const text = textIn(given, name);
  try {
    return text && new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch (cause) {
    throw new AppError('usage', `"${text}" is no time zone`, {
      hint: 'Give one such as UTC or Europe/Berlin.',
      cause,
    });
  }
}

export function isOn(given: unknown, name: string): boolean {
  return Reflect.get(Object(given), name) === true;
}

export function idOf({ params }: Pick<FastifyRequest, 'params'>): number {
  return required(numberOf(params, 'id'), 'id');
}

export function required<T>(value: T | null, name: string): T {
  if (value !== null) return value;
  throw new AppError('usage', `"${name}" is missing`);
}
