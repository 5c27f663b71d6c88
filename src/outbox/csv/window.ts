/**
 * The bytes that are still needed, in one growing buffer, and the places in it that a scanner remembers.
 * Appending costs the same however small the chunks are; a list of chunks joined anew for each would cost the square.
 */
export class ByteWindow {
  bytes: Buffer = Buffer.allocUnsafe(256 * 1024);
  /** How much of the buffer is filled. */
  end = 0;
  /** The next byte to look at. */
  at = 0;
  /** Bytes before this place are let go with the next `push`. */
  kept = 0;
  /** These may come to lie before the buffer, when the bytes there were let go; distances stay right. */
  recordStart = 0;
  fieldStart = 0;
  crAt = -2;
  breakAt = -2;

  push(chunk: Buffer): void {
    this.#letGo(this.kept);
    if (this.end + chunk.length > this.bytes.length) this.#grow(this.end + chunk.length);
    this.end += chunk.copy(this.bytes, this.end);
  }

  begin(at: number): void {
    this.recordStart = at;
    this.fieldStart = at;
    this.kept = at;
  }

  #letGo(count: number): void {
    if (count === 0) return;
    this.bytes.copyWithin(0, count, this.end);
    this.end -= count;
    this.at -= count;
    this.kept = 0;
    this.recordStart -= count;
    this.fieldStart -= count;
    this.crAt -= count;
    this.breakAt -= count;
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafe(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.end);
    this.bytes = larger;
  }
}
