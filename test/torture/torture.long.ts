import { parseArgs } from 'node:util';
import { QUEUE_KINDS } from './queue-site.ts';
import { torture } from './torture.ts';

/** `npm run torture -- --minutes N --seed S --queue embedded|redis|postgres` */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    queue: { type: 'string', default: 'embedded' },
  },
});
const queue = QUEUE_KINDS.find((kind) => kind === values.queue);
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (!queue || !(minutes > 0) || !Number.isInteger(seed))
  throw new Error(`--minutes and --seed are numbers, --queue is one of ${QUEUE_KINDS.join(', ')}`);

process.stdout.write(`${minutes} minutes, seed ${seed}, queue ${queue}\n`);
const { passed, text, folder } = await torture({ minutes, seed, queue });
process.stdout.write(`${text}\n`);
if (passed) process.stdout.write('Everything held.\n');
else process.stdout.write(`FAILED with seed ${seed}. Events: ${folder}/events.log; data, logs: ${folder}\n`);
process.exit(passed ? 0 : 1);
