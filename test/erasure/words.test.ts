import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { isAboutErased } from '../../src/mirror/suppression/suppression.ts';
import { scrubber, withoutMeantAddresses } from '../../src/mirror/suppression/words.ts';
import { emailKey } from '../../src/text/email.ts';
import { anyText } from '../support/any-text.ts';
import { openTestMirror } from '../support/mirror.ts';

const part = fc.stringMatching(/^[a-z0-9]{1,8}([._+-][a-z0-9]{1,4})?$/);
const address = fc
  .tuple(part, fc.stringMatching(/^[a-z]{2,8}\.(org|example)$/))
  .map(([local, domain]) => `${local}@${domain}`);
const surroundings = fc.stringMatching(/^[ \n<>"'(),;:[\]/=?]{1,3}$/);

function without(text: string, email: string): string {
  return withoutMeantAddresses(text, (found) => emailKey(found) === emailKey(email));
}

describe('taking an address out of a text', () => {
  it('finds it between any characters and in any letter case, and changes nothing else', () => {
    fc.assert(
      fc.property(address, surroundings, surroundings, fc.boolean(), (email, before, after, isUpper) => {
        const text = `words${before}${isUpper ? email.toUpperCase() : email}${after}words`;
        assert.equal(without(text, email), `words${before}[erased]${after}words`);
      }),
    );
  });

  it('changes no text that has only other addresses', () => {
    fc.assert(
      fc.property(address, fc.array(fc.oneof(address, anyText())), (email, words) => {
        const text = words.filter((word) => !word.includes(email)).join(' , ');
        assert.equal(without(text, email), text);
      }),
    );
  });

  it('finds it in the other spellings that people and programs use, and leaves those of other addresses', () => {
    for (const spelling of [
      'bob [at] bob.example',
      'bob(at)bob.example',
      'bob&#64;bob.example',
      'B%6Fb%40bob.example',
    ])
      for (const [text, rest] of [
        [`ask ${spelling}, please`, 'ask [erased], please'],
        [`ask ann.${spelling}, please`, `ask ann.${spelling}, please`],
      ] as const)
        assert.equal(without(text, 'bob@bob.example'), rest);
  });

  it('takes out the first of two that overlap, and nothing twice', () => {
    const isMeant = (email: string): boolean =>
      ['ann@bob.example', 'bob.example@eve.example'].includes(email);
    assert.equal(withoutMeantAddresses('to ann@bob.example@eve.example', isMeant), 'to [erased]@eve.example');
  });

  it('finds it in a link with letters that are percent-encoded', () => {
    const link = 'https://x.example/posts?creator=';
    assert.equal(
      without(`${link}Kim.M%C3%BCller%40Example.com`, 'kim.müller@example.com'),
      `${link}[erased]`,
    );
    assert.equal(without(`${link}ann%2Bbeta%40ann.example`, 'ann+beta@ann.example'), `${link}[erased]`);
  });

  it('takes time in proportion to the text, also to one that tries to make it slow', () => {
    for (const piece of ['a@', '@', 'a.', "'", '%40', '%C3', '%C3%BC', 'a@a.', 'a'])
      for (const end of ['@x.org', ' @', ''])
        assert.ok(timeOf(piece.repeat(20_000) + end) < 1500, `${piece} took too long`);
  });
});

describe('taking an address out of JSON', () => {
  const { json } = scrubber((email) => email === 'bob@bob.example');

  it('keeps numbers that are longer than the language can count', () => {
    const id = '12345678901234567890';
    assert.equal(json(`{"by":"bob@bob.example","id":${id}}`), `{"by":"[erased]","id":${id}}`);
  });

  it('finds it in a key, too', () => {
    assert.equal(
      json('{"bob@bob.example":[1,{"x":"to bob@bob.example"}]}'),
      '{"[erased]":[1,{"x":"to [erased]"}]}',
    );
  });

  it('leaves JSON without an address unchanged', () => {
    for (const text of ['{"b": "ann@bob.example", "a": 1}', '"bob&#64;"', 'null'])
      assert.equal(json(text), text);
  });
});

describe('taking a person out of JSON', () => {
  const { json } = scrubber(
    (email) => email === 'bob@bob.example',
    (user) => user === 50,
  );
  const bob = { id: 50, name: 'Bob Bobson', alias: 'bobby', is_team: false };
  const gone = { alias: '[erased]', id: 50, is_team: false, name: '[erased]' };

  it('takes name and alias along where an object has the address or the number of the person', () => {
    const status = { id: 2, name: 'Planned', changed_by: { ...bob, email: 'bob@bob.example' } };
    assert.deepEqual(JSON.parse(json(JSON.stringify(status))), {
      ...{ id: 2, name: 'Planned', changed_by: { ...gone, email: '[erased]' } },
    });
    const voters = [bob, { email: 'bob@bob.example', name: 'Bob', alias: '' }, { id: 51, name: 'Ann' }];
    assert.deepEqual(JSON.parse(json(JSON.stringify({ voters }))), {
      voters: [gone, { email: '[erased]', name: '[erased]', alias: '' }, { id: 51, name: 'Ann' }],
    });
    assert.equal(
      json('{"author_email":"bob@bob.example","author_name":"Bob"}'),
      '{"author_email":"[erased]","author_name":"[erased]"}',
    );
  });

  it('does not take a status or another object with the same id for the person', () => {
    for (const text of ['{"id":50,"name":"Planned"}', '{"vote":{"id":50,"weight":2}}', '{"id":"50"}'])
      assert.equal(json(text), text);
  });
});

describe('taking an address out of a link', () => {
  const without = (address: string, email: string): string =>
    scrubber((found) => emailKey(found) === emailKey(email)).link(address);

  it('reads what the link asks for as its page does', () => {
    for (const [email, query] of [
      ['ann+beta@ann.example', 'creator=ann%2Bbeta%40ann.example'],
      ['kim.müller@example.com', 'creator=Kim.M%C3%BCller%40Example.com'],
      ['kim.müller@example.com', 'creator=Kim.Mu%CC%88ller%40example.com'],
      ['kim@example.com', 'creator=kim@example%2Ecom'],
      ['kim@example.com', 'creator=%6B%69%6D%40example.com'],
    ] as const)
      assert.equal(without(`/posts?${query}&sort=votes`, email), '/posts?creator=%5Berased%5D&sort=votes');
    assert.equal(
      without('/posts?search=ask+Kim.M%C3%BCller%40example.com+soon', 'kim.müller@example.com'),
      '/posts?search=ask+%5Berased%5D+soon',
    );
  });

  it('leaves a link with another address unchanged', () => {
    for (const address of [
      '/posts?creator=ann%2Bbeta%40ann.example',
      '/posts?search=%20x%20',
      '/boards/ideas',
    ])
      assert.equal(without(address, 'beta@ann.example'), address);
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
    kept: 'batch source_key kind board content_hash state not_before baseline candidates mark matched',
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

describe('a quarantined body', () => {
  const list = { ids: new Set([7]), scrub: scrubber((found) => found === 'gone@x.test') };
  it('is about an erased person by the author or an address, wherever the body was cut off', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(7, 8),
        fc.constantFrom('gone@x.test', 'kim@x.test'),
        fc.nat(60),
        (id, email, cut) => {
          const whole = JSON.stringify({ title: email, creator: { id } });
          assert.equal(isAboutErased(whole, list), id === 7 || email.startsWith('gone'));
          const end = 11 + email.length + (cut % (whole.length - email.length - 11));
          assert.equal(isAboutErased(whole.slice(0, end), list), email.startsWith('gone'));
        },
      ),
    );
  });
});
