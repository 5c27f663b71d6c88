import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { PostText } from '../../src/outbox/decide/types.ts';
import { contentHash } from '../../src/outbox/decide/whose.ts';
import { mailbox } from '../../src/text/email.ts';
import { TEXT } from './bench.ts';

function isMatch(row: Partial<PostText>, post: Partial<PostText>): boolean {
  return contentHash({ ...TEXT, ...row }) === contentHash({ ...TEXT, ...post });
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
    ['used names for signs', 'Café “Größe”…', 'Caf&eacute; &ldquo;Gr&ouml;&szlig;e&rdquo;&hellip;'],
    ['used the name of a capital', 'Ørsted', '&Oslash;rsted'],
    ['escaped the number of no character', '&#9999999; &#xffffff;', '&amp;#9999999; &amp;#xffffff;'],
  ];
  for (const [name, sent, shown] of cases)
    it(name, () => {
      assert.ok(isMatch({ content: sent }, { content: shown }));
      assert.ok(isMatch({ title: sent }, { title: shown }));
    });
});

describe('a mailbox is the same', () => {
  it('however its address is written', () => {
    for (const [one, other] of [
      ['Ada@Example.com', ' ada@example.com'],
      ['ada+news@example.com', 'ada@example.com'],
      ['a.da.l+x@gmail.com', 'adal@googlemail.com'],
    ] as const)
      assert.equal(mailbox(one), mailbox(other));
    assert.notEqual(mailbox('a.da@example.com'), mailbox('ada@example.com'));
  });
});

describe('a post is another one', () => {
  it('when title, content or board differ', () => {
    assert.ok(isMatch({}, {}));
    assert.ok(!isMatch({}, { title: 'Light mode' }));
    assert.ok(!isMatch({}, { content: 'My eyes hurt.' }));
    assert.ok(!isMatch({}, { board: '/b/bugs' }));
  });

  it('is not assumed where only the spelling of its board’s address differs', () => {
    for (const board of ['/b/ideas', 'https://x.test/b/ideas/', 'ideas', '/b/Ideas?sort=new'])
      assert.ok(isMatch({}, { board }), board);
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

function escaped(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

describe('every row', () => {
  it('matches its own post, escaped, wrapped or trimmed', () => {
    fc.assert(
      fc.property(row, (asked) => {
        for (const change of [
          escaped,
          (value: string) => `<p>${escaped(value)}</p>`,
          (value: string) => value.trim(),
        ])
          assert.equal(contentHash(asked), contentHash({ ...asked, content: change(asked.content) }));
      }),
    );
  });
});

describe('a text made to be slow', () => {
  it('is compared in one pass: hundreds of kilobytes of brackets, or of escapes within escapes', () => {
    const began = process.cpuUsage().user;
    for (const hostile of ['<'.repeat(200_000) + '>'.repeat(200_000), `&${'amp;'.repeat(100_000)}`])
      assert.ok(isMatch({ content: hostile }, { content: hostile }));
    assert.ok(process.cpuUsage().user - began < 30_000_000);
  });
});
