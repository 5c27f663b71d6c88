import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { replaceAddresses, soleAddress } from '../../src/text/addresses.ts';

const found = (text: string): string => replaceAddresses(text, (address) => `{${address}}`);

/** Each is kim@corp.example for whoever reads it. */
const SPELLINGS = [
  'kim@corp.example',
  'kim＠corp．example',
  'kim&#64;corp.example',
  'kim&#64corp.example',
  'kim&#X40;corp&#46;example',
  'kim&amp;#64;corp&amp;amp;period;example',
  'kim&commat;corp&period;example',
  'kim%40corp%2Eexample',
  'kim%252540corp.example',
  'kim=40corp=2Eexample',
  String.raw`kim\@corp.example`,
  String.raw`kim\u0040corp\x2eexample`,
  'kim @ corp.example',
  'kim @corp.example',
  'kim@ corp.example',
  'kim@\ncorp.example',
  'kim\t@\u00a0corp.example',
  'kim&nbsp;@&nbsp;corp.example',
  'k\u200bi\u00adm@co&shy;rp.exam\u2060ple',
  'kim\u2800@corp.example',
  'kim[@]corp.example',
  'kim (@) corp.example',
  'kim[at]corp[dot]example',
  'kim ( AT ) corp ( dot ) example',
  'kim<wbr>@corp.example',
  'kim<span class="x">@</span>corp<!-- no -->.example',
  'k<b>i</b>m@corp<i>.</i>example',
  'kim @ corp . example',
  'kim@corp .example',
  'kim@corp. example',
  'kim@corp.\nexample',
  'kim\n@\ncorp.example',
  'kim@corp..example',
  'kim@@@corp.example',
  'kim@corp dot example',
  'kim @ corp dot example',
  'kim**@**corp.example',
  'kim **@** corp.example',
  'kim@**corp**.example',
  'kim@_corp_.example',
  'kim@c*or*p.e*xample',
  'kim`@`corp.example',
  `kim"@"corp.example`,
  `kim'@'corp.example`,
  'kim@(corp).example',
  'kim@corp\u2024example',
  'kim@corp·example',
  'ｋｉｍ@ｃorp.example',
  'ⓚⓘⓜ@ⓒⓞⓡⓟ.example',
  'kim%u0040corp.example',
  String.raw`kim\u{40}corp.example`,
  String.raw`kim\U00000040corp\u{2e}example`,
  String.raw`kim\100corp\056example`,
  'kim［at］corp［dot］example',
  'kim［ａｔ］corp.example',
  'kim@corp•example',
  'kim@corpꓸexample',
  'kim(office)@corp.example',
] as const;

describe('an address in a text', () => {
  it('is found whole in every spelling, and is the same one', () => {
    for (const text of SPELLINGS)
      assert.equal(found(`see ${text}, please`), 'see {kim@corp.example}, please', text);
    for (const [text, rest] of [
      ['<b>kim</b>@corp.example', '<b>{kim@corp.example}'],
      ['<p>kim</p>@corp.example', '<p>{kim@corp.example}'],
      ['**kim**@corp.example', '**{kim@corp.example}'],
      ['**kim@corp**.example', '**{kim@corp.example}'],
      ['kim@corp.**example**', '{kim@corp.example}**'],
      ['(kim)@corp.example', '({kim@corp.example}'],
      ['Mail kim@corp.example. thanks', 'Mail {kim@corp.example}. thanks'],
      ['Mail kim@corp.example..thanks', 'Mail {kim@corp.example}..thanks'],
      ['kim@corp. lee@corp.example', 'kim@corp. {lee@corp.example}'],
      ['“kim”@corp.example', '“{kim@corp.example}'],
      ['kim"@corp.example', '{kim@corp.example}'],
      ['<a href="mailto:kim@corp.example">Kim</a>', '<a href="mailto:{kim@corp.example}">Kim</a>'],
      [
        'https://x.example/u?id=1&email=kim@corp.example&x=1',
        'https://x.example/u?id=1&email={kim@corp.example}&x=1',
      ],
      ['https://kim@corp.example/x', 'https://{kim@corp.example}/x'],
      ['kim@corp.example/kim@corp.example', '{kim@corp.example}/{kim@corp.example}'],
    ] as const)
      assert.equal(found(text), rest, text);
  });

  it('may have any letter that is allowed in one', () => {
    for (const sign of "!#$%&'*+-/=?^_`{|}~.")
      for (const name of [`kim${sign}o`, `kim${sign}`])
        assert.equal(found(`see ${name}@corp.example.`), `see {${name}@corp.example}.`);
    assert.equal(found('customer/kim=shipping@corp.example'), '{customer/kim=shipping@corp.example}');
    assert.equal(found('"kim o"@corp.example'), '{"kim o"@corp.example}');
    assert.equal(
      found('kim@[192.0.2.1], kim@[IPv6:2001:db8::1]'),
      '{kim@[192.0.2.1]}, {kim@[IPv6:2001:db8::1]}',
    );
    assert.equal(found('kim@192.0.2.1.'), '{kim@192.0.2.1}.');
    for (const letter of ['%C3%B6', '%25C3%25B6', 'o%CC%88'])
      assert.equal(found(`j${letter}rg@corp.example`).normalize('NFC'), '{jörg@corp.example}');
    for (const dash of '-\u2010\u2011\u2013')
      assert.equal(found(`kim@my${dash}corp.example`), '{kim@my-corp.example}');
    assert.equal(found('kim@my_corp.example'), '{kim@my_corp.example}');
    assert.equal(found('O’Brien@corp.example'), `{${soleAddress("O'Brien@corp.example")}}`);
    assert.equal(soleAddress('Kim <kim@corp.example>'), null);
  });

  it('is nothing that only looks a little like one', () => {
    for (const text of [
      '3 @ 5.00 each, 50% @ 20.5%',
      '@mention hello',
      'a code `a@b`, user@localhost, git@host:~/x.y',
      'pkg@1.2.3 and x@17.0.0-rc.1',
      'npm i @scope/pkg.js',
      'https://medium.example/@kim/post.html https://x.example/@kim.o',
      'me @ 5pm. Thanks',
      'price @ 3 . Then we',
      'I am @ work. thanks, also x@home. Then',
      'seen @ work...please mend',
      'thanks @ada. can you',
      'pkg@1.2.3.4-rc and pkg@1.2.3.4.5',
      'x=40&y=example.com width=40px',
      'class X\n@decorator.method',
      'R&D at example.com, 100% at corp.example',
      'ask me@work • thanks, then • you',
      String.raw`C:\100\files.example and \1000.example`,
      'f(x)@g, call(me)@home',
    ])
      assert.equal(found(text), text);
  });
});
