import assert from 'node:assert/strict';
import { decodeComment, decodePost } from '../../../src/contract/decode.ts';
import { parseBody } from '../../../src/contract/json.ts';
import { createRandom, type Random } from '../../../src/sandbox/random.ts';
import { comment, post } from '../../support/wire.ts';
import { mutated } from './mutate.ts';

export interface Fuzzed {
  accepted: number;
  refused: number;
  /** What was no longer the format at all. */
  unreadable: number;
}

const WIDE = { tags: ['é', '😀', null], score: 0.1, deep: { a: [{ b: 'c' }] } };
const SAMPLES = [
  { decode: decodePost, raw: { ...post, ...WIDE } },
  { decode: decodeComment, raw: { ...comment, status: { id: 3, name: 'Open' } } },
];

/** Damaged rows of the API: each is refused with a reason, or kept exactly as it was received. */
export function fuzzDecoder(count: number, seed: number): Fuzzed {
  const random = createRandom(seed);
  const result = { accepted: 0, refused: 0, unreadable: 0 };
  for (let n = 0; n < count; n++) {
    const { decode, raw: sample } = random.pick(SAMPLES);
    const damaged = random.chance(0.3) ? mutated(asBytes(sample), random) : asBytes(bent(sample, random));
    const raw = readOrNothing(damaged);
    if (raw === undefined) {
      result.unreadable++;
      continue;
    }
    const decoded = decode(raw);
    if (decoded.ok) {
      assert.deepEqual(asReceived(decoded.row), withStatus(raw), `seed ${seed}, ${n}: ${damaged.toString()}`);
      refuseRounded(decoded.row, `seed ${seed}, ${n}: ${damaged.toString()}`);
      result.accepted++;
    } else {
      assert.ok(decoded.reason.length > 0);
      result.refused++;
    }
  }
  return result;
}

function asBytes(value: object): Buffer {
  return Buffer.from(JSON.stringify(value).replaceAll('"huge"', '9007199254740993'));
}

/** Values that some field somewhere does not expect. Damage to bytes alone mostly leaves no JSON to decode. */
const ODD = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  'huge',
  '',
  'x\u0000',
  'lone \ud800',
  '2024-13-45',
  [],
  {},
  [[1]],
  { id: 'huge' },
];

/** The row with one field, here or further inside, replaced, taken away or added. */
function bent(row: object, random: Random): object {
  const name = random.pick([...Object.keys(row), 'id', '__proto__', 'new field']);
  const inner: unknown = Reflect.get(row, name);
  if (typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0 && random.chance(0.6))
    return { ...row, [name]: Array.isArray(inner) ? inner.toReversed() : bent(inner, random) };
  const rest = Object.entries(row).filter(([key]) => key !== name);
  return Object.fromEntries(random.chance(0.2) ? rest : [...rest, [name, random.pick(ODD)]]);
}

function readOrNothing(bytes: Buffer): unknown {
  try {
    return parseBody(bytes);
  } catch {
    return undefined;
  }
}

/** The row in the words of the API: what was set aside as undocumented goes back to where it came from. */
function asReceived(row: object, isPart = false): Record<string, unknown> {
  const { extra, ...fields } = row as { extra: string | null } & Record<string, unknown>;
  const entries = Object.entries(fields).map(([name, value]) => {
    if (!isPart && name === 'status' && typeof value === 'string')
      return [name, JSON.parse(value) as unknown];
    return [name, typeof value === 'object' && value !== null ? asReceived(value, true) : value];
  });
  const undocumented = extra === null ? {} : (JSON.parse(extra) as object);
  return { ...Object.fromEntries(entries), ...undocumented };
}

/** A comment may leave its status out, which is kept as none. */
function withStatus(raw: unknown): unknown {
  return { status: null, ...(raw as object) };
}

/** A whole number that a double cannot hold was rounded before anybody saw it. */
function refuseRounded(row: object, where: string): void {
  for (const value of Object.values(row))
    if (typeof value === 'number') assert.ok(Number.isSafeInteger(value), where);
    else if (typeof value === 'object' && value !== null) refuseRounded(value as object, where);
}
