/**
 * Ids of a page as bytes: differences to the id before, zigzag, seven bits a byte. A page of a hundred neighbouring ids
 * takes about a hundred bytes. Plain arithmetic instead of bit operators, which would cut ids to 32 bits.
 */
export function packIds(ids: readonly number[]): Buffer {
  const bytes: number[] = [];
  let last = 0;
  for (const id of ids) {
    const difference = id - last;
    let rest = difference < 0 ? -2 * difference - 1 : 2 * difference;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
    bytes.push(rest);
    last = id;
  }
  return Buffer.from(bytes);
}

export function* unpackIds(bytes: Uint8Array): Generator<number> {
  let last = 0;
  let value = 0;
  let scale = 1;
  for (const byte of bytes) {
    value += (byte % 128) * scale;
    scale *= 128;
    if (byte >= 128) continue;
    last += value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    yield last;
    value = 0;
    scale = 1;
  }
}
