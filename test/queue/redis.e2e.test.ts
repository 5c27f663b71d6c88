import { describe } from 'node:test';
import { Redis } from 'ioredis';
import { skipUnless } from '../support/programs.ts';
import { startRedis } from '../support/servers.ts';
import { onServer } from './conformance/on-server.ts';
import { queueConformance } from './conformance.ts';

describe('a queue on Redis', skipUnless('redis-server'), () => {
  queueConformance(onServer(() => startRedis({ durable: true }), flush));
});

async function flush(url: string): Promise<void> {
  const client = new Redis(url);
  await client.flushall();
  client.disconnect();
}
