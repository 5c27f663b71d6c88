/** Three words of a digest and how often it was met. */
const STRIDE = 4;
const FULL = 0.75;

/**
 * Counts digests in one flat table of 16 bytes each. A Map of a million of them took five times as much, and twice that while
 * it grew. 96 bits are kept: that two rows of a million share them happens once in 10^17 files.
 */
export class Occurrences {
  #words = new Uint32Array(1024 * STRIDE);
  #used = 0;

  /** How often this digest was met, this time included. */
  count(digest: Uint8Array): number {
    const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength);
    // A first word of zero marks an empty place.
    const [a, b, c] = [view.getUint32(0) || 1, view.getUint32(4), view.getUint32(8)];
    const at = this.#place(this.#words, a, b, c);
    const seen = (this.#words[at + 3] ?? 0) + 1;
    this.#words.set([a, b, c, seen], at);
    if (seen === 1 && ++this.#used > (this.#words.length / STRIDE) * FULL) this.#grow();
    return seen;
  }

  /** Where this digest stands, or the empty place where it belongs. The length is a power of two. */
  #place(words: Uint32Array, a: number, b: number, c: number): number {
    const last = words.length - 1;
    let at = (a * STRIDE) & last;
    while (words[at] !== 0 && (words[at] !== a || words[at + 1] !== b || words[at + 2] !== c))
      at = (at + STRIDE) & last;
    return at;
  }

  #grow(): void {
    const larger = new Uint32Array(this.#words.length * 2);
    for (let from = 0; from < this.#words.length; from += STRIDE) {
      const [a = 0, b = 0, c = 0, seen = 0] = this.#words.subarray(from, from + STRIDE);
      if (a !== 0) larger.set([a, b, c, seen], this.#place(larger, a, b, c));
    }
    this.#words = larger;
  }
}
