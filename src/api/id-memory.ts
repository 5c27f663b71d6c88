const FIRST_SLOTS = 1024;
/** Above this share of taken slots looking one up takes too many steps. */
const FULL = 0.6;
const EMPTY = -1;

/**
 * Remembers ids: tells of each whether it is the first time. A `Set` of a million ids holds 40 MB more of the heap than this, which
 * is a flat table of numbers with open addressing.
 */
export function idMemory(): (id: number) => boolean {
  let slots = new Float64Array(FIRST_SLOTS).fill(EMPTY);
  let size = 0;
  return (id) => {
    if (size > slots.length * FULL) slots = grown(slots);
    const at = slotOf(slots, id);
    if (slots[at] === id) return false;
    slots[at] = id;
    size++;
    return true;
  };
}

function grown(old: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const slots = new Float64Array(old.length * 2).fill(EMPTY);
  for (const id of old) if (id !== EMPTY) slots[slotOf(slots, id)] = id;
  return slots;
}

/** Where the id is, or where it would go. */
function slotOf(slots: Float64Array, id: number): number {
  const mask = slots.length - 1;
  let at = spread(id) & mask;
  while (slots[at] !== EMPTY && slots[at] !== id) at = (at + 1) & mask;
  return at;
}

/** Neighbouring ids far apart, all 53 bits taken in. */
function spread(id: number): number {
  const mixed = Math.imul(id >>> 0, 0x9e3779b1) ^ Math.imul(Math.floor(id / 2 ** 32) + 1, 0x85ebca77);
  return mixed ^ (mixed >>> 15);
}
