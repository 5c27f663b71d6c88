import { createHmac } from 'node:crypto';
import { replaceAddresses, soleAddress } from './addresses.ts';
import { emailKey } from './email.ts';

/** Pseudonyms that stay the same for a person as long as the key does. */
export interface Redactor {
  email(email: string): string;
  /** Of the person with this e-mail; where there is none the name itself has to tell people apart. */
  name(name: string, email: string | null): string;
  /** Of somebody who is known by anything that stays the same. */
  person(key: string): string;
  /** The text with every e-mail address in it replaced. */
  text(text: string): string;
  /** JSON text with the e-mails in its strings and keys replaced and, if so asked, what stands under keys such as `name`. */
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
    json: (text, names) => JSON.stringify(redactValue(JSON.parse(text), redactor, names)),
    key: (text) => `key-${digest(`key:${text}`)}`,
  };
  return redactor;
}

/** What stands in a text for an address. */
export const PSEUDONYM = /user-[0-9a-f]{16}@redacted\.invalid/g;
/** What was replaced already stays as it is, however many hands it goes through; people without an address are not one person. */
const HAS_NO_PERSON = new RegExp(String.raw`^(?:${PSEUDONYM.source}|\s*)$`);

const NAME_KEY =
  /^(full|first|last|given|family|middle|user|display|nick|author|creator|customer|contact)?[_\s-]?(name|alias)$/i;
const EMAIL_KEY = /e-?mail/i;

function redactValue(value: unknown, redactor: Redactor, names: boolean): unknown {
  if (typeof value === 'string') return redactor.text(value);
  if (Array.isArray(value)) return value.map((item) => redactValue(item, redactor, names));
  if (typeof value === 'object' && value !== null) return redactMembers(value, redactor, names);
  return value;
}

/** As a list of members, not one by one: a key may be `__proto__`. */
function redactMembers(object: object, redactor: Redactor, names: boolean): object {
  const members = Object.entries(object) as [string, unknown][];
  const email = members.find(([key, value]) => EMAIL_KEY.test(key) && typeof value === 'string')?.[1];
  return Object.fromEntries(
    members.map(([name, value]) => {
      // Some services list people by their addresses: `{"ann@example.com": 1}`.
      const key = redactor.text(name);
      if (typeof value !== 'string' || value === '') return [key, redactValue(value, redactor, names)];
      if (EMAIL_KEY.test(name)) return [key, redactor.email(value)];
      if (names && NAME_KEY.test(name))
        return [key, redactor.name(value, typeof email === 'string' ? email : null)];
      return [key, redactor.text(value)];
    }),
  );
}

/** What nobody sees on a screen: control, direction and zero-width signs, fillers, tags and selectors, in which sentences can be hidden. */
const UNSEEN = /(?!\n|\t|\u200d|\ufe0f)[\p{C}\p{Default_Ignorable_Code_Point}]/gu;
/** Emoji are joined and coloured by two of them; anywhere else those only split what is searched for. */
const LOOSE =
  /(?<!\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d|\u200d(?!\p{Extended_Pictographic})|(?<![\p{Emoji}])\ufe0f/gu;

/** A text of somebody else as a person would see it. */
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
