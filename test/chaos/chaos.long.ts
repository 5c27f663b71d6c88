import { parseArgs } from 'node:util';
import { messageOf } from '../../src/base/errors.ts';
import { runChaos } from './chaos.ts';
import type { ChaosOptions } from './fixture.ts';
import { QUEUE_KINDS } from './queue.ts';

/** `npm run chaos -- --minutes N --seed S --queue embedded|redis|postgres --ready-within MS` */
const USAGE = `npm run chaos -- [--minutes N] [--seed S] [--queue ${QUEUE_KINDS.join('|')}] [--ready-within MS]`;

function wanted(): ChaosOptions {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '3' },
      seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
      queue: { type: 'string', default: 'embedded' },
      'ready-within': { type: 'string' },
    },
  });
  const queue = QUEUE_KINDS.find((kind) => kind === values.queue);
  const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
  if (!queue) throw new Error(`--queue ${values.queue} is none of ${QUEUE_KINDS.join(', ')}`);
  if (!(minutes > 0)) throw new Error(`--minutes ${values.minutes} is not a number above 0`);
  if (!Number.isInteger(seed)) throw new Error(`--seed ${values.seed} is not a whole number`);
  const within = values['ready-within'];
  const readyWithinMs = within === undefined ? null : Number(within);
  if (readyWithinMs !== null && !(readyWithinMs > 0))
    throw new Error(`--ready-within ${within} is not a number above 0`);
  return { minutes, seed, queue, readyWithinMs };
}

function wantedOrExit(): ChaosOptions {
  try {
    return wanted();
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n${USAGE}\n`);
    process.exit(2);
  }
}

const options = wantedOrExit();
const { minutes, seed, queue } = options;
process.stdout.write(`${minutes} minutes, seed ${seed}, queue ${queue}\n`);
const { passed, text, folder } = await runChaos(options);
process.stdout.write(`${text}\n`);
if (passed) process.stdout.write('Everything held.\n');
else process.stdout.write(`FAILED with seed ${seed}. Events: ${folder}/events.log; data, logs: ${folder}\n`);
process.exit(passed ? 0 : 1);
