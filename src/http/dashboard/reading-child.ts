import { setPriority } from 'node:os';
import type { OpenOptions } from '../../db/open.ts';
import { openReading, serve, type ThreadAnswer, type ThreadQuestion } from './reading.ts';

/** The process of `reading-pool.ts` for what takes long. Whoever waits for a page goes first. */
setPriority(5);

const tell = (answer: ThreadAnswer): void => void process.send?.(answer);

process.once('message', (options) => {
  const reading = openReading(options as OpenOptions, (progress) => tell({ progress }));
  serve(reading, tell, (hear) => process.on('message', (question) => hear(question as ThreadQuestion)));
});
