import { nearest } from '../src/text/text.ts';
import { SETTINGS, type Setting } from './schema.ts';

type Values = Readonly<Record<string, string | undefined>>;

function variableNames({ env, secret }: Pick<Setting<unknown>, 'env' | 'secret'>): string[] {
  return secret ? [env, `${env}_FILE`] : [env];
}

export const SETTING_NAMES: ReadonlySet<string> = new Set(Object.values(SETTINGS).flatMap(variableNames));

const lettersOf = (name: string): string => name.replaceAll(/[-._]/g, '').toUpperCase();
const firstWord = (name: string): string => /^[^-._]+[-._]/.exec(name)?.[0].toUpperCase().slice(0, -1) ?? '';
const BY_LETTERS = new Map([...SETTING_NAMES].map((name) => [lettersOf(name), name]));

/** The first words of settings. Other programs use some of them too. */
export const FIRST_WORDS: ReadonlySet<string> = new Set([...SETTING_NAMES].map(firstWord).filter(Boolean));

/**
 * Names of others with such a beginning: those of the tests, what Kubernetes and Docker tell of a service by our name (its addresses and
 * ports), and those that a standard gives to all programs.
 */
export const NAMES_OF_OTHER_PROGRAMS = /^(FEEDBACK_(TEST|MIRROR)_|OTEL_|HTTP_PROXY$)/;

/** More edits than this and the name is more likely another program's. */
const MOST_EDITS = 2;

/** A name that looks like one of ours, and is no setting. */
export interface UnknownName {
  name: string;
  /** The setting that was meant; null where none is near. */
  near: string | null;
  /** The program does not start with it: it would be a setting that silently does nothing. Another program may mean the rest. */
  isRefused: boolean;
}

/** A name without a first word of ours must have all letters of a setting. What stands in `.env` is meant for us. */
export function unknownNames(env: Values, dotenv: Values): UnknownName[] {
  const names = Object.keys({ ...dotenv, ...env }).filter(
    (name) => !SETTING_NAMES.has(name) && !NAMES_OF_OTHER_PROGRAMS.test(name),
  );
  return names.flatMap((name) => {
    const isOurs = FIRST_WORDS.has(firstWord(name));
    const letters = nearest(lettersOf(name), [...BY_LETTERS.keys()], isOurs ? MOST_EDITS : 0);
    const near = BY_LETTERS.get(letters ?? '') ?? null;
    if (near === null && !isOurs) return [];
    const isRefused = near === null ? name.startsWith('FEEDBACK_') : isOurs || name in dotenv;
    return [{ name, near, isRefused }];
  });
}

export function refusalOf({ name, near }: UnknownName): string {
  const own = [...SETTING_NAMES].filter((known) => known.startsWith('FEEDBACK_')).join(', ');
  return `${name} is not a setting${near === null ? `; those with this beginning are ${own}` : `: did you mean ${near}?`}`;
}
