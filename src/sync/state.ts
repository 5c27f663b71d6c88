import type { Resource } from '../contract/endpoints.ts';
import type { Key } from '../store/mirror/seam.ts';
import { type Evidence, noEvidence, type Order } from './order.ts';

/** What a sweep carries from page to page, and over a kill. */
export interface SweepState {
  /** The page to read next. */
  cursor: string;
  /** The page before it. */
  previous: { cursor: string; lastId: number | null; key: Key | null; reach: Reach } | null;
  /** The first row of the list as this sweep found it. */
  firstId: number | null;
  evidence: Evidence;
  /** The ids of all pages are kept, for want of a proven order. */
  keepIds: boolean;
  /** Pages whose gaps hold rows of the mirror. */
  proofs: Proof[];
}

/** From which row to which a page went: the first and the last of them that could be read; null where there was none. */
export interface Reach {
  first: Key | null;
  last: Key | null;
}

/** A page to be read once more; `last` is null where it ended the list. */
export interface Proof extends Reach {
  cursor: string;
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

/** A checkpoint of version 0.1 had only the cursors of its proofs: without their reach nothing is concluded from them. */
export function readState(text: string): SweepState {
  const state = JSON.parse(text) as SweepState;
  const nowhere: Reach = { first: null, last: null };
  const { previous, proofs } = state;
  return {
    ...state,
    previous: previous && { ...previous, reach: previous.reach ?? nowhere },
    proofs: proofs.map((proof) => (typeof proof === 'string' ? { cursor: proof, ...nowhere } : proof)),
  };
}
