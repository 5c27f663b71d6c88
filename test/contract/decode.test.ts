import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeComment, decodePost } from '../../src/contract/decode.ts';
import { anyPost, comment, post, user } from './wire.ts';

function reasonOf(result: ReturnType<typeof decodePost> | ReturnType<typeof decodeComment>): string {
  assert.equal(result.ok, false);
  return result.reason;
}

function received(raw: unknown): unknown {
  return JSON.parse(JSON.stringify(raw));
}

function decodedPost(raw: unknown): Extract<ReturnType<typeof decodePost>, { ok: true }>['row'] {
  const result = decodePost(raw);
  assert.ok(result.ok, result.ok ? '' : result.reason);
  return result.row;
}

function decodedComment(raw: unknown): Extract<ReturnType<typeof decodeComment>, { ok: true }>['row'] {
  const result = decodeComment(raw);
  assert.ok(result.ok, result.ok ? '' : result.reason);
  return result.row;
}

describe('decoding a post', () => {
  it('returns every documented field as it came, and no extra', () => {
    assert.deepEqual(decodedPost(post), {
      ...post,
      creator: { ...user, extra: null },
      board: { ...post.board, extra: null },
      status: { ...post.status, extra: null },
      extra: null,
    });
  });

  it('returns equal fields for any post the contract allows', () => {
    fc.assert(
      fc.property(anyPost.map(received), (raw) => {
        const { extra, creator, board, status, ...fields } = decodedPost(raw);
        const nested = [creator, board, status].map(({ extra: none, ...rest }) =>
          none === null ? rest : none,
        );
        assert.equal(extra, null);
        assert.deepEqual({ ...fields, creator: nested[0], board: nested[1], status: nested[2] }, raw);
      }),
    );
  });

  it('lets the service know little about a person, as long as it says so', () => {
    const unknown = { ...user, email: null, name: null, alias: null, registered: null };
    assert.equal(decodedPost({ ...post, creator: unknown }).creator.email, null);
    const silent = { ...post, creator: { ...user, email: undefined } };
    assert.equal(reasonOf(decodePost(silent)), 'creator.email is missing');
  });

  it('accepts negative counts, which a service may well have, but no negative id', () => {
    assert.equal(decodedPost({ ...post, votes_count: -3 }).votes_count, -3);
    assert.equal(reasonOf(decodePost({ ...post, id: -1 })), 'id is negative');
  });

  it('refuses what is no object', () => {
    for (const raw of [null, [], 'text', 7, true])
      assert.equal(reasonOf(decodePost(raw)), 'the value is not of type object');
  });

  it('says of each field what is wrong with it, five at most', () => {
    const raw = { ...post, title: 5, votes_count: 'many', creator: { ...user, is_admin: 1 } };
    assert.equal(
      reasonOf(decodePost(raw)),
      'title is not of type string; creator.is_admin is not of type boolean; votes_count is not an integer',
    );
    assert.equal(
      reasonOf(decodePost({})),
      'id is missing; title is missing; content is missing; url is missing; creator is missing',
    );
  });

  it('names each wrong field and never shows its content', () => {
    for (const key of Object.keys(post)) {
      const reason = reasonOf(decodePost({ ...post, [key]: ['canary'] }));
      assert.ok(reason.startsWith(key), `${key}: ${reason}`);
      assert.doesNotMatch(reason, /canary/);
    }
  });
});

describe('decoding a comment', () => {
  it('returns every documented field as it came', () => {
    assert.deepEqual(decodedComment(comment), {
      ...comment,
      post: { ...comment.post, extra: null },
      creator: { ...user, extra: null },
      extra: null,
    });
  });

  it('keeps a status of any type as canonical text, and null as null', () => {
    const statuses: [unknown, string | null][] = [
      [null, null],
      ['open', '"open"'],
      [3, '3'],
      [false, 'false'],
      [{ name: 'Open', id: 1 }, '{"id":1,"name":"Open"}'],
      [[1, null], '[1,null]'],
    ];
    for (const [status, kept] of statuses) assert.equal(decodedComment({ ...comment, status }).status, kept);
  });

  it('keeps a kind nobody documented', () => {
    assert.equal(decodedComment({ ...comment, kind: 'status-change' }).kind, 'status-change');
  });

  it('names each wrong field and never shows its content', () => {
    for (const key of Object.keys(comment).filter((name) => name !== 'status')) {
      const reason = reasonOf(decodeComment({ ...comment, [key]: ['canary'] }));
      assert.ok(reason.startsWith(key), `${key}: ${reason}`);
      assert.doesNotMatch(reason, /canary/);
    }
  });

  it('names the status when that is what cannot be kept', () => {
    assert.equal(
      reasonOf(decodeComment({ ...comment, status: 'canary \ud800' })),
      'status has a lone surrogate',
    );
  });
});
