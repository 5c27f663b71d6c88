/** As the full-text index takes a text apart: small letters and digits without their marks. */
export function wordsOf(text: string): Set<string> {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return new Set(plain.match(/[\p{L}\p{N}]+/gu));
}

/** 1 for the same words, 0 for none in common; counted in letters, because small words are in every title. */
export function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const letters = (words: Iterable<string>): number => [...words].reduce((sum, word) => sum + word.length, 0);
  const all = letters(a) + letters(b);
  return all === 0 ? 0 : (2 * letters([...a].filter((word) => b.has(word)))) / all;
}
