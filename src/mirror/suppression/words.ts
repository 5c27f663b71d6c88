import { isDeepStrictEqual } from 'node:util';
import { isLongNumber, parseJson } from '../../base/json.ts';
import { canonicalJson } from '../../contract/json.ts';
import { replaceAddresses } from '../../text/addresses.ts';
import { EMAIL_KEY, NAME_KEY } from '../../text/redact.ts';

/** Replaces the erased words of a person. */
export const ERASED = '[erased]';

/** An empty text stays empty. */
export function erasedText(text: string): string {
  return text === '' ? '' : ERASED;
}

/**
 * The sign inside anything that can be an address, also as it stands in a link, with what stands before and after it. The first part
 * is taken widely, and both no longer than an address can be: a hostile text is a long word, and read from each of its letters.
 */
const AT =
  /(?<=([\p{L}\p{M}\p{N}.!#$&'*+/=?^_`{|}~-]{1,128}))(?:@|%40)(?=([\p{L}\p{M}\p{N}.-]{0,254}[\p{L}\p{M}\p{N}]))/gu;
/** Signs that more often surround an address than belong to it. */
const LOOSE = /^.*[!#$&'*/=?^`{|}~]/su;
const LEADING = /^[._+-]+/u;

/**
 * Every address of a text for which `isMeant` holds is replaced, also in the spellings that exports are redacted in; a longer address that
 * merely ends like one of them is another.
 */
export function withoutMeantAddresses(text: string, isMeant: (email: string) => boolean): string {
  return replaceAddresses(withoutPlainAddresses(text, isMeant), (address, written) =>
    isMeant(address) ? ERASED : written,
  );
}

/** Of an address in plain letters more than one beginning is tried, as signs before it may belong to it or not; it may also have no dot. */
function withoutPlainAddresses(text: string, isMeant: (email: string) => boolean): string {
  if (!text.includes('@') && !text.includes('%40')) return text;
  let kept = '';
  let from = 0;
  for (const { index, 0: at, 1: local = '', 2: domain = '' } of text.matchAll(AT)) {
    const meant = formsOf(local).find((form) => index - form.length >= from && isMeant(`${form}@${domain}`));
    if (meant === undefined) continue;
    kept += text.slice(from, index - meant.length) + ERASED;
    from = index + at.length + domain.length;
  }
  return from === 0 ? text : kept + text.slice(from);
}

/** The first part of an address as the text has it, without the characters around it. */
function formsOf(local: string): string[] {
  const tight = local.replace(LOOSE, '');
  return [...new Set([local, tight, tight.replace(LEADING, '')])].filter((form) => form !== '');
}

export type Scrubber = ReturnType<typeof scrubber>;

/** Takes addresses out of what other people wrote and, in JSON, the names that stand beside one, or beside the number of a user. */
export function scrubber(isMeant: (email: string) => boolean, isUser: (id: number) => boolean = () => false) {
  const text = (given: string): string => withoutMeantAddresses(given, isMeant);
  const value = (given: unknown, isTop = false): unknown => {
    if (typeof given === 'string') return text(given);
    if (Array.isArray(given)) return given.map((item) => value(item));
    if (typeof given !== 'object' || given === null || isLongNumber(given)) return given;
    const members = Object.entries(given) as [string, unknown][];
    // The whole is no user: the number at the top of a status is the status's own.
    const isPerson = hasAddress(members) || (!isTop && hasNumber(members));
    return Object.fromEntries(
      members.map(([key, item]) => {
        const isName = isPerson && typeof item === 'string' && NAME_KEY.test(key);
        return [text(key), isName ? erasedText(item) : value(item)];
      }),
    );
  };
  const hasAddress = (members: readonly [string, unknown][]): boolean =>
    members.some(([key, item]) => EMAIL_KEY.test(key) && typeof item === 'string' && text(item) !== item);
  /** Other things have numbers too: a user is told by a name or an address beside it. */
  const hasNumber = (members: readonly [string, unknown][]): boolean =>
    members.some(([key, item]) => key === 'id' && typeof item === 'number' && isUser(item)) &&
    members.some(([key]) => NAME_KEY.test(key) || EMAIL_KEY.test(key));
  /** Inside JSON the signs before an address may be escaped, so the values are looked at, not their spelling. */
  const json = (given: string): string => {
    const parsed = parseJson(given);
    const scrubbed = value(parsed, true);
    return isDeepStrictEqual(parsed, scrubbed) ? given : canonicalJson(scrubbed);
  };
  /** What a link asks for is looked at as its page reads it: there a plus is a space, and encoded it is a plus. */
  const link = (given: string): string => {
    const at = given.indexOf('?') + 1;
    const asked = at === 0 ? [] : [...new URLSearchParams(given.slice(at))];
    const scrubbed = asked.map(([key, item]): [string, string] => [text(key), text(item)]);
    return text(
      isDeepStrictEqual(asked, scrubbed) ? given : given.slice(0, at) + new URLSearchParams(scrubbed),
    );
  };
  return {
    text,
    json,
    link,
    /** A copy of a row in which these texts, these with JSON, and these links are scrubbed. */
    row<T extends object>(
      given: T,
      texts: readonly (keyof T & string)[],
      jsons: readonly (keyof T & string)[] = [],
      links: readonly (keyof T & string)[] = [],
    ): T {
      const scrubbed = { ...given } as Record<string, unknown>;
      for (const [names, scrub] of [
        [texts, text],
        [jsons, json],
        [links, link],
      ] as const)
        for (const name of names)
          if (typeof scrubbed[name] === 'string') scrubbed[name] = scrub(scrubbed[name]);
      return scrubbed as T;
    },
  };
}
