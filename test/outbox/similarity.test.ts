import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  beginsAlike,
  CLEARLY_SIMILAR,
  comparable,
  isRewriting,
  similarity,
} from '../../src/outbox/similarity.ts';
import { REWRITES } from './rewrites.ts';

interface Text {
  title: string;
  content: string;
}

function score(sent: Text, shown: Partial<Text>): number {
  return similarity(comparable(sent), comparable({ ...sent, ...shown }));
}

/** Has something in it for every rewriting. */
const RICH: Text = {
  title: 'café export of board 17 is damn slow 🚀 for @ada.',
  content: [
    'Hello @ada, see [the docs](https://example.com/a/very/long/path/to/a/page?of=1) and **bold** words --',
    '"quoted" & <script>alert(1)</script> don\'t stop. ﬁne\u200b print\u0007 at https://example.com/another/long/path/1.',
  ].join('\n'),
};
const PLAIN: Text = { title: 'Dark mode 12', content: 'My eyes hurt at night, please.' };

describe('a text that the service has rewritten', () => {
  for (const [name, rewrite] of Object.entries(REWRITES))
    it(`by ${name} is clearly similar`, () => {
      for (const text of [RICH, PLAIN]) {
        const found = score(text, rewrite(text));
        assert.ok(found >= CLEARLY_SIMILAR, `${found} for ${JSON.stringify(rewrite(text))}`);
      }
    });

  it('in a script without spaces is clearly similar too', () => {
    const text = { title: 'ダークモードが欲しいです', content: '夜は目が痛い' };
    assert.ok(score(text, { content: '夜は目' }) >= CLEARLY_SIMILAR);
    assert.ok(score(text, { title: 'エクスポート機能が欲しい', content: '遅い' }) < CLEARLY_SIMILAR);
  });
});

describe('the cheap question before the whole comparison', () => {
  it('rules out nothing that two rewritings in a row can have made of a text', () => {
    const linked = { title: 'See https://example.com/a/b for @ada... and more', content: '' };
    const doubled = { title: 'Dark mode', content: 'Dark mode' };
    const all = Object.values(REWRITES);
    let made = 0;
    for (const text of [RICH, PLAIN, linked, doubled])
      for (const shown of all.flatMap((one) => all.map((other) => comparable(other(one(text)))))) {
        if (!isRewriting(comparable(text), shown)) continue;
        made++;
        assert.ok(beginsAlike(comparable(text), shown), `${shown.title.bare} | ${shown.content.bare}`);
      }
    assert.ok(made > all.length);
  });

  it('rules out other words, up to a link, a mention or a mask', () => {
    const isAlike = (sent: string, shown: string): boolean =>
      beginsAlike(comparable({ title: sent, content: '' }), comparable({ title: shown, content: '' }));
    assert.ok(!isAlike('Export to CSV', 'Export to PDF'));
    assert.ok(!isAlike('Export', 'Export to CSV'));
    assert.ok(!isAlike('Export to https://a.example', 'Import'));
    for (const shown of ['Export to', 'Export to CSV', 'Export **** more'])
      assert.ok(isAlike('Export to CSV', shown));
    assert.ok(isAlike('Ask @ada about it', 'Ask Ada Lovelace about it'));
  });
});

describe('another text is not clearly similar', () => {
  const others: [string, Text, Text][] = [
    ['of the same form with another number', PLAIN, { title: 'Dark mode 13', content: PLAIN.content }],
    [
      'whose number begins like ours',
      { title: 'A wish', content: 'Number 12' },
      { title: 'A wish', content: 'Number 1' },
    ],
    [
      'with the same title',
      PLAIN,
      { title: 'Dark mode 12', content: 'I love black, and batteries last longer with it.' },
    ],
    ['on the same subject', { title: 'Dark mode', content: '' }, { title: 'Light mode', content: '' }],
    [
      'about something else',
      RICH,
      { title: 'Invoices by mail', content: 'Could you send them on the first of the month?' },
    ],
  ];
  for (const [name, sent, shown] of others)
    it(name, () => assert.ok(score(sent, shown) < CLEARLY_SIMILAR, String(score(sent, shown))));
});

describe('a text made to be slow', () => {
  it('is compared by its beginning only', () => {
    const began = process.cpuUsage().user;
    for (const hostile of ['<script'.repeat(100_000), '[a]('.repeat(100_000), '*'.repeat(300_000)])
      score({ title: hostile, content: hostile }, { content: `${hostile}.` });
    assert.ok(process.cpuUsage().user - began < 60_000_000);
  });
});

