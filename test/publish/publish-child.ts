import { setTimeout as delay } from 'node:timers/promises';
import { openTestPublisher } from './copy.ts';

/** Publishes until it is killed, and says so each time: `url path upstream schema`. */
const [url = '', path = '', upstream = '', schema = ''] = process.argv.slice(2);
const publisher = openTestPublisher(url, { path, upstream }, schema);
for (;;) {
  await publisher.step().then(
    (rows) => rows > 0 && process.stdout.write('published\n'),
    (error: unknown) => process.stderr.write(`${String(error)}\n`),
  );
  await delay(1);
}
