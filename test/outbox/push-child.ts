import { createClient } from '../../src/api/client.ts';
import { createRateLimit } from '../../src/api/rate-limit.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { Secret } from '../../src/base/secret.ts';
import { openOutboxStore } from '../../src/outbox/store/store.ts';
import { drive } from './drive.ts';

/** What a sender in a process of its own is told. */
export interface Order {
  path: string;
  url: string;
  createMs: number;
  settleMs: number;
}

/** Sends everything there is and says so; on the way it says when it sleeps. */
async function main({ path, url, createMs, settleMs }: Order): Promise<void> {
  const store = openOutboxStore({
    path,
    upstream: 'http://upstream.test',
    holder: `process ${process.pid}`,
  });
  const token = new Secret('sandbox');
  const limits = { createMs };
  const client = createClient({ baseUrl: url, auth: { kind: 'header' }, token: () => token, limits });
  const clock: Clock = {
    ...systemClock,
    async sleep(ms, signal) {
      process.stdout.write('sleeping\n');
      await systemClock.sleep(ms, signal);
    },
  };
  const { signal } = new AbortController();
  const context = {
    store,
    client,
    gate: createRateLimit(clock),
    clock,
    signal,
    createMs,
    perMinute: Number.POSITIVE_INFINITY,
    settleMs,
    random: Math.random,
  };
  await drive(context, { batch: null, perMinute: 60_000 });
  process.stdout.write('done\n');
  await client.close();
  await store.close();
}

if (process.argv[1] === import.meta.filename) await main(JSON.parse(process.argv[2] ?? '') as Order);
