import { hash } from 'node:crypto';
import { inert, unguarded } from '../../../text/csv.ts';
import { plainForm } from '../../../text/text.ts';
import type { NewRow } from '../../decide/types.ts';
import { contentHash } from '../../send/match.ts';
import { newClaims } from '../../store/source.ts';
import { LAYOUTS } from './layouts.ts';
import type { AcceptedRow } from './rows.ts';

type Keyed = Pick<AcceptedRow, 'key' | 'post'> &
  Partial<Pick<AcceptedRow, 'writtenBoard' | 'toolKey' | 'cells'>>;

/**
 * What a row is known by, so that importing a file again finds the rows it has already brought. The person's own key
 * when there is one; else the content, told apart from equal rows by its count in the file, starting at 1.
 */
export function sourceKey(row: Keyed, occurrence: number): string {
  return row.key === null ? contentKey(contentDigest(row), occurrence) : `key:${unguarded(row.key)}`;
}

function contentDigest({ post, writtenBoard = post.board }: Keyed): Buffer {
  const { title, content, email, full_name } = post;
  const text = [title, content, email, full_name].map((part) => part && plainForm(unguarded(part)));
  return digestOf([plainForm(writtenBoard).toLowerCase(), ...text]);
}

/** Each part goes in with its length, so that text moved from one field to the next is another row. */
function digestOf(parts: readonly (string | null)[]): Buffer {
  const text = parts.map((part) => (part === null ? '-' : `${part.length}:${part}`));
  return hash('sha256', text.join(''), 'buffer');
}

function contentKey(digest: Buffer, occurrence: number): string {
  return `row:${digest.toString('base64url')}:${occurrence}`;
}

/** By what a row is found again, besides its words. */
export type Identity = Pick<NewRow, 'source_key' | 'former_keys' | 'claims' | 'cells' | 'other_hashes'>;

const TOOLS: ReadonlySet<string> = new Set(LAYOUTS.map(({ id }) => id));

/** The other short names of a board, of before it was renamed and of now. */
export type OtherSlugs = (board: string) => readonly string[];

/** Those of the rows of one file in their order; whether it has a column of keys. It remembers them: about 25 MB for a million. */
export function identities(hasKeys: boolean, otherSlugs: OtherSlugs = () => []): (row: Keyed) => Identity {
  const seen = new Occurrences();
  const claims = newClaims({ hasKeys, tools: TOOLS });
  // A file has few boards and many rows.
  const slugs = new Map<string, readonly string[]>();
  const slugsOf: OtherSlugs = (board) => {
    const known = slugs.get(board) ?? otherSlugs(board);
    if (slugs.size < 10_000) slugs.set(board, known);
    return known;
  };
  return (row) => {
    const digest = row.key === null ? contentDigest(row) : null;
    const source_key = digest ? contentKey(digest, seen.count(digest)) : sourceKey(row, 1);
    const former = formerKeys(row).filter((key) => key !== source_key);
    const other = otherHashes(row.post, slugsOf(row.post.board));
    return {
      source_key,
      claims,
      ...(row.key !== null && row.cells && { cells: row.cells }),
      ...(former.length > 0 && { former_keys: former }),
      ...(other.length > 0 && { other_hashes: other }),
    };
  };
}

/** Earlier versions took the bare ids of a tool for keys, and keys with the apostrophe that guards against formulas. */
function formerKeys({ key, toolKey }: Keyed): string[] {
  return [toolKey, key].flatMap((former) => (former == null ? [] : [`key:${former}`]));
}

/** Those of the same words under the board's other names, with and without that apostrophe. Most rows have none. */
function otherHashes(post: Keyed['post'], slugs: readonly string[]): string[] {
  const { title, content } = post;
  const isGuarded = inert(title) !== title || inert(content) !== content;
  if (slugs.length === 0 && !isGuarded) return [];
  const plain = { title: unguarded(title), content: unguarded(content) };
  const texts = [{ title, content }, plain, { title: inert(plain.title), content: inert(plain.content) }];
  const hashes = [post.board, ...slugs].flatMap((board) =>
    texts.map((text) => contentHash({ board, ...text })),
  );
  return [...new Set(hashes)].filter((hash) => hash !== contentHash(post));
}

/** Two words of a digest and how often it was met. */
const STRIDE = 3;
const FIRST_PLACES = 1024;
const FULL = 0.75;

/**
 * Counts digests in one flat table of 12 bytes each. A Map of a million of them took six times as much, and twice that while it
 * grew. 64 bits are kept: two rows of a million share them once in ten million files, and are then only numbered oddly.
 */
export class Occurrences {
  #words = new Uint32Array(FIRST_PLACES * STRIDE);
  /** A power of two. */
  #places = FIRST_PLACES;
  #used = 0;

  /** How often this digest was met, this time included. */
  count(digest: Uint8Array): number {
    const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength);
    // A first word of zero marks an empty place.
    const [a, b] = [view.getUint32(0) || 1, view.getUint32(4)];
    const at = this.#placeOf(a, b);
    const seen = (this.#words[at + 2] ?? 0) + 1;
    this.#put(at, a, b, seen);
    if (seen === 1 && ++this.#used > this.#places * FULL) this.#grow();
    return seen;
  }

  /** Where this digest stands, or the empty place where it belongs. */
  #placeOf(a: number, b: number): number {
    const words = this.#words;
    let place = a & (this.#places - 1);
    for (;;) {
      const at = place * STRIDE;
      if (words[at] === 0 || (words[at] === a && words[at + 1] === b)) return at;
      place = (place + 1) & (this.#places - 1);
    }
  }

  #put(at: number, a: number, b: number, seen: number): void {
    this.#words[at] = a;
    this.#words[at + 1] = b;
    this.#words[at + 2] = seen;
  }

  #grow(): void {
    const old = this.#words;
    this.#places *= 2;
    this.#words = new Uint32Array(this.#places * STRIDE);
    for (let from = 0; from < old.length; from += STRIDE) {
      const [a = 0, b = 0, seen = 0] = [old[from], old[from + 1], old[from + 2]];
      if (a !== 0) this.#put(this.#placeOf(a, b), a, b, seen);
    }
  }
}
