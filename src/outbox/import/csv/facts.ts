import { isAddress } from '../../../text/email.ts';
import { foldedName } from '../../../text/text.ts';
import { wordsOf } from './vocabulary.ts';

/** A column as its header and its first values show it. */
export interface Column {
  /** What tells it from the others (`distinctNames`). */
  header: string;
  /** The header of the file as `foldedName` spells it. */
  name: string;
  words: readonly string[];
  /** What most of its values are. */
  kind: Kind;
  /** Most rows have no value there. */
  isSparse: boolean;
  /** How many different values it has. */
  distinct: number;
}

/**
 * What at least half of the values of a column are; the first of these that holds. `nothing` is a file without rows, `blank` a column
 * without values. Three values or more of which half repeat another one are labels, whatever they say.
 */
export const KINDS = [
  'nothing',
  'blank',
  'addresses',
  'links',
  'times',
  'numbers',
  'ids',
  'labels',
  'names',
  'sentences',
  'phrases',
  'terms',
  'words',
] as const;
export type Kind = (typeof KINDS)[number];

export function columnOf(header: string, index: number, sample: readonly (readonly string[])[]): Column {
  const values = sample.map((cells) => cells[index]?.trim() ?? '').filter((value) => value !== '');
  const isBlank = sample.length > 0 && values.length === 0;
  const kind = isBlank ? 'blank' : (KINDS.find((each) => IS_KIND[each](values)) ?? 'words');
  const isSparse = values.length * 2 < sample.length;
  const distinct = new Set(values).size;
  return { header, name: foldedName(header), words: wordsOf(header), kind, isSparse, distinct };
}

const mostly =
  (test: (value: string) => boolean) =>
  (values: readonly string[]): boolean =>
    values.filter(test).length * 2 >= values.length;

const IS_KIND: Record<Kind, (values: readonly string[]) => boolean> = {
  nothing: (values) => values.length === 0,
  blank: () => false,
  // Alone, or as `Ann Lee <ann@example.org>`.
  addresses: mostly((value) => isAddress(/^[^<]*<([^<>]*)>\s*$/.exec(value)?.[1] ?? value)),
  links: mostly((value) => /^(https?:\/\/|www\.)\S+$/i.test(value)),
  times: mostly((value) => TIMES.some((time) => time.test(value))),
  numbers: mostly((value) => /^[-+]?[$€£¥]?\s?[\d.,\s]+\s?(%|[$€£¥]|[A-Z]{3})?$/.test(value)),
  // One word with a digit in it: FB-12, 64f0a1, #31.
  ids: mostly((value) => /^#?(?=\S*\d)[\p{L}\p{N}_.:/-]+$/u.test(value) && !/\p{Lo}/u.test(value)),
  labels: (values) => values.length >= 3 && new Set(values).size * 2 <= values.length,
  names: holdsNames,
  sentences: mostly(isProse),
  phrases: mostly((value) => wordCount(value) >= 3),
  terms: mostly((value) => wordCount(value) === 2),
  words: () => true,
};

const TIMES = [
  /^\d{4}\s?[-/.年]\s?(\d{1,2}|\p{L}{3,9}\.?)\s?[-/.月]\s?\d{1,2}日?(?=$|[\sT,(])/u,
  /^\d{1,2}[-/.](\d{1,2}|\p{L}{3,9}\.?)[-/.](\d{2}|\d{4})(?=$|[\sT,(])/u,
  /^(\p{L}{2,9}\.?,? )?\p{L}{3,9}\.? \d{1,2},? \d{4}(?=$|[\s,])/u,
  /^(\p{L}{2,9}\.?,? )?\d{1,2}\.? (de )?\p{L}{3,10}\.? (de )?\d{4}(?=$|[\s,])/u,
  /^\d{1,2}:\d{2}(:\d{2})?( ?[ap]m)?$/i,
  /^(\d+ ?(s|sec|m|min|h|hours?|d|days?|w|weeks?|months?|years?) ?)+( ago)?$/i,
];

/** Languages without spaces have a word in about two letters. */
function wordCount(value: string): number {
  const letters = value.match(/\p{Lo}/gu)?.length ?? 0;
  return value.split(/\s+/).length + Math.floor(letters / 3);
}

/** Sentences, as people do not write them into a label; code and addresses of pages are none. */
function isProse(value: string): boolean {
  return /^[\p{L}"'“«¿¡(「]/u.test(value) && (value.split(/\s+/).length >= 6 || /\p{Lo}{20}/u.test(value));
}

const PARTICLE = /^(?:van|von|zu|de|da|di|del|della|der|den|dos|das|la|le|bin|ibn|al|el|y|e|und|and|&)$/;
const NAME_WORD = /^(?:[\p{Lu}][\p{L}\p{M}'’.-]*)$/u;

/** Half of those with several words are names; of single words nothing can be told. */
function holdsNames(values: readonly string[]): boolean {
  const named = values.map((value) =>
    value.split(/[\s,]+/).filter((word) => word !== '' && !PARTICLE.test(word)),
  );
  const several = named.filter((words) => words.length > 1);
  return several.length > 0 && several.filter(looksLikeName).length * 2 >= several.length;
}

/** Two to four words that each begin with a capital: "Ada Lovelace", but also "Dark Mode", so a person is asked. */
function looksLikeName(words: readonly string[]): boolean {
  if (words.length > 4 || !words.every((word) => NAME_WORD.test(word))) return false;
  const isAcronym = (word: string): boolean => /^\p{Lu}{2,4}$/u.test(word);
  return words.every(isAcronym) || !words.some(isAcronym);
}
