import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeComment, decodePost } from '../../src/contract/decode.ts';
import { comment, post, user } from './wire.ts';

/** What a refusal said, or null when the row was accepted. */
function refusal(raw: unknown, decode: typeof decodePost | typeof decodeComment = decodePost): string | null {
  const result = decode(raw);
  return result.ok ? null : result.reason;
}

/** The post as JSON text with a piece of it replaced, read as it would be off the wire. */
function received(piece: string, replacement: string): unknown {
  const text = JSON.stringify(post);
  assert.ok(text.includes(piece));
  return JSON.parse(text.replace(piece, replacement));
}

function extraOf(raw: unknown): string | null {
  const result = decodePost(raw);
  assert.ok(result.ok);
  return result.row.extra;
}

describe('undocumented fields', () => {
  it('are kept at every level as canonical JSON', () => {
    const result = decodePost({
      ...post,
      tags: ['b', 'a'],
      archived: false,
      creator: { ...user, plan: 'pro' },
      board: { ...post.board, position: 1 },
      status: { ...post.status, order: null },
    });
    assert.ok(result.ok);
    assert.equal(result.row.extra, '{"archived":false,"tags":["b","a"]}');
    assert.equal(result.row.creator.extra, '{"plan":"pro"}');
    assert.equal(result.row.board.extra, '{"position":1}');
    assert.equal(result.row.status.extra, '{"order":null}');
  });

  it('are kept in a comment and its post too', () => {
    const result = decodeComment({ ...comment, edited: true, post: { ...comment.post, slug: 'dark' } });
    assert.ok(result.ok);
    assert.equal(result.row.extra, '{"edited":true}');
    assert.equal(result.row.post.extra, '{"slug":"dark"}');
  });

  it('give the same text whatever the order of their keys', () => {
    const one = extraOf(received('{"id":42', '{"b":{"y":1,"x":2},"a":1,"id":42'));
    const other = extraOf(received('{"id":42', '{"a":1,"id":42,"b":{"x":2,"y":1}'));
    assert.equal(one, '{"a":1,"b":{"x":2,"y":1}}');
    assert.equal(other, one);
  });

  it('may be named __proto__, constructor or extra', () => {
    const raw = received('{"id":42', '{"__proto__":{"id":5},"constructor":1,"extra":"x","id":42');
    assert.equal(extraOf(raw), '{"__proto__":{"id":5},"constructor":1,"extra":"x"}');
    assert.equal(refusal(received('{"id":42', '{"__proto__":{"id":42}')), 'id is missing');
  });

  it('keep a nested __proto__ as well', () => {
    assert.equal(extraOf(received('{"id":42', '{"a":{"__proto__":[1]},"id":42')), '{"a":{"__proto__":[1]}}');
  });
});

describe('numbers beyond 2^53 - 1', () => {
  it('are accepted up to the limit', () => {
    assert.equal(refusal(received('"id":42', '"id":9007199254740991')), null);
    assert.equal(refusal(received('"votes_count":12', '"votes_count":-9007199254740991')), null);
    assert.equal(extraOf(received('{"id":42', '{"x":9007199254740991,"id":42')), '{"x":9007199254740991}');
  });

  it('are refused as ids and counts, because parsing has already changed them', () => {
    assert.equal(refusal(received('"id":42', '"id":9007199254740993')), 'id is beyond 2^53 - 1');
    assert.equal(refusal(received('"id":7', '"id":1e400')), 'creator.id is beyond 2^53 - 1');
    assert.equal(
      refusal(received('"votes_count":12', '"votes_count":-9007199254740993')),
      'votes_count is beyond 2^53 - 1',
    );
  });

  it('are refused in undocumented fields, at any depth', () => {
    const reason = 'an undocumented field has a number too large to keep exactly';
    assert.equal(refusal(received('{"id":42', '{"x":9007199254740993,"id":42')), reason);
    assert.equal(refusal(received('{"id":42', '{"x":[{"y":-9007199254740993}],"id":42')), reason);
    assert.equal(refusal(received('{"id":42', '{"x":1e400,"id":42')), reason);
  });

  it('are not confused with fractions, which are no integers at all', () => {
    assert.equal(refusal(received('"id":42', '"id":42.5')), 'id is not an integer');
    assert.equal(refusal(received('"id":42', '"id":42.0')), null);
  });
});

describe('lone surrogates', () => {
  it('are refused in every text of a post and a comment', () => {
    for (const key of ['title', 'content', 'url'])
      assert.equal(refusal({ ...post, [key]: 'canary\udfff' }), `${key} has a lone surrogate`);
    for (const key of ['email', 'name', 'alias'])
      assert.equal(
        refusal({ ...post, creator: { ...user, [key]: '\ud83dcanary' } }),
        `creator.${key} has a lone surrogate`,
      );
    for (const key of ['kind', 'content'])
      assert.equal(refusal({ ...comment, [key]: '\ud800' }, decodeComment), `${key} has a lone surrogate`);
  });

  it('are refused in undocumented values and names, saying where but not what', () => {
    const creator = { ...user, note: ['canary\ud800'] };
    assert.equal(refusal({ ...post, creator }), 'an undocumented field of creator has a lone surrogate');
    const board = { ...post.board, 'canary\ud800': 1 };
    assert.equal(refusal({ ...post, board }), 'an undocumented field of board has a lone surrogate');
    const status = { ...post.status, a: { b: '\udc00' } };
    assert.equal(refusal({ ...post, status }), 'an undocumented field of status has a lone surrogate');
  });

  it('are not whole pairs, which are ordinary text', () => {
    assert.equal(refusal({ ...post, title: '😀', emoji: '😀' }), null);
  });
});

describe('deep nesting', () => {
  const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
  const objects = (levels: number): unknown => JSON.parse('{"a":'.repeat(levels) + 1 + '}'.repeat(levels));

  it('is kept to 64 levels and refused beyond', () => {
    // The undocumented fields of a row are an object themselves: the first level.
    for (const build of [nested, objects]) {
      assert.equal(refusal({ ...post, x: build(63) }), null);
      assert.equal(
        refusal({ ...post, x: build(64) }),
        'an undocumented field is nested deeper than 64 levels',
      );
      assert.equal(refusal({ ...comment, status: build(64) }, decodeComment), null);
      assert.equal(
        refusal({ ...comment, status: build(65) }, decodeComment),
        'status is nested deeper than 64 levels',
      );
    }
  });

  it('of 100,000 levels is refused without overflowing the stack', () => {
    const reason = /is nested deeper than 64 levels/;
    for (const build of [nested, objects]) {
      const deep = build(100_000);
      assert.match(refusal({ ...post, x: deep }) ?? '', reason);
      assert.match(refusal({ ...comment, status: deep }, decodeComment) ?? '', reason);
    }
  });

  it('where a documented field should be is refused as the wrong type', () => {
    assert.equal(refusal({ ...post, title: nested(100_000) }), 'title is not of type string');
  });
});
