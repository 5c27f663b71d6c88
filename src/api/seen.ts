const FIRST_SLOTS = 1024;
/** Beyond this share of full slots, looking for a free one takes long. */
const FULL = 0.6;
const LAST_SMALL = 2 ** 32 - 2;

/**
 * Tells of each id of a walk whether it is the first time. Nearly all ids are below 2^32: those are in a flat table with open addressing,
 * and all others in a `Set`. A million ids in a `Set` took 48 MB, this takes 24.
 */
export function idMemory(): (id: number | string) => boolean {
  const others = new Set<number | string>();
  let slots = new Uint32Array(FIRST_SLOTS);
  let size = 0;
  return (id) => {
    const small = Number(id) >>> 0;
    if (small !== id || small > LAST_SMALL) {
      const before = others.size;
      return others.add(id).size > before;
    }
    if (size > slots.length * FULL) slots = larger(slots);
    const at = slotOf(slots, small);
    if (slots[at] !== 0) return false;
    slots[at] = small + 1;
    size++;
    return true;
  };
}

function larger(old: Uint32Array): Uint32Array<ArrayBuffer> {
  const slots = new Uint32Array(2 * old.length);
  for (const kept of old) if (kept !== 0) slots[slotOf(slots, kept - 1)] = kept;
  return slots;
}

/** Where the id is, or where it would go. A slot has the id and one. */
function slotOf(slots: Uint32Array, id: number): number {
  // The highest bits of the product: the lower ones know nothing of the higher bits of the id.
  let at = Math.imul(id, 0x9e3779b1) >>> (Math.clz32(slots.length) + 1);
  while (slots[at] !== 0 && slots[at] !== id + 1) at = (at + 1) & (slots.length - 1);
  return at;
}