describe('what a service can have made of a text', () => {
  const isMade = (sent: string, shown: string, content = ['', '']): boolean =>
    isRewriting(
      comparable({ title: sent, content: content[0] ?? '' }),
      comparable({ title: shown, content: content[1] ?? '' }),
    );

  it('has no word more than was sent, but the rest of the name of a person who was mentioned', () => {
    for (const [sent, shown] of [
      ['Ask @ada now', 'Ask Ada Lovelace now'],
      ['Ask @ada now', 'Ask <b>Ada King Lovelace</b> now'],
      ['问 @ada 吧', '问 Ada 洛夫 吧'],
    ] as const)
      assert.ok(isMade(sent, shown), shown);
    for (const [sent, shown] of [
      ['Add @channel mentions', 'Add channel email mentions'],
      ['Show @all in the member list', 'Show all guests in the member list'],
      ['Support @media queries', 'Support Media print queries'],
      ['Ask ada now', 'Ask Ada Lovelace now'],
    ] as const)
      assert.ok(!isMade(sent, shown), shown);
  });

  it('lacks no word but those that a filter masked, a cut took off or a script held', () => {
    const long = 'Please let people sort the columns of the big table by their owner and by date';
    for (const [sent, shown] of [
      ['Dark mode', 'DARK  mode!'],
      [long, long.slice(0, 60)],
      ['Colour the rows by their owner', 'Colour the rows…'],
      ['This damn export', 'This **** export'],
      ['Docs <script>alert(1)</script> please', 'Docs please'],
      ['Ship it 🚀', 'Ship it'],
      ['Re-open posts -- and 50% of comments', 'Re‑open posts – and 50% of comments'],
      ['# Load more than 50 % of +5 rows', 'Load more than 50 % of +5 rows'],
      ['Say "hello", please...', 'Say “hello”, please…'],
      ['**Bold** and `code` (now).', 'Bold and code (now)'],
    ] as const)
      assert.ok(isMade(sent, shown), shown);
    assert.ok(
      isMade('Dark mode for the whole site', 'Dark mode for the', [
        'My eyes hurt so much at night, every night.',
        'My eyes hurt so much at night, every night.',
      ]),
    );
  });

  it('is not another wish that only lacks a word, has other numbers, or another emoji', () => {
    for (const [sent, shown] of [
      ['Please do not remove the old editor', 'Please do remove the old editor'],
      ['Raise the limit from 100 to 1000', 'Raise the limit to 100'],
      ['Show build numbers in the footer of every page', 'Show build numbers'],
      ['Colour the rows by their owner', 'Colour the rows by their'],
      ['The export stops', 'The **** export stops'],
      ['More of this 👍', 'More of this 👎'],
      ['夜のモードは要らない', '夜のモードは要る'],
      ['Show times in UTC-2', 'Show times in UTC+2'],
      ['Examples for C#', 'Examples for C++'],
      ['Warn me where the score is < 5', 'Warn me where the score is > 5'],
      ['A plan for $10', 'A plan for €10'],
      ['Grades from A+ on', 'Grades from A- on'],
      ['Print rows 1-5', 'Print rows 1.5'],
      ['Show -5 degrees', 'Show 5 degrees'],
      ['Re-sign the contract', 'Resign the contract'],
      ['Raise the limit by 50%', 'Raise the limit by 50'],
      ['Zoom (+) button is too small', 'Zoom (-) button is too small'],
      ['Mood :) is counted twice', 'Mood :( is counted twice'],
      ['Filter a && b finds nothing', 'Filter a || b finds nothing'],
      ['Add i++ to the editor', 'Add i-- to the editor'],
      ['Is it slow?', 'Is it slow!'],
      ['Shorten x/y', 'Shorten x*y'],
      ["Set 5' as the height", 'Set 5" as the height'],
    ] as const)
      assert.ok(!isMade(sent, shown), shown);
    const form = 'Expected: it works as described. Actual: it does not.';
    assert.ok(!isMade('Set the timeout to 30 s', 'Set the timeout to 3', [form, form]));
    assert.ok(!isMade('The editor', 'The editor', ['Please do not remove it.', 'Please do remove it.']));
  });
});
