import { createHmac } from 'node:crypto';
import { isLongNumber, parseJson } from '../base/json.ts';
import { replaceAddresses, soleAddress } from './addresses.ts';
import { emailKey } from './email.ts';

/** Pseudonyms that stay the same for a person as long as the key does. */
export interface Redactor {
  email(email: string): string;
  /** The pseudonym of the person with this e-mail. Without an e-mail the name identifies the person. */
  name(name: string, email: string | null): string;
  /** A pseudonym from any key that stays the same for a person. */
  person(key: string): string;
  text(text: string): string;
  json(text: string, names: boolean): string;
  /** Something that is unique but may be made from what is hidden: a key the person chose, a digest of an e-mail. */
  key(key: string): string;
}

/** 64 bits: among ten million people the chance that any two share a pseudonym is one in 400,000. */
const DIGITS = 16;
/** Shown to a reader who pays by the letter; among 100,000 people the chance that any two share it is one in 50,000. */
const SHORT = 12;
/** Pseudonyms kept at hand, a few MB at most. */
const REMEMBERED = 50_000;

export function createRedactor(key: Uint8Array): Redactor {
  const known = new Map<string, string>();
  const digest = (text: string): string => {
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size >= REMEMBERED) known.clear();
    const made = createHmac('sha256', key).update(text).digest('hex').slice(0, DIGITS);
    known.set(text, made);
    return made;
  };
  const person = (email: string): string => digest(`email:${emailKey(soleAddress(email.trim()) ?? email)}`);
  const redactor: Redactor = {
    email: (email) => (HAS_NO_PERSON.test(email) ? email : `user-${person(email)}@redacted.invalid`),
    name: (name, email) => `Person ${email ? person(email) : digest(`name:${name.trim().toLowerCase()}`)}`,
    person: (key) => `Person ${digest(`person:${key}`).slice(0, SHORT)}`,
    text: (text) => replaceAddresses(text, redactor.email),
    json: (text, names) => redactJson(text, redactor, names),
    key: (text) => `key-${digest(`key:${text}`)}`,
  };
  return redactor;
}

/** A pseudonym of an address inside a text. */
export const PSEUDONYM = /user-[0-9a-f]{16}@redacted\.invalid/g;
/** Text that is a pseudonym already stays. People without an address do not share one pseudonym. */
const HAS_NO_PERSON = new RegExp(String.raw`^(?:${PSEUDONYM.source}|\s*)$`);

/** Replaces an address that has no pseudonym. */
const HIDDEN_ADDRESS = 'address@redacted.invalid';

/**
 * The text with every address in it hidden, for texts that the reader may have written: a pseudonym in the place of an address would tell
 * the reader whose it is. Pseudonyms that are in the text stay.
 */
export function hideAddresses(text: string): string {
  return replaceAddresses(text, (address) => (HAS_NO_PERSON.test(address) ? address : HIDDEN_ADDRESS));
}

/** Keys under which objects have the name and the address of a person. */
export const NAME_KEY =
  /^(full|first|last|given|family|middle|user|display|nick|author|creator|customer|contact)?[_\s-]?(name|alias)$/i;
export const EMAIL_KEY = /e-?mail/i;

/** Replacements for the e-mail, name and texts of a person. */
type Hider = Pick<Redactor, 'email' | 'name' | 'text'>;

/**
 * JSON text with the e-mails in its strings and keys hidden, and what stands under keys such as `name`. Where the whole is no person, `names`
 * is false: then its own name stays unless it has an e-mail, as that of a status does. A text that is no JSON is hidden as a text.
 */
export function redactJson(text: string, hider: Hider, names: boolean): string {
  const value = parsed(text);
  const holdsText = typeof value === 'string' || (typeof value === 'object' && value !== null);
  return holdsText ? JSON.stringify(redactValue(value, hider, names)) : hider.text(text);
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function redactValue(value: unknown, hider: Hider, names: boolean): unknown {
  if (typeof value === 'string') return hider.text(value);
  if (Array.isArray(value)) return value.map((item) => redactValue(item, hider, true));
  if (typeof value !== 'object' || value === null || isLongNumber(value)) return value;
  return redactMembers(value, hider, names);
}

/** Builds the object from a list of members, because a key may be `__proto__`. */
function redactMembers(object: object, hider: Hider, names: boolean): object {
  const members = Object.entries(object) as [string, unknown][];
  const found = members.find(([key, value]) => EMAIL_KEY.test(key) && typeof value === 'string')?.[1];
  const email = typeof found === 'string' && found !== '' ? found : null;
  return Object.fromEntries(
    members.map(([name, value]) => {
      // Some services list people by their addresses: `{"ann@example.com": 1}`.
      const key = hider.text(name);
      if (typeof value !== 'string' || value === '') return [key, redactValue(value, hider, true)];
      if (EMAIL_KEY.test(name)) return [key, hider.email(value)];
      if ((names || email !== null) && NAME_KEY.test(name)) return [key, hider.name(value, email)];
      return [key, hider.text(value)];
    }),
  );
}

/** Invisible characters: control, direction and zero-width signs, fillers, tags and selectors, in which sentences can be hidden. */
const UNSEEN = /(?!\n|\t|\u200d|\ufe0f)[\p{C}\p{Default_Ignorable_Code_Point}]/gu;
/** Emoji are joined and coloured by two of them; anywhere else those only split what is searched for. */
const LOOSE =
  /(?<!\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d|\u200d(?!\p{Extended_Pictographic})|(?<![\p{Emoji}])\ufe0f/gu;

/** A text from outside without the characters that a person cannot see. */
export function visible(text: string): string {
  return (
    text
      .replace(UNSEEN, '')
      .replace(LOOSE, '')
      .replace(/[\u2028\u2029]/g, '\n')
      // An empty sign of Braille.
      .replaceAll('\u2800', ' ')
  );
}
