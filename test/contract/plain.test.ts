import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { z } from 'zod';
import * as wire from '../../src/contract/entities.ts';
import { isPlainComment, isPlainPost } from '../../src/contract/plain.ts';
import { anyPost, comment, post } from './wire.ts';

interface Kind {
  name: string;
  isPlain: (raw: unknown) => boolean;
  schema: z.ZodObject;
  example: object;
  /** Its parts that are objects of their own. */
  parts: Record<string, z.ZodObject>;
}

const KINDS: Kind[] = [
  {
    name: 'post',
    isPlain: isPlainPost,
    schema: wire.Post,
    example: post,
    parts: { creator: wire.User, board: wire.Board, status: wire.Status },
  },
  {
    name: 'comment',
    isPlain: isPlainComment,
    schema: wire.Comment,
    example: comment,
    parts: { creator: wire.User, post: wire.PostReference },
  },
];

/** Every value that one of the documented types refuses, and some that none does. */
const VALUES = [
  undefined,
  null,
  true,
  -1,
  0,
  1.5,
  2 ** 53,
  '',
  'text',
  '2024-02-30T00:00:00Z',
  '\ud800',
  {},
  [],
];

function changed(raw: object, field: string, value: unknown): object {
  return JSON.parse(JSON.stringify({ ...raw, [field]: value })) as object;
}

function partOf(raw: object, part: string): object {
  return (raw as Record<string, object>)[part] ?? assert.fail(`no ${part}`);
}

for (const { name, isPlain, schema, example, parts } of KINDS) {
  describe(`a plain ${name}`, () => {
    it('is what the document describes', () => {
      assert.equal(isPlain(example), true);
      assert.deepEqual(new Set(Object.keys(example)), new Set(Object.keys(schema.shape)));
    });

    const variants = Object.keys(schema.shape).flatMap((field) =>
      VALUES.map((value) => changed(example, field, value)),
    );
    const inner = Object.entries(parts).flatMap(([part, { shape }]) =>
      Object.keys(shape).flatMap((field) =>
        VALUES.map((value) => changed(example, part, changed(partOf(example, part), field, value))),
      ),
    );

    it('is never one that the schema refuses, whichever field is how wrong', () => {
      const refused = [...variants, ...inner].filter((raw) => !schema.safeParse(raw).success);
      assert.ok(refused.length > 100);
      assert.deepEqual(refused.filter(isPlain), []);
    });

    it('has no text that SQLite could not keep', () => {
      const broken = [...variants, ...inner].filter((raw) => JSON.stringify(raw).includes('\\ud800'));
      assert.ok(broken.length > 5);
      assert.deepEqual(broken.filter(isPlain), []);
    });

    it('has no field beyond the documented ones, in itself or in a part, whatever its name', () => {
      for (const extra of ['tags', '__proto__', 'constructor']) {
        const added = (raw: object): object =>
          JSON.parse(`${JSON.stringify(raw).slice(0, -1)},"${extra}":1}`) as object;
        assert.equal(isPlain(added(example)), false);
        for (const part of Object.keys(parts))
          assert.equal(isPlain({ ...example, [part]: added(partOf(example, part)) }), false);
      }
    });
  });
}

it('nearly every post is plain: any that the document allows', () => {
  fc.assert(fc.property(anyPost, (raw) => isPlainPost(JSON.parse(JSON.stringify(raw)))));
});
