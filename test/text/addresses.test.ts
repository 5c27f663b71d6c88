import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { replaceAddresses, soleAddress } from '../../src/text/addresses.ts';

const found = (text: string): string => replaceAddresses(text, (address) => `{${address}}`);

/** Each is kim@corp.example for whoever reads it. */
const SPELLINGS = [
  'kim@corp.example',
  'kim＠corp．example',
  'kim&#64;corp.example',
  'kim&#X40;corp&#46;example',
  'kim&amp;#64;corp&amp;amp;period;example',
  'kim&commat;corp&period;example',
  'kim%40corp%2Eexample',
  'kim%252540corp.example',
  String.raw`kim\u0040corp\u002eexample`,
  'kim @ corp.example',
  'kim @corp.example',
  'kim@ corp.example',
  'kim\t@\u00a0corp.example',
  'k\u200bi\u00adm@co\u200drp.exam\u2060ple',
  'kim[@]corp.example',
  'kim (@) corp.example',
  'kim[at]corp[dot]example',
  'kim ( AT ) corp ( dot ) example',
  'kim［at］corp［dot］example',
  'kim@corp\u2024example',
  'ｋｉｍ@ｃorp.example',
] as const;

describe('an address in a text', () => {
  it('is found whole in every spelling, and is the same one', () => {
    for (const text of SPELLINGS)
      assert.equal(found(`see ${text}, please`), 'see {kim@corp.example}, please', text);
    for (const [text, rest] of [
      ['**kim@corp.example**', '**{kim@corp.example}**'],
      ['Mail kim@corp.example. thanks', 'Mail {kim@corp.example}. thanks'],
      ['Mail kim@corp.example..thanks', 'Mail {kim@corp.example}..thanks'],
      ['kim@corp. lee@corp.example', 'kim@corp. {lee@corp.example}'],
      ['kim"@corp.example', 'kim"@corp.example'],
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
    for (const sign of "!#$%'*+-^_`{|}~.")
      for (const name of [`kim${sign}o`, `kim${sign}`])
        assert.equal(found(`see ${name}@corp.example.`), `see {${name}@corp.example}.`);
    assert.equal(found('"kim o"@corp.example'), '{"kim o"@corp.example}');
    assert.equal(
      found('kim@[192.0.2.1], kim@[IPv6:2001:db8::1]'),
      '{kim@[192.0.2.1]}, {kim@[IPv6:2001:db8::1]}',
    );
    for (const letter of ['%C3%B6', '%25C3%25B6', 'o%CC%88'])
      assert.equal(found(`j${letter}rg@corp.example`).normalize('NFC'), '{jörg@corp.example}');
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
