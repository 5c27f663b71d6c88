import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { comparable, isRewriting } from '../../src/outbox/similarity.ts';

function isMade(sent: string, shown: string, field: 'title' | 'content' = 'title'): boolean {
  const text = { title: 'A wish', content: 'Some text' };
  return isRewriting(comparable({ ...text, [field]: sent }), comparable({ ...text, [field]: shown }));
}

const OTHERS: [kind: string, sent: string, shown: string][] = [
  ['tag', 'Allow <iframe> in posts', 'Allow <script> in posts'],
  ['tag', 'Support <svg> upload', 'Support <mp4> upload'],
  ['tag', 'Allow <b> in posts', 'Allow <i> in posts'],
  ['tag', 'Show <b>names</b> there', 'Show <i>names</i> there'],
  ['tag', 'Allow <iframe> in posts', 'Allow <br> in posts'],
  ['tag', 'Ask for <имя> first', 'Ask for <файл> first'],
  ['comparison', 'Show it where 1 < 2 && 3 > 2', 'Show it where 1 < a && b > 2'],
  ['shortcode', 'Reaction :smile: in chat', 'Reaction :cry: in chat'],
  ['shortcode', 'Reaction in chat', 'Reaction :cry: in chat'],
  ['entity', 'Use "&copy;" mark', 'Use "&reg;" mark'],
  ['target of a link', 'Link [docs](https://a.com/x) there', 'Link [docs](https://b.com/y) there'],
  ['target of a link', 'Link [docs](https://a.com/x/12) there', 'Link [docs](https://a.com/x/1) there'],
  ['target of a link', '@kim: [docs](https://a.com/x)', '@kim: [docs](https://b.com/y)'],
  ['target of a link', 'Link [docs](https://a.com/x) there', 'Link <a href="https://b.com/y">docs</a> there'],
  ['sound mark', 'バスを追加', 'パスを追加'],
  ['tone mark', 'ขอ ข้าว ในเมนู', 'ขอ ข่าว ในเมนู'],
  ['vowel sign', 'बाज़ार में मेल दिखाएं', 'बाज़ार में माल दिखाएं'],
  ['vowel sign', 'দিন গণনা', 'দীন গণনা'],
  ['vowel sign', 'عَلَم جديد', 'عِلْم جديد'],
  ['accent', 'Thêm nút má vào đơn', 'Thêm nút mà vào đơn'],
  ['accent at the end', 'Thêm nút má', 'Thêm nút ma'],
  ['accent', 'Año fiscal nuevo', 'Ano fiscal nuevo'],
  ['accent', 'Показать счёт за год', 'Показать счет за год'],
  ['flag', 'Ship to 🇩🇪', 'Ship to 🇫🇷'],
  ['flag of tag characters', 'Region 🏴󠁧󠁢󠁥󠁮󠁧󠁿 team', 'Region 🏴󠁧󠁢󠁳󠁣󠁴󠁿 team'],
  ['arrow', 'Copy left → right panel', 'Copy left ← right panel'],
  ['number of stars', 'Rate drivers ⭐⭐⭐', 'Rate drivers ⭐'],
  ['symbol', 'Note ♯ in score', 'Note ♭ in score'],
  ['symbol', 'Chess ♔ piece', 'Chess ♚ piece'],
  ['prime', 'Length 5′ label', 'Length 5″ label'],
  ['skin tone', 'Skin 👍🏻 tone', 'Skin 👍🏿 tone'],
  ['part of an emoji', 'Avatar 👩‍💻 icon', 'Avatar 👨‍💻 icon'],
  ['emoji, where none was sent', 'Ship it', 'Ship it 🚀'],
];

describe('a text is not what a service made of one with another', () => {
  for (const [kind, sent, shown] of OTHERS)
    it(`${kind}: ${sent} / ${shown}`, () => {
      assert.ok(!isMade(sent, shown));
      assert.ok(!isMade(sent, shown, 'content'));
      assert.ok(isMade(sent, sent));
    });

  it('sign in a text that had words', () => {
    assert.ok(!isMade('Some text', '⭐', 'content'));
  });
});

const LONG = 'We need this → every morning for the reports that our teams print 🚀 and read ⭐⭐⭐';
const REWRITTEN: [how: string, sent: string, shown: string][] = [
  ['escapes tags', 'Allow <iframe> in posts', 'Allow &lt;iframe&gt; in posts'],
  ['strips tags', 'Allow <iframe> in posts', 'Allow in posts'],
  ['strips tags and wraps the text', 'Allow <iframe> here', '<p>Allow here</p>'],
  ['keeps harmless tags only', '<div>Show <b>it</b></div> now', 'Show <b>it</b> now'],
  ['closes a tag', 'Show <b>it now', 'Show <b>it now</b>'],
  ['names bold text otherwise', 'Show <b>it</b> now', 'Show <strong>it</strong> now'],
  ['makes breaks of line ends', 'One <b>two</b>\nthree', '<p>One <b>two</b><br />three</p>'],
  ['makes HTML of Markdown', '## Show **it** `now`', '<h2>Show <strong>it</strong> <code>now</code></h2>'],
  ['makes shortcodes of emoji', 'Ship it 🚀🇩🇪', 'Ship it :rocket::de:'],
  ['makes emoji of shortcodes', 'Ship it :rocket:', 'Ship it 🚀'],
  ['drops emoji beyond 16 bits', 'Ship → it ✅ 🚀', 'Ship → it ✅'],
  ['drops what joins emoji', 'Avatar 👩‍💻 icon', 'Avatar 👩💻 icon'],
  ['drops pictures but no tones', 'Skin 👍🏻 tone', 'Skin 🏻 tone'],
  ['drops invisible signs', 'Region 🏴󠁧󠁢󠁥󠁮󠁧󠁿 team', 'Region 🏴 team'],
  ['takes compatibility forms', 'Buy Acme™ for ½ of ５', 'Buy AcmeTM for 1⁄2 of 5'],
  ['decomposes accents', 'Café バス', 'Café バス'.normalize('NFD')],
  ['names accents', 'Café à la carte', 'Caf&eacute; &agrave; la carte'],
  ['cuts the end', LONG, LONG.slice(0, 50)],
  ['cuts the end with dots', LONG, `${LONG.slice(0, -2)}…`],
  ['cuts between the signs of a letter', 'ภาษาไทย'.repeat(9), 'ภาษาไทย'.repeat(9).slice(0, 50)],
  [
    'links what looks like an address',
    'See example.com.',
    'See <a href="https://example.com">example.com</a>.',
  ],
  ['links a mention', 'Ask @ada now', 'Ask <a href="https://x.test/u/17">@ada</a> now'],
  [
    'leads links over a page of its own',
    'See [docs](https://a.com/x)',
    'See <a href="https://out.test/?to=https%3A%2F%2Fa.com%2Fx">docs</a>',
  ],
  ['drops the target of a link', 'See [docs](https://a.com/x)', 'See docs'],
];

describe('a text is recognised although the service', () => {
  for (const [how, sent, shown] of REWRITTEN) it(how, () => assert.ok(isMade(sent, shown, 'content')));
});
