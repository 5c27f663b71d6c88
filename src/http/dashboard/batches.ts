import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { OUTBOX_STATES, type StateCounts } from '../../outbox/decide/types.ts';
import { outboxCsv } from '../../outbox/import/results.ts';
import * as decide from '../../outbox/person.ts';
import { type Estimate, estimateWaiting } from '../../outbox/send/estimate.ts';
import type { BatchRow, BoardToMend, WaitingCustomers } from '../../outbox/store/batches.ts';
import type { ImportReads } from '../../outbox/store/imports.ts';
import type { OutboxStore } from '../../outbox/store/store.ts';
import type { OutboxView } from '../../outbox/store/view.ts';
import { boardNamed } from '../../text/boards.ts';
import { sendFile } from '../server/replies.ts';
import { required, textIn, wordIn } from './parameters.ts';

interface BatchDeps {
  view: OutboxView;
  outbox: OutboxStore;
  reads: Pick<ImportReads, 'boards'>;
  clock: Clock;
  perMinute: number;
}

/** An import as a whole: how its rows stand, and what it was told. */
export interface BatchState {
  batch: string;
  counts: StateCounts;
  told: BatchRow | null;
  /** How long what waits takes; null where nothing waits, or where it is paused. */
  estimate: Estimate | null;
  /** Whom the service may tell about posts in their name. */
  customers: WaitingCustomers;
  /** Boards of rows that a person can correct. */
  toMend: BoardToMend[];
}

export interface Batches {
  batches: Pick<BatchState, 'batch' | 'counts' | 'told'>[];
}

const IMPORTS_SHOWN = 10;

/** `/data/batches`: imports after they were taken in, and what a person decides about all of their rows. */
export function addBatches(app: FastifyInstance, deps: BatchDeps): void {
  const { view, outbox: store, reads, clock } = deps;
  const batchOf = ({ params }: FastifyRequest): string => {
    const batch = required(textIn(params, 'batch'), 'batch');
    if (!view.hasBatch(batch)) throw new AppError('usage', `there is no import ${batch} in the outbox`);
    return batch;
  };
  app.get('/data/batches', async (): Promise<Batches> => {
    const told = (batch: string) => ({ batch, counts: view.counts(batch), told: view.batch(batch) });
    return { batches: view.newestImports(IMPORTS_SHOWN).map(told) };
  });
  app.get('/data/batches/:batch', async (request) => stateOf(deps, batchOf(request)));
  app.get('/data/batches/:batch/rows.csv', async (request, reply) => {
    const [batch, state] = [batchOf(request), wordIn(request.query, 'state', OUTBOX_STATES)];
    const name = `${batch}${state === null ? '' : `-${state}`}.csv`;
    return sendFile(reply, name, Readable.from(outboxCsv(view.rowsOf(batch, state))));
  });
  app.post('/data/batches/:batch/:decision', async (request) => {
    const batch = batchOf(request);
    const decision = required(wordIn(request.params, 'decision', DECISIONS), 'decision');
    const state = wordIn(request.body, 'state', OUTBOX_STATES) ?? undefined;
    const { rows } = await DECIDE[decision]({ store, clock }, batch, state);
    return { rows, ...stateOf(deps, batch) };
  });
  app.post('/data/batches/:batch/boards', async (request) => {
    const batch = batchOf(request);
    const from = required(textIn(request.body, 'from'), 'from');
    const board = boardNamed(reads.boards(), required(textIn(request.body, 'to'), 'to'));
    const { rows } = await decide.editBatch(
      { store, clock },
      batch,
      { board: from },
      { board, isSentAgain: true },
    );
    return { rows, ...stateOf(deps, batch) };
  });
}

export type DecidedBatch = BatchState & { rows: number };

const DECIDE = {
  pause: async (...[deps, batch]: Parameters<typeof decide.cancelBatch>) => decide.pauseBatch(deps, batch),
  resume: async (...[deps, batch]: Parameters<typeof decide.cancelBatch>) => decide.resumeBatch(deps, batch),
  cancel: decide.cancelBatch,
  retry: decide.retryBatch,
};
const DECISIONS = ['pause', 'resume', 'cancel', 'retry'] as const satisfies (keyof typeof DECIDE)[];

function stateOf({ view, clock, perMinute }: BatchDeps, batch: string): BatchState {
  return {
    batch,
    counts: view.counts(batch),
    told: view.batch(batch),
    estimate: estimateWaiting(view, batch, perMinute, clock.now()),
    customers: view.waitingCustomers(batch),
    toMend: view.boardsToMend(batch),
  };
}
