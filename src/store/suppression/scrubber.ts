import { canonicalJson } from '../../contract/json.ts';
import { mayHoldAddress, withoutAddresses } from './words.ts';

/** Takes addresses out of what other people wrote. */
export interface Scrubber {
  text(text: string): string;
  /** Inside JSON the signs before an address may be escaped, so the values are looked at, not their spelling. */
  json<T extends string | null>(text: T): T;
}

export function scrubber(isMeant: (email: string) => boolean): Scrubber {
  const text = (given: string): string => withoutAddresses(given, isMeant);
  const value = (given: unknown): unknown => {
    if (typeof given === 'string') return text(given);
    if (Array.isArray(given)) return given.map(value);
    if (typeof given !== 'object' || given === null) return given;
    return Object.fromEntries(Object.entries(given).map(([key, item]) => [text(key), value(item)]));
  };
  return {
    text,
    json: <T extends string | null>(given: T): T =>
      (given === null || !mayHoldAddress(given) ? given : canonicalJson(value(JSON.parse(given)))) as T,
  };
}
