import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explain } from '../../src/contract/decode.ts';
import { ENDPOINTS } from '../../src/contract/endpoints.ts';
import { Created, Envelope, NewPost, NewPostAsUser } from '../../src/contract/entities.ts';

type Schema = typeof Created | typeof Envelope | typeof NewPost | typeof NewPostAsUser;

/** What a refusal said, or null when the value was accepted. */
function refusal(schema: Schema, value: unknown): string | null {
  const checked = schema.safeParse(value);
  return checked.success ? null : explain(checked.error);
}

describe('a list envelope', () => {
  it('may hold anything as next and previous', () => {
    for (const link of [null, 'https://x/?page=2', '?page=2', 2, 'opaque', '', {}, false])
      assert.equal(refusal(Envelope, { next: link, previous: link, results: [] }), null);
  });

  it('may lack previous, which nobody reads, but not next, whose null is the end of the list', () => {
    assert.equal(refusal(Envelope, { next: null, results: [] }), null);
    assert.equal(refusal(Envelope, { previous: null, results: [] }), 'next is missing');
  });

  it('may have null for results but nothing else than an array', () => {
    assert.equal(refusal(Envelope, { next: null, previous: null, results: null }), null);
    assert.equal(refusal(Envelope, { next: null, previous: null }), 'results is missing');
    for (const results of [{}, 'x', 0])
      assert.equal(refusal(Envelope, { next: null, results }), 'results is not of type array');
  });

  it('may hold rows of any shape, since each row is judged on its own', () => {
    assert.equal(refusal(Envelope, { next: null, results: [null, 1, {}] }), null);
  });

  it('is not an array, a text or null', () => {
    for (const value of [[], 'x', null])
      assert.equal(refusal(Envelope, value), 'the value is not of type object');
  });
});

describe('the answer to a create', () => {
  const answer = { status: 'Success', post_id: 5, url: 'https://x/b/ideas/dark-mode' };

  it('needs the id of the post and nothing more', () => {
    assert.equal(refusal(Created, answer), null);
    assert.equal(refusal(Created, { post_id: 5 }), null);
    assert.equal(refusal(Created, { ...answer, post_id: undefined }), 'post_id is missing');
  });

  it('is refused with an id that is no whole number within 2^53 - 1', () => {
    assert.equal(refusal(Created, { ...answer, post_id: '5' }), 'post_id is not an integer');
    assert.equal(refusal(Created, JSON.parse('{"post_id":9007199254740993}')), 'post_id is beyond 2^53 - 1');
  });

  it('is refused with a lone surrogate', () => {
    assert.equal(refusal(Created, { ...answer, status: '\ud800' }), 'status has a lone surrogate');
    assert.equal(refusal(Created, { ...answer, url: '\ud800' }), 'url has a lone surrogate');
  });
});

describe('a new post', () => {
  const body = { board: 'ideas', title: 'Dark mode', content: '' };
  const asUser = { ...body, email: 'ada@example.com', full_name: 'Ada' };

  it('is accepted with its documented fields', () => {
    assert.equal(refusal(NewPost, body), null);
    assert.equal(refusal(NewPostAsUser, asUser), null);
  });

  it('is refused when one of them is missing, of another type or not well formed', () => {
    for (const key of Object.keys(asUser)) {
      assert.equal(refusal(NewPostAsUser, { ...asUser, [key]: undefined }), `${key} is missing`);
      assert.equal(refusal(NewPostAsUser, { ...asUser, [key]: 1 }), `${key} is not of type string`);
      assert.equal(refusal(NewPostAsUser, { ...asUser, [key]: '\ud800' }), `${key} has a lone surrogate`);
    }
  });
});

describe('the endpoints', () => {
  it('are the five operations under the version prefix, with trailing slashes', () => {
    assert.equal(Object.keys(ENDPOINTS).length, 5);
    for (const { path } of Object.values(ENDPOINTS)) assert.match(path, /^\/api\/v1\/.*\/$/);
  });
});
