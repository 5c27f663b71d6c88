import { hash } from 'node:crypto';
import { plainForm } from '../../base/text.ts';
import { newClaims } from '../../store/outbox/source.ts';
import type { NewRow } from '../../store/outbox/types.ts';
import { LAYOUTS } from './layouts.ts';
import type { AcceptedRow } from './rows.ts';

type Keyed = Pick<AcceptedRow, 'key' | 'post'> &
  Partial<Pick<AcceptedRow, 'writtenBoard' | 'toolKey' | 'cells'>>;

/**
 * What a row is known by, so that importing a file again finds the rows it has already brought. The person's own key
 * when there is one; else the content, told apart from equal rows by its count in the file, starting at 1.
 */
export function sourceKey(row: Keyed, occurrence: number): string {
  return row.key === null ? contentKey(contentDigest(row), occurrence) : `key:${row.key}`;
}

function contentDigest({ post, writtenBoard = post.board }: Keyed): Buffer {
  const { title, content, email, full_name } = post;
  const text = [title, content, email, full_name].map((part) => part && plainForm(part));
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
export type Identity = Pick<NewRow, 'source_key' | 'former_keys' | 'claims' | 'cells'>;

const TOOLS: ReadonlySet<string> = new Set(LAYOUTS.map(({ id }) => id));

/** Those of the rows of one file in their order; whether it has a column of keys. It remembers them: about 25 MB for a million. */
export function identities(hasKeys: boolean): (row: Keyed) => Identity {
  const seen = new Occurrences();
  const claims = newClaims({ hasKeys, tools: TOOLS });
  return (row) => {
    const digest = row.key === null ? contentDigest(row) : null;
    const source_key = digest ? contentKey(digest, seen.count(digest)) : sourceKey(row, 1);
    // Where the column of a tool was recognised, an earlier version took its bare ids for keys.
    const former = row.toolKey === undefined ? {} : { former_keys: [`key:${row.toolKey}`] };
    return { source_key, claims, ...(row.key !== null && row.cells && { cells: row.cells }), ...former };
  };
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
