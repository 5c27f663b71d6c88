import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../../src/sandbox/random.ts';
import { REWRITE_KINDS, type RewriteKind, rewrite } from '../../src/sandbox/rewrite.ts';
import { create, open } from './client.ts';

const LONG = 'x'.repeat(300);

/** Title and content before and after. */
const EXAMPLES: Record<RewriteKind, [title: string, content: string, newTitle: string, newContent: string]> =
  {
    trim: [' a ', '\nb\n', 'a', 'b'],
    'collapse-space': ['a  b', 'c\n\n d', 'a b', 'c d'],
    crlf: ['a', 'b\nc\r\nd', 'a', 'b\r\nc\r\nd'],
    nfc: ['e\u0301', 'n\u0303', '\u00e9', '\u00f1'],
    nfkc: ['ﬁne ²', 'Ａ…', 'fine 2', 'A...'],
    escape: ['R&D', `<b> "it's"`, 'R&amp;D', '&lt;b&gt; &quot;it&#39;s&quot;'],
    'named-entities': ['Café – ☃', '5 € < ÿ', 'Caf&eacute; &ndash; ☃', '5 &euro; &lt; &yuml;'],
    'paragraph-html': ['a & b', 'c < d\ne', 'a & b', '<p>c &lt; d<br />e</p>'],
    'markdown-html': [
      '# a',
      '# Why\n\n**very** _fine_ `x` [y](http://z)\n\n- one\n- two',
      '# a',
      '<h1>Why</h1>\n<p><strong>very</strong> <em>fine</em> <code>x</code> <a href="http://z" rel="nofollow">y</a></p>\n' +
        '<ul>\n<li>one</li>\n<li>two</li>\n</ul>',
    ],
    'sanitise-script': ['a<script>b</script>c', '<b onclick="x()">d</b> <img src=e>', 'ac', '<b>d</b> '],
    'shorten-links': [
      'see https://example.com/a/very/long/path?q=1 now',
      'http://a.example/',
      'see example.com/a/very/long/… now',
      'a.example/',
    ],
    'smart-quotes': [`"It's" -- a`, 'b --- c...', '“It’s” – a', 'b — c…'],
    'truncate-title': [LONG, LONG, LONG.slice(0, 255), LONG],
    'truncate-title-dots': [LONG, LONG, `${LONG.slice(0, 252)}...`, LONG],
    'truncate-content': ['a', LONG.repeat(5), 'a', LONG.repeat(5).slice(0, 1000)],
    'empty-content': ['a', 'b', 'a', ''],
    'emoji-shortcode': ['a 🎉', '🦖 2 🇦🇹', 'a :tada:', ':u1f996: 2 :u1f1e6:'],
    'emoji-strip': ['a 👩‍💻b', '❤️3', 'a b', '3'],
    'emoji-question': ['a 👍🏽', '😀😀', 'a ?', '??'],
    'capitalise-first': ['dark mode', 'élan', 'Dark mode', 'Élan'],
    'capitalise-words': ['dark mode', 'as it is', 'Dark Mode', 'as it is'],
    'strip-trailing-dot': ['Dark mode.', 'As it is.', 'Dark mode', 'As it is.'],
    'strip-zero-width': ['a\u200bb', '\ufeffc\u200d', 'ab', 'c'],
    'strip-control': ['a\u0007b', 'c\td\ne\u0085', 'ab', 'c\td\ne'],
    'word-filter': ['Damn slow', 'a stupid thing', 'D*** slow', 'a s***** thing'],
    'expand-mention': ['ask @ada', 'not me@example.com', 'ask [@ada](/users/ada/)', 'not me@example.com'],
  };

for (const kind of REWRITE_KINDS) {
  test(`${kind} changes what it is about and nothing else`, () => {
    const [title, content, newTitle, newContent] = EXAMPLES[kind];
    const changed = rewrite({ title, content }, [kind], createRandom(1));
    assert.deepEqual(changed, { title: newTitle, content: newContent, applied: [kind] });
    assert.ok(changed.title.isWellFormed() && changed.content.isWellFormed());
  });
}

test('several kinds are applied one after the other, and what changed nothing is not named', () => {
  const kinds = ['trim', 'nfc', 'truncate-title=4', 'capitalise-first'];
  assert.deepEqual(rewrite({ title: ' dark mode', content: '' }, kinds, createRandom(1)), {
    title: 'Dark',
    content: '',
    applied: ['trim', 'truncate-title', 'capitalise-first'],
  });
});

test('a title is never cut through the middle of a sign', () => {
  const { title } = rewrite({ title: 'abc😀', content: '' }, ['truncate-title=4'], createRandom(1));
  assert.equal(title, 'abc');
});

test('all of them together are reached by "all", the same ones for the same seed', async (t) => {
  const words = { title: ` "damn" café 🎉 @ada ${LONG}.`, content: '**x**\n<script>y</script>' };
  const made = async (): Promise<string[]> => {
    const sandbox = await open(t, { posts: 0, rewrite: ['all'], seed: 4 });
    for (let n = 0; n < 30; n++) await create(sandbox, words);
    assert.ok(
      sandbox.world
        .ledger()
        .every(({ title, content }) => title === words.title && content === words.content),
    );
    return sandbox.world.ledger().map(({ rewritten }) => rewritten);
  };
  const kinds = await made();
  assert.deepEqual(await made(), kinds);
  assert.ok(new Set(kinds).size > 8, kinds.join(' '));
});
