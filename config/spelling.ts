import { nearest } from '../src/text/text.ts';
import { SETTINGS, type Setting } from './schema.ts';

type Values = Readonly<Record<string, string | undefined>>;

function variableNames({ env, secret }: Pick<Setting<unknown>, 'env' | 'secret'>): string[] {
  return secret ? [env, `${env}_FILE`] : [env];
}

export const KNOWN: ReadonlySet<string> = new Set(Object.values(SETTINGS).flatMap(variableNames));

/** A hyphen or a dot between the words is an underscore that was meant. */
const underscored = (name: string): string => name.replaceAll(/[-.]/g, '_').toUpperCase();
const lettersOf = (name: string): string => underscored(name).replaceAll('_', '');
const firstWord = (name: string): string => underscored(name).slice(0, underscored(name).indexOf('_') + 1);
const BY_LETTERS = new Map([...KNOWN].map((name) => [lettersOf(name), name]));

/** The first words of settings, each with its underscore. Other programs use some of them too. */
export const FIRST_WORDS: ReadonlySet<string> = new Set([...KNOWN].map(firstWord).filter(Boolean));
const beginsAsOurs = (name: string): boolean => FIRST_WORDS.has(firstWord(name));

/**
 * Names of others with such a beginning: those of the tests, what Kubernetes and Docker tell of a service by our name (its addresses and
 * ports), and those that a standard gives to all programs.
 */
export const OTHERS = /^(FEEDBACK_(TEST|MIRROR)_|OTEL_|HTTP_PROXY$)/;

/** More edits than this and the name is more likely another program's. */
const MOST_EDITS = 2;

/** The setting that was meant, however its words were put together; null where the name is likely another program's. */
function meant(name: string): string | null {
  const same = BY_LETTERS.get(lettersOf(name));
  if (same !== undefined || !beginsAsOurs(name)) return same ?? null;
  const longer = [...KNOWN].find((known) => known.startsWith(`${underscored(name)}_`));
  return nearest(underscored(name), [...KNOWN], MOST_EDITS) ?? longer ?? null;
}

/**
 * A misspelt name would be a setting that silently does nothing. What stands in `.env` is meant for us; in the environment a name such as
 * LOGLEVEL may be another program's, so only those that begin as ours are refused there.
 */
export function misspelt(env: Values, dotenv: Values): string[] {
  const names = new Set([...Object.keys(dotenv), ...Object.keys(env).filter(beginsAsOurs)]);
  return [...names].flatMap((name) => {
    if (KNOWN.has(name)) return [];
    const near = meant(name);
    if (near !== null) return [`${name} is not a setting: did you mean ${near}?`];
    const own = [...KNOWN].filter((known) => known.startsWith('FEEDBACK_')).join(', ');
    return name.startsWith('FEEDBACK_') && !OTHERS.test(name)
      ? [`${name} is not a setting; those with this beginning are ${own}`]
      : [];
  });
}

interface Unknown {
  name: string;
  near: string | null;
}

/** Names of the environment with the letters of a setting. Another program may mean them, so they stop nothing and are told of. */
export function spelledApart(env: Values): Unknown[] {
  return Object.keys(env)
    .filter((name) => !KNOWN.has(name) && !beginsAsOurs(name) && meant(name) !== null)
    .map((name) => ({ name, near: meant(name) }));
}

/** Those, and whatever begins as ours and is none; `doctor` asks about them. */
export function unknownSettings(env: Values, dotenv: Values): Unknown[] {
  const names = Object.keys({ ...dotenv, ...env }).filter(
    (name) => beginsAsOurs(name) && !KNOWN.has(name) && !OTHERS.test(name),
  );
  return [...spelledApart(env), ...names.map((name) => ({ name, near: nearest(name, [...KNOWN]) }))];
}

/** Lines of a `.env` that name a setting and give it nothing: Node passes over what has no equals sign. */
export function unassigned(dotenv: string): string[] {
  return dotenv.split(/\r?\n/).flatMap((line, i) => {
    const name = /^\s*(?:export\s+)?(\w+)/.exec(line)?.[1] ?? '';
    return KNOWN.has(name) && !line.includes('=')
      ? [`line ${i + 1} of .env names ${name} without an equals sign: write ${name}=value`]
      : [];
  });
}
