import type { Db } from '../../db/open.ts';
import { ERASED, erasedText } from './words.ts';

/** Whether words that stood under the name of this user are to go. */
export type IsTheirs = (user: number) => boolean;

type Texts<K extends string> = Record<K, string>;
type Version<K extends string> = { n: number; creator_id: number | null } & Record<K, string | null>;

interface Left<K extends string> {
  /** The texts that the row itself may have. */
  words: Texts<K>;
  isChanged: boolean;
  /** Whether a text is one of theirs. */
  isOfTheirs(text: string): boolean;
}

/**
 * Takes the words of people out of the history of a row, and returns what is left of the row's own texts. A text belongs to a person once
 * it has stood under their name, even if the service later gives the row to somebody else. Where the author of an old version is not
 * known, the author of the next known version counts.
 */
export function historyEraser<K extends string>(db: Db, subject: 'post' | 'comment', names: readonly K[]) {
  const versions = db.prepare<[number], Version<K>>(`
    SELECT n, creator_id, ${names.join(', ')} FROM ${subject}_versions WHERE ${subject}_id = ? ORDER BY n DESC`);
  const write = db.prepare(`
    UPDATE ${subject}_versions SET ${names.map((name) => `${name} = $${name}`).join(', ')} WHERE n = $n`);
  return (id: number, row: { creator_id: number } & Texts<K>, isTheirs: IsTheirs): Left<K> => {
    const past = versions.all(id);
    const isHers = filled(
      row.creator_id,
      past.map(({ creator_id }) => creator_id),
    ).map(isTheirs);
    const theirs = new Set<string>();
    const columns = names.map((name) => {
      const shown = filled<string>(
        row[name],
        past.map((version) => version[name]),
      );
      return [name, withoutTheirs(shown, isHers, theirs)] as const;
    });
    const stored = past.map((version, i) => ({
      ...version,
      ...Object.fromEntries(columns.map(([name, texts]) => [name, unlessNext(texts, i + 1)])),
    }));
    const changed = stored.filter((version, i) => names.some((name) => version[name] !== past[i]?.[name]));
    for (const { creator_id: _, ...version } of changed) write.run(version);
    return {
      words: Object.fromEntries(columns.map(([name, texts]) => [name, texts[0]])) as Texts<K>,
      isChanged: changed.length > 0,
      isOfTheirs: (text) => theirs.has(text),
    };
  };
}

/** The versions from the newest on. A text that a version lacks is that of the next newer version. */
function filled<T>(newest: T, older: readonly (T | null)[]): T[] {
  const all = [newest];
  for (const value of older) all.push(value ?? (all.at(-1) as T));
  return all;
}

/** From the newest on, as they are given. */
function withoutTheirs(
  shown: readonly string[],
  isTheirs: readonly boolean[],
  theirs: Set<string>,
): string[] {
  const own = new Set<string>();
  const left = shown.toReversed().map((text, i) => {
    if (isTheirs.at(-1 - i)) own.add(text);
    return own.has(text) ? erasedText(text) : text;
  });
  for (const text of own) if (text !== '' && text !== ERASED) theirs.add(text);
  return left.toReversed();
}

/** A version holds a text only where the next version has another one. */
function unlessNext(texts: readonly string[], i: number): string | null {
  return texts[i] === texts[i - 1] ? null : (texts[i] ?? null);
}
