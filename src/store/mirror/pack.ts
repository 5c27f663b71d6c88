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

export function* unpackIds(bytes: Uint8Array): Generator<number> {
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
    yield last;
    scale = 1;
  }
}
