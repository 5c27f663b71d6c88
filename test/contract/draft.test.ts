import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkBody, fieldProblem, isEmail } from '../../src/contract/draft.ts';

describe('a draft', () => {
  const words = { board: 'ideas', title: ' Dark mode ', content: '' };

  it('keeps what people wrote, and trims what a customer is known by', () => {
    const customer = { email: ' ann@example.com\n', full_name: '\tAnn ' };
    assert.deepEqual(
      checkBody({ ...words, ...customer, full_name: ' Ann ', email: ' ann@example.com ' }, true),
      {
        ok: true,
        post: { ...words, email: 'ann@example.com', full_name: 'Ann' },
      },
    );
    assert.deepEqual(checkBody({ ...words, ...customer }, false), {
      ok: true,
      post: { ...words, email: null, full_name: null },
    });
    assert.equal(isEmail(customer.email), true);
  });

  it('lacks a customer only where it is for one', () => {
    assert.deepEqual(checkBody(words, true), {
      ok: false,
      errors: { email: ['This field is required.'], full_name: ['This field is required.'] },
    });
  });

  it('may have lines and tabs in its content, and an empty one, but not in anything else', () => {
    for (const text of ['', ' \u200b', 'a\nb', 'a\tb']) {
      assert.equal(fieldProblem('content', text), null);
      assert.notEqual(fieldProblem('title', text), null);
    }
    assert.equal(fieldProblem('content', 'a\u0085b'), 'has a control character (U+0085)');
    assert.equal(fieldProblem('content', 'a\ud800'), 'has half a character in it');
  });
});
