import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { searchPosts } from '../../src/sandbox/listing.ts';
import { World } from '../../src/sandbox/world.ts';
import { anyText } from '../support/any-text.ts';
import { open, POSTS, posts } from './client.ts';

function target(text: string): string {
  return `${POSTS}?search=${encodeURIComponent(text)}`;
}

test('a blank search is the plain list', async (t) => {
  const sandbox = await open(t, { pageSize: 5 });
  assert.equal((await posts(sandbox, target('  '))).results.length, 5);
});

test('any text at all is a safe search', () => {
  const world = new World({ posts: 30 });
  const anything = anyText({ maxLength: 40 });
  const mixed = fc.array(fc.oneof(anything, fc.constantFrom('"', '*', 'AND', 'NEAR(', 'title:', 'to')));
  fc.assert(
    fc.property(mixed, (parts) => {
      assert.ok(Array.isArray(searchPosts(world.db, parts.join(' '))));
    }),
    { numRuns: 500, seed: 7 },
  );
  world.close();
});
