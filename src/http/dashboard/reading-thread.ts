import { parentPort, workerData } from 'node:worker_threads';
import { AppError, codeOf, messageOf } from '../../base/errors.ts';
import type { OpenOptions } from '../../store/db.ts';
import { openReading, type Reading } from './reading.ts';
import type { Asked, Told } from './reads.ts';

const reading = openReading(workerData as OpenOptions);

parentPort?.on('message', ({ name, request }: Asked) => {
  void answer(name, request).then((told) => parentPort?.postMessage(told));
});

async function answer(name: keyof Reading, request: unknown): Promise<Told> {
  try {
    const read = reading[name] as (request: unknown) => Promise<unknown>;
    return { value: await read(request) };
  } catch (error) {
    const hint = error instanceof AppError ? error.hint : undefined;
    return { failure: { code: codeOf(error), message: messageOf(error), ...(hint ? { hint } : {}) } };
  }
}
