import type { Resource } from '../contract/endpoints.ts';
import type { Key } from '../store/mirror/seam.ts';
import { type Evidence, noEvidence, type Order } from './order.ts';

/** What a sweep carries from page to page, and over a kill. */
export interface SweepState {
  /** The page to read next. */
  cursor: string;
  /** The page before it. */
  previous: { cursor: string; lastId: number | null; key: Key | null } | null;
  /** The first row of the list as this sweep found it. */
  firstId: number | null;
  evidence: Evidence;
  /** The ids of all pages are kept, for want of a proven order. */
  keepIds: boolean;
  /** Pages whose gaps hold rows of the mirror. */
  proofs: string[];
}

/** What complete sweeps teach later passes about a list. */
export interface Memory {
  order: Order | null;
  /** The ids were out of order: read creation times from the first page on. */
  tryCreated: boolean;
  /**
   * Up to here the mirror had no hole when a pass last began. It stays until some pass has read down to it: otherwise a pass that
   * is cut short would leave its newest rows on top of a hole, and every later one would stop at those.
   */
  floor: Key | null;
}

export function newSweep(resource: Resource, memory: Memory): SweepState {
  const readCreated = memory.tryCreated || memory.order?.by === 'created';
  // Anything less sure may turn out to be no order at all half-way, and then the ids of the first half are wanted.
  const isSure = memory.order?.strength === 'strong';
  const evidence = noEvidence(resource, readCreated);
  return { cursor: '', previous: null, firstId: null, evidence, keepIds: !isSure, proofs: [] };
}

export function readMemory(text: string | null): Memory {
  return text === null ? { order: null, tryCreated: false, floor: null } : (JSON.parse(text) as Memory);
}
