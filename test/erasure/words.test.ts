import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { emailKey } from '../../src/base/email.ts';
import { withoutAddresses } from '../../src/store/suppression/words.ts';
import { openTestMirror } from '../support/mirror.ts';

const part = fc.stringMatching(/^[a-z0-9]{1,8}([._+-][a-z0-9]{1,4})?$/);
const address = fc
  .tuple(part, fc.stringMatching(/^[a-z]{2,8}\.(org|example)$/))
  .map(([local, domain]) => `${local}@${domain}`);
const surroundings = fc.stringMatching(/^[ \n<>"'(),;:[\]/=?]{1,3}$/);

function without(text: string, email: string): string {
  return withoutAddresses(text, (found) => emailKey(found) === emailKey(email));
}

describe('taking an address out of a text', () => {
  it('finds it between any signs and in any case of letters, and leaves the rest as it is', () => {
    fc.assert(
      fc.property(address, surroundings, surroundings, fc.boolean(), (email, before, after, isUpper) => {
        const text = `words${before}${isUpper ? email.toUpperCase() : email}${after}words`;
        assert.equal(without(text, email), `words${before}[erased]${after}words`);
      }),
    );
  });

  it('changes no text that has only other addresses', () => {
    fc.assert(
      fc.property(address, fc.array(fc.oneof(address, fc.string({ unit: 'binary' }))), (email, words) => {
        const text = words.filter((word) => !word.includes(email)).join(' , ');
        assert.equal(without(text, email), text);
      }),
    );
  });

  it('takes time in proportion to the text, also to one that tries to make it slow', () => {
    for (const piece of ['a@', '@', 'a.', "'", '%40', 'a@a.', 'a'])
      for (const end of ['@x.org', ' @', ''])
        assert.ok(timeOf(piece.repeat(200_000) + end) < 3000, `${piece} took too long`);
  });
});

function timeOf(text: string): number {
  const began = process.cpuUsage().user;
  without(text, 'nobody@example.com');
  return (process.cpuUsage().user - began) / 1000;
}

/** Every column of text in a row about a person, apart from times: its words go with the person, or it cannot hold any. */
const COLUMNS: Record<string, { erased: string; kept: string }> = {
  users: { erased: 'email name alias extra', kept: 'registered registered_raw' },
  posts: { erased: 'title content url extra', kept: 'created created_raw' },
  post_versions: { erased: 'title content', kept: '' },
  commented_posts: { erased: 'title url extra', kept: '' },
  comments: { erased: 'content extra', kept: 'kind status created created_raw' },
  comment_versions: { erased: 'content', kept: 'kind status' },
  outbox: {
    erased: 'title content email full_name url last_error',
    kept: 'batch source_key kind board content_hash state not_before baseline candidates matched',
  },
  outbox_attempts: { erased: 'error', kept: 'outcome' },
  outbox_edits: { erased: 'before', kept: '' },
};

describe('an erasure', () => {
  it('has an answer for every column of text, so that a new one is not forgotten', () => {
    const mirror = openTestMirror();
    const db = new Database(mirror.path, { readonly: true });
    try {
      for (const [table, { erased, kept }] of Object.entries(COLUMNS)) {
        const texts = db
          .prepare<[string], string>("SELECT name FROM pragma_table_info(?) WHERE type = 'TEXT'")
          .pluck()
          .all(table);
        const known = `${erased} ${kept}`.split(' ').filter((name) => name !== '');
        assert.deepEqual(texts.filter((name) => !name.endsWith('_at')).sort(), known.sort(), table);
      }
    } finally {
      db.close();
      mirror.dispose();
    }
  });
});
