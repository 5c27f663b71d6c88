import { Worker } from 'node:worker_threads';
import { AppError, errorOfFailure, type PlainFailure } from '../../base/errors.ts';
import { ownFile } from '../../base/program.ts';
import type { OpenOptions } from '../../db/open.ts';
import type { NewRow } from '../decide/types.ts';

/** `same`: title and text; `title`: the title alone; `content`: the text under another title. */
export const DUPLICATE_KINDS = ['same', 'title', 'content'] as const;
export type DuplicateKind = (typeof DUPLICATE_KINDS)[number];

/** A row of a file that looks like a post of the mirror. */
export interface Duplicate {
  line: number;
  title: string;
  kind: DuplicateKind;
  /** 1 for the same words. */
  score: number;
  postId: number;
  postTitle: string;
}

export interface Duplicates {
  /** How many rows were compared: all that would be accepted. */
  checked: number;
  found: number;
  byKind: Record<DuplicateKind, number>;
  examples: Duplicate[];
}

/** Compares rows with all live posts of the mirror, in a thread of its own. */
export interface DuplicateSearch {
  /** Hands rows over; waits only while the thread is far behind. */
  look(rows: readonly Pick<NewRow, 'line' | 'title' | 'content'>[]): Promise<void>;
  /** Once everything that was handed over is compared. */
  result(): Promise<Duplicates>;
  close(): Promise<void>;
}

export interface DuplicateSearchOptions {
  mirror: OpenOptions;
  /** Called with what was found, in the order of the rows, and how many rows are compared by now. */
  onFound?: ((found: Duplicate[], checked: number) => void) | undefined;
}

/** A question to the thread, and its answer. Each question has one answer. */
export type ComparedRow = Pick<Duplicate, 'line' | 'title'> & { content: string };
export type ThreadFindings = { found: Duplicate[] } | { failure: PlainFailure };

const EXAMPLES = 10;
/** More waiting pieces would only fill the memory of the thread. */
const MOST_WAITING = 4;

/** 50,000 rows against 100,000 posts take 22 s of one core: in the main thread every request of the service would wait for it. */
export function openDuplicateSearch({ mirror, onFound }: DuplicateSearchOptions): DuplicateSearch {
  const result: Duplicates = {
    checked: 0,
    found: 0,
    byKind: { same: 0, title: 0, content: 0 },
    examples: [],
  };
  const thread = new Worker(ownFile('./duplicates-thread.ts', import.meta.url), { workerData: mirror });
  const waiting: { rows: number; settle: PromiseWithResolvers<void> }[] = [];
  let failure: unknown = null;
  const fail = (reason: unknown): void => {
    failure ??= reason;
    for (const { settle } of waiting.splice(0)) settle.reject(failure);
  };
  thread.on('message', (answer: ThreadFindings) => {
    const asked = waiting.shift();
    if (!asked) return;
    if ('failure' in answer) {
      waiting.unshift(asked);
      fail(errorOfFailure(answer.failure));
      return;
    }
    result.checked += asked.rows;
    add(result, answer.found);
    onFound?.(answer.found, result.checked);
    asked.settle.resolve();
  });
  thread.once('error', fail);
  thread.once('exit', () => fail(new AppError('interrupted', 'the comparison with the mirror was ended')));
  return {
    async look(rows) {
      if (failure) throw failure;
      if (rows.length === 0) return;
      const settle = Promise.withResolvers<void>();
      settle.promise.catch(() => undefined);
      waiting.push({ rows: rows.length, settle });
      thread.postMessage(rows.map(({ line, title, content }) => ({ line: line ?? 0, title, content })));
      if (waiting.length > MOST_WAITING) await waiting[0]?.settle.promise;
    },
    async result() {
      await waiting.at(-1)?.settle.promise;
      if (failure) throw failure;
      return result;
    },
    async close() {
      await thread.terminate();
    },
  };
}

function add(result: Duplicates, found: readonly Duplicate[]): void {
  result.found += found.length;
  for (const { kind } of found) result.byKind[kind]++;
  result.examples.push(...found.slice(0, EXAMPLES - result.examples.length));
}
