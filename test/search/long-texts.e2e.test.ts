import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { post, shelfOf, UPSTREAM } from './shelf.ts';

/** Reads in a thread that ends where it holds more than so much. */
const READER = `
  import { parentPort, workerData } from 'node:worker_threads';
  const { openSearchReads } = await import(workerData.module);
  const search = openSearchReads(workerData.options);
  const { hits } = await search.find('zeppelin');
  const some = await search.find('zeppelin submarine balloon');
  const begun = await search.find('zep*');
  const similar = await search.similar({ about: 1 });
  parentPort.postMessage([hits.length, some.hits.length, begun.hits.length, similar.length]);
  await search.close();`;
const MOST_MB = 32;

describe('searches in long texts', () => {
  it('hold a bounded part of each text, and never all of them at once', async (t) => {
    const long = `A zeppelin over the harbour. ${'.'.repeat(1_500_000)}`;
    const posts = Array.from({ length: 32 }, (_, i) => post(i + 1, `Zeppelin ${i}`, long));
    const { path } = await shelfOf(t, posts);
    const module = import.meta.resolve('../../src/search/search.ts');
    const reader = new Worker(READER, {
      eval: true,
      workerData: { module, options: { path, upstream: UPSTREAM } },
      resourceLimits: { maxOldGenerationSizeMb: MOST_MB, maxYoungGenerationSizeMb: 8 },
    });
    const found = await new Promise((resolve, reject) => reader.on('message', resolve).on('error', reject));
    assert.deepEqual(found, [32, 32, 32, 10]);
  });
});
