import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseJson } from '../../src/base/json.ts';
import { decodeComment, decodePost, problemOf } from '../../src/contract/decode.ts';
import { ENVELOPE } from '../../src/contract/entities.ts';
import { anyPost } from '../support/any-wire.ts';
import { comment, post, user } from '../support/wire.ts';

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
  it('keeps an undocumented field also in a comment that has no status', () => {
    const { status: _, ...rest } = comment;
    const decoded = decodeComment({ ...rest, mood: 'glad' });
    assert.ok(decoded.ok);
    assert.deepEqual([decoded.row.status, decoded.row.extra], [null, '{"mood":"glad"}']);
  });

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

  it('accepts exactly the rows that the table of fields accepts', () => {
    const wrong: [keyof typeof post, unknown, string | null][] = [
      ['id', 0, null],
      ['id', true, 'id is not an integer'],
      ['votes_count', 2 ** 53, 'votes_count is beyond 2^53 - 1'],
      ['title', '', null],
      ['title', null, 'title is not of type string'],
      ['created', '2024-02-30T00:00:00Z', 'created is not an ISO 8601 date and time'],
      ['created', null, 'created is not of type string'],
      ['board', {}, 'board.id is missing; board.name is missing; board.url is missing'],
      ['board', null, 'board is not of type object'],
      ['status', [], 'status is not of type object'],
    ];
    for (const [field, value, reason] of wrong) assert.equal(refusal({ ...post, [field]: value }), reason);
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

  it('keeps an undocumented kind', () => {
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

/** What a refusal said, or null when the row was accepted. */
function refusal(raw: unknown, decode: typeof decodePost | typeof decodeComment = decodePost): string | null {
  const result = decode(raw);
  return result.ok ? null : result.reason;
}

/** The post as JSON text with a piece of it replaced, read as it would be off the wire. */
function edited(piece: string, replacement: string): unknown {
  const text = JSON.stringify(post);
  assert.ok(text.includes(piece));
  return parseJson(text.replace(piece, replacement));
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
    const one = extraOf(edited('{"id":42', '{"b":{"y":1,"x":2},"a":1,"id":42'));
    const other = extraOf(edited('{"id":42', '{"a":1,"id":42,"b":{"x":2,"y":1}'));
    assert.equal(one, '{"a":1,"b":{"x":2,"y":1}}');
    assert.equal(other, one);
  });

  it('may be named __proto__, constructor or extra', () => {
    const raw = edited('{"id":42', '{"__proto__":{"id":5},"constructor":1,"extra":"x","id":42');
    assert.equal(extraOf(raw), '{"__proto__":{"id":5},"constructor":1,"extra":"x"}');
    assert.equal(refusal(edited('{"id":42', '{"__proto__":{"id":42}')), 'id is missing');
  });

  it('keep a nested __proto__ as well', () => {
    assert.equal(extraOf(edited('{"id":42', '{"a":{"__proto__":[1]},"id":42')), '{"a":{"__proto__":[1]}}');
  });
});

describe('numbers beyond 2^53 - 1', () => {
  it('are accepted up to the limit', () => {
    assert.equal(refusal(edited('"id":42', '"id":9007199254740991')), null);
    assert.equal(refusal(edited('"votes_count":12', '"votes_count":-9007199254740991')), null);
    assert.equal(extraOf(edited('{"id":42', '{"x":9007199254740991,"id":42')), '{"x":9007199254740991}');
  });

  it('are refused as ids and counts, because parsing has already changed them', () => {
    assert.equal(refusal(edited('"id":42', '"id":9007199254740993')), 'id is beyond 2^53 - 1');
    assert.equal(refusal(edited('"id":7', '"id":1e400')), 'creator.id is beyond 2^53 - 1');
    assert.equal(
      refusal(edited('"votes_count":12', '"votes_count":-9007199254740993')),
      'votes_count is beyond 2^53 - 1',
    );
  });

  it('are kept digit by digit in undocumented fields, at any depth', () => {
    const long = '{"x":12345678901234567890,"y":[{"z":-9007199254740993}]}';
    assert.equal(extraOf(edited('{"id":42', `${long.slice(0, -1)},"id":42`)), long);
    for (const x of ['1e400', '-1.5E+300', '1e20', '123456789012345678.5'])
      assert.equal(extraOf(edited('{"id":42', `{"x":${x},"id":42`)), `{"x":${x}}`);
  });

  it('are told from fractions, which are refused as integers', () => {
    assert.equal(refusal(edited('"id":42', '"id":42.5')), 'id is not an integer');
    assert.equal(refusal(edited('"id":42', '"id":42.0')), null);
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

describe('a list envelope', () => {
  const problem = (raw: unknown) => problemOf(raw, ENVELOPE);

  it('accepts any next and rows of any shape, because each row is decoded separately', () => {
    for (const next of [null, 'https://x/?page=2', 2, '', {}, false])
      assert.equal(problem({ next, results: [null, 1, {}] }), null);
    assert.equal(problem({ previous: null, results: [] }), 'next is missing');
  });

  it('may have null for results but nothing else than an array', () => {
    assert.equal(problem({ next: null, previous: null, results: null }), null);
    assert.equal(problem({ next: null, previous: null }), 'results is missing');
    for (const results of [{}, 'x', 0])
      assert.equal(problem({ next: null, results }), 'results is not of type array');
  });

  it('is not an array, a text or null', () => {
    for (const value of [[], 'x', null]) assert.equal(problem(value), 'the value is not of type object');
  });
});
