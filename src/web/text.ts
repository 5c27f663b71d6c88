/** A piece of two texts: in both, only in the old one, or only in the new one. */
interface Piece {
  kind: 'same' | 'gone' | 'new';
  text: string;
}

/** Beyond this many comparisons the middle is shown as replaced whole, which reads as well as a thousand scattered words. */
const MOST_CELLS = 1_000_000;

/** The difference of two texts, by words. The longest sequence of words in both texts is `same`. `same` with `gone` is the old text, `same` with `new` the new one. */
export function differences(from: string, to: string): Piece[] {
  const [old, fresh] = [wordsOf(from), wordsOf(to)];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < Math.min(old.length, fresh.length) - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  const middle = compare(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end));
  const pieces: Piece[] = [
    { kind: 'same', text: old.slice(0, start).join('') },
    ...middle,
    { kind: 'same', text: old.slice(old.length - end).join('') },
  ];
  return joined(pieces);
}

/** Words and what stands between them, so that nothing is lost. */
function wordsOf(text: string): string[] {
  return text.match(/\s+|[^\s]+/g) ?? [];
}

function compare(old: readonly string[], fresh: readonly string[]): Piece[] {
  if (old.length * fresh.length > MOST_CELLS)
    return [
      { kind: 'gone', text: old.join('') },
      { kind: 'new', text: fresh.join('') },
    ];
  const width = fresh.length + 1;
  // How many words the ends of both texts share, from each pair of places on.
  const shared = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number): number => shared[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      shared[i * width + j] =
        old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const pieces: Piece[] = [];
  for (let [i, j] = [0, 0]; i < old.length || j < fresh.length; ) {
    const [was, is] = [old[i], fresh[j]];
    if (was !== undefined && was === is) pieces.push({ kind: 'same', text: was });
    const isGone = was !== is && was !== undefined && (is === undefined || at(i + 1, j) >= at(i, j + 1));
    if (isGone) pieces.push({ kind: 'gone', text: was });
    else if (was !== is && is !== undefined) pieces.push({ kind: 'new', text: is });
    if (was === is || isGone) i++;
    if (was === is || !isGone) j++;
  }
  return pieces;
}

function joined(pieces: readonly Piece[]): Piece[] {
  const result: Piece[] = [];
  for (const { kind, text } of pieces) {
    const last = result.at(-1);
    if (text === '') continue;
    if (last?.kind === kind) last.text += text;
    else result.push({ kind, text });
  }
  return result;
}

/** A piece of a text that somebody wrote; `href` where it is an address of the web. */
interface Linked {
  text: string;
  href: string | null;
}

/** Web addresses in a text. Only http and https become links, whatever else the upstream sends stays text. */
export function linksIn(text: string): Linked[] {
  const pieces: Linked[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(/\bhttps?:\/\/[^\s<>"]+/gi)) {
    const address = withoutPunctuation(found);
    const href = URL.parse(address)?.href ?? null;
    if (href === null) continue;
    if (index > end) pieces.push({ text: text.slice(end, index), href: null });
    pieces.push({ text: address, href });
    end = index + address.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), href: null });
  return pieces;
}

/** A sentence may end with an address, and brackets may stand around one; a bracket that opens within it closes within it. */
function withoutPunctuation(address: string): string {
  const shorter = address.replace(/[.,;:!?'*_]+$/, '');
  const isOutside = shorter.endsWith(')') && shorter.split(')').length > shorter.split('(').length;
  if (!isOutside && shorter === address) return address;
  return withoutPunctuation(isOutside ? shorter.slice(0, -1) : shorter);
}

/** The beginning of a text, cut at the end of a word. A word that is longer than all of it is cut inside. */
export function excerpt(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
  const atWord = /\s/.test(text.charAt(cut.length)) ? cut : cut.replace(/\s+\S*$/, '');
  return `${atWord.replace(/[\s.,;:–-]+$/, '')}…`;
}
