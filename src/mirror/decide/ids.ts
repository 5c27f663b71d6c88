/** The first place of an id in a list, or -1. */
export interface IdIndex {
  get(id: number): number;
  /** How many different ids there are. */
  size: number;
}

/** A table with open addressing over typed arrays: a million ids take 8 MB, where a Map takes 50. */
export function indexOf(ids: Float64Array): IdIndex {
  const slots = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(1, ids.length) * 1.7)));
  const mask = slots.length - 1;
  const slotOf = (id: number): number => {
    let at = spread(id) & mask;
    while (slots[at] !== 0 && ids[(slots[at] as number) - 1] !== id) at = (at + 1) & mask;
    return at;
  };
  let size = 0;
  for (let i = 0; i < ids.length; i++) {
    const at = slotOf(ids[i] as number);
    if (slots[at] !== 0) continue;
    slots[at] = i + 1;
    size++;
  }
  return { get: (id) => (slots[slotOf(id)] as number) - 1, size };
}

function spread(id: number): number {
  const mixed = Math.imul(id >>> 0, 0x9e3779b1) ^ Math.imul(Math.floor(id / 2 ** 32) + 1, 0x85ebca77);
  return mixed ^ (mixed >>> 15);
}

/**
 * Ids of a page as bytes: sign and size of the difference to the id before, seven bits a byte. A page of a hundred neighbouring
 * ids takes about a hundred bytes. Plain arithmetic instead of bit operators, which would cut ids to 32 bits; and the sign has a
 * bit of its own in the first byte, because folding it into the number makes odd numbers beyond 2^53, which a double rounds.
 * Ids are never negative.
 */
export function packIds(ids: readonly number[]): Buffer {
  const bytes: number[] = [];
  let last = 0;
  for (const id of ids) {
    const size = Math.abs(id - last);
    let byte = (size % 64) * 2 + (id < last ? 1 : 0);
    let rest = Math.floor(size / 64);
    for (; rest > 0; rest = Math.floor(rest / 128)) {
      bytes.push(byte + 128);
      byte = rest % 128;
    }
    bytes.push(byte);
    last = id;
  }
  return Buffer.from(bytes);
}

/** The last byte of an id is below 128. */
export function countIds(bytes: Uint8Array): number {
  return bytes.reduce((count, byte) => count + (byte < 128 ? 1 : 0), 0);
}

export function unpackIds(bytes: Uint8Array, take: (id: number) => void): void {
  let last = 0;
  let size = 0;
  let scale = 1;
  let sign = 1;
  for (const byte of bytes) {
    const bits = byte % 128;
    if (scale === 1) {
      sign = bits % 2 === 1 ? -1 : 1;
      size = Math.floor(bits / 2);
      scale = 64;
    } else {
      size += bits * scale;
      scale *= 128;
    }
    if (byte >= 128) continue;
    last += sign * size;
    take(last);
    scale = 1;
  }
}
