const FIRST_SLOTS = 1024;
/** Above this share of taken slots looking one up takes too many steps. */
const FULL = 0.6;
/** A slot holds the id and one: a new table is all zeros, which the system makes without touching its memory. */
const EMPTY = 0;
const LAST_SMALL_ID = 2 ** 32 - 2;

type Slots = Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/**
 * Remembers ids: tells of each whether it is the first time. A `Set` of a million ids holds over 40 MB more of the heap than this, which
 * is a flat table of numbers with open addressing; of small numbers for as long as the ids are.
 */
export function idMemory(): (id: number) => boolean {
  let slots: Slots = new Uint32Array(FIRST_SLOTS);
  let size = 0;
  return (id) => {
    const isFull = size > slots.length * FULL;
    const isTooSmall = id > LAST_SMALL_ID && slots instanceof Uint32Array;
    if (isFull || isTooSmall) slots = moved(slots, isFull ? 2 : 1, isTooSmall);
    const at = slotOf(slots, id);
    if (slots[at] === id + 1) return false;
    slots[at] = id + 1;
    size++;
    return true;
  };
}

function moved(old: Slots, growth: number, isLarge: boolean): Slots {
  const length = old.length * growth;
  const isWide = isLarge || old instanceof Float64Array;
  const slots = isWide ? new Float64Array(length) : new Uint32Array(length);
  for (const kept of old) if (kept !== EMPTY) slots[slotOf(slots, kept - 1)] = kept;
  return slots;
}

/** Where the id is, or where it would go. */
function slotOf(slots: Slots, id: number): number {
  const mask = slots.length - 1;
  let at = spread(id) & mask;
  while (slots[at] !== EMPTY && slots[at] !== id + 1) at = (at + 1) & mask;
  return at;
}

/** Neighbouring ids far apart, all 53 bits taken in. */
function spread(id: number): number {
  const mixed = Math.imul(id >>> 0, 0x9e3779b1) ^ Math.imul(Math.floor(id / 2 ** 32) + 1, 0x85ebca77);
  return mixed ^ (mixed >>> 15);
}
