import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { looksLike, type SeenPost, twinKey } from '../../src/outbox/match.ts';
import type { PostText } from '../../src/store/outbox/seam.ts';
import { TEXT } from './bench.ts';

const SEEN: SeenPost = {
  title: TEXT.title,
  content: TEXT.content,
  boardUrl: '/b/ideas',
  creatorEmail: 'x@example.com',
};

function isMatch(row: Partial<PostText>, post: Partial<SeenPost>): boolean {
  return looksLike({ ...TEXT, ...row }, { ...SEEN, ...post });
}

describe('a post is recognised although the service', () => {
  const cases: [string, string, string][] = [
    ['changed line endings', 'One.\r\nTwo.', 'One.\nTwo.'],
    ['trimmed it', '  One.\n\n', 'One.'],
    ['wrapped it in paragraphs', 'One.\n\nTwo.', '<p>One.</p>\n<p>Two.</p>'],
    ['made breaks of lines', 'One.\nTwo.', '<div>One.<br/>Two.</div>'],
    ['escaped its signs', `1 < 2 && "3" > '2'`, '1 &lt; 2 &amp;&amp; &quot;3&quot; &gt; &#39;2&#39;'],
    ['escaped and wrapped it', 'a <b> & c', '<p>a &lt;b&gt; &amp; c</p>'],
    ['took its mark-up away', '<b>Bo</b>ld', 'Bold'],
    ['escaped it twice', 'R&D', 'R&amp;amp;D'],
    ['composed its accents', 'Cafe\u0301', 'Caf\u00e9'],
    ['decomposed its accents', 'Caf\u00e9', 'Cafe\u0301'],
    ['made hard spaces', 'a b', 'a&nbsp;b'],
    ['used numbers for signs', 'é', '&#xe9;'],
  ];
  for (const [name, sent, shown] of cases)
    it(name, () => {
      assert.ok(isMatch({ content: sent }, { content: shown }));
      assert.ok(isMatch({ title: sent }, { title: shown }));
    });

  it('wrote the address in another case, or does not show it', () => {
    const row = { email: 'Ada@Example.com', full_name: 'Ada' };
    for (const creatorEmail of ['ada@example.com', null, '']) assert.ok(isMatch(row, { creatorEmail }));
  });
});

describe('a post is another one', () => {
  it('when title, content, board or creator differ', () => {
    assert.ok(isMatch({}, {}));
    assert.ok(!isMatch({}, { title: 'Light mode' }));
    assert.ok(!isMatch({}, { content: 'My eyes hurt.' }));
    assert.ok(!isMatch({}, { boardUrl: '/b/bugs' }));
    assert.ok(!isMatch({ email: 'ada@example.com' }, { creatorEmail: 'bob@example.com' }));
  });

  it('and boards are compared by the short part of their address', () => {
    for (const boardUrl of ['/b/ideas', 'https://x.test/b/ideas/', 'ideas', '/b/Ideas?sort=new'])
      assert.ok(isMatch({}, { boardUrl }), boardUrl);
  });
});

/** Texts made of what services change: tags, entities, brackets, accents, white space. */
const pieces = [
  'a',
  'b',
  ' ',
  '\r\n',
  '<',
  '>',
  '<b>',
  '</b>',
  '&',
  '&amp;',
  '&lt;',
  '&gt;',
  '&#233;',
  'é',
  'e\u0301',
  'amp;',
  'lt;',
];
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join(''));
const EMAILS = [null, 'ada@example.com', 'ADA@example.com', 'bob@example.com'];
const rowOf = (title: fc.Arbitrary<string>, content: fc.Arbitrary<string>) =>
  fc.record({
    board: fc.constantFrom('ideas', 'Ideas', '/b/ideas/'),
    title,
    content,
    email: fc.constantFrom(...EMAILS),
    full_name: fc.constant(null),
  });
const row = rowOf(text, text);

/** The same text as services and people write it. */
const WAYS: ((value: string) => string)[] = [
  (value) => value,
  escaped,
  (value) => escaped(escaped(value)),
  (value) => `<p>${value}</p>`,
  (value) => `<p>${escaped(value)}</p>`,
  (value) => value.replace(/<[^<>]*>/g, ''),
  (value) => value.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  (value) => value.normalize('NFC').trim(),
];
const wayOf = (value: string) => fc.constantFrom(...WAYS).map((way) => way(value));
const alike = fc.tuple(text, text).chain(([title, content]) => {
  const oneRow = rowOf(wayOf(title), wayOf(content));
  return fc.tuple(oneRow, oneRow, rowOf(wayOf(title), wayOf(content)));
});

function escaped(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

describe('two rows that one post could be taken for', () => {
  it('have the same key, whatever they are made of', () => {
    let met = 0;
    fc.assert(
      fc.property(alike, ([a, b, shown]) => {
        const seen = { ...shown, boardUrl: shown.board, creatorEmail: shown.email };
        if (!looksLike(a, seen) || !looksLike(b, seen)) return;
        met++;
        assert.equal(twinKey(a), twinKey(b));
      }),
      { numRuns: 2000 },
    );
    assert.ok(met > 200, `only ${met} pairs had a post in common`);
  });

  it('and every row matches its own post, escaped, wrapped or bare', () => {
    fc.assert(
      fc.property(row, (asked) => {
        const shown = { boardUrl: '/b/ideas', creatorEmail: asked.email, title: asked.title };
        for (const change of [
          escaped,
          (value: string) => `<p>${escaped(value)}</p>`,
          (value: string) => value.trim(),
        ])
          assert.ok(looksLike(asked, { ...shown, content: change(asked.content) }));
      }),
    );
  });
});

describe('a text made to be slow', () => {
  it('is compared in one pass: hundreds of kilobytes of brackets, or of escapes within escapes', () => {
    const began = performance.now();
    for (const hostile of ['<'.repeat(200_000) + '>'.repeat(200_000), `&${'amp;'.repeat(100_000)}`])
      assert.ok(isMatch({ content: hostile }, { content: hostile }));
    assert.ok(performance.now() - began < 5000);
  });
});
