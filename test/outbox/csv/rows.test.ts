import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { accepted, outcomes, read, readChunked, reasonOf, refusal } from './feed.ts';
import { recordLines } from './reference.ts';

const HEADER = 'board,title,content\n';

/** Hostile files: their text, and the outcome of each record by its line. */
const CASES: Record<string, [string, [number, string][]]> = {
  'a row with too few cells and one with too many': [
    `${HEADER}b,one,x\nb,two\nb,three,x,y\nb,four,x\n`,
    [
      [2, 'ok'],
      [3, 'has 2 cells where the header has 3'],
      [4, 'has 4 cells where the header has 3'],
      [5, 'ok'],
    ],
  ],
  'rows with more cells than the header, which are empty in all but one': [
    `${HEADER}b,one,x,\nb,two,x,, ,\nb,three,,,y\n,,,,\n`,
    [
      [2, 'ok'],
      [3, 'ok'],
      [4, 'has 5 cells where the header has 3'],
      [5, 'is empty'],
    ],
  ],
  'text after a closing quote': [
    `${HEADER}b,"one"x,c\nb,"two",c\nb,three,c\n`,
    [
      [2, 'has a stray quote in line 2; a quote inside a quoted field is written twice'],
      [3, 'ok'],
      [4, 'ok'],
    ],
  ],
  'a quote inside plain text': [
    `${HEADER}b,6" nails,c\nb,two,"c"\n`,
    [
      [2, 'has a stray quote in line 2; a quote inside a quoted field is written twice'],
      [3, 'ok'],
    ],
  ],
  'a stray quote on the second line of a record': [
    `${HEADER}b,one,"c\nd "quoted" e"\nb,two,c\n`,
    [
      [2, 'has a stray quote in line 3; a quote inside a quoted field is written twice'],
      [4, 'ok'],
    ],
  ],
  'a quote that is never closed': [
    `${HEADER}b,one,c\nb,two,"c\nb,three,c\nb,four,c\n`,
    [
      [2, 'ok'],
      [
        3,
        'has a quote opened in line 3 that is never closed, so the 2 lines after it were read as part of this row',
      ],
    ],
  ],
  'a quote that is never closed in the last line': [
    `${HEADER}b,one,"c`,
    [[2, 'has a quote opened in line 2 that is never closed']],
  ],
  'an unclosed quote that meets another quote later': [
    `${HEADER}b,"one,c\nb,"two",c\nb,three,c\n`,
    [
      [2, 'has a stray quote in line 3; a quote inside a quoted field is written twice'],
      [4, 'ok'],
    ],
  ],
  'blank lines and rows of delimiters': [
    `\n${HEADER}\n\nb,one,c\n,,\n  \n\nb,two,c\n\n`,
    [
      [5, 'ok'],
      [6, 'is empty'],
      [7, 'is empty'],
      [9, 'ok'],
    ],
  ],
  'mixed line ends': [
    'board,title,content\rb,one,"x\r\ny"\r\nb,two,"x\ry"\nb,three,z\r\rb,four,z',
    [
      [2, 'ok'],
      [4, 'ok'],
      [6, 'ok'],
      [8, 'ok'],
    ],
  ],
  'CR alone': [
    'board,title\rb,one\rb,two\r',
    [
      [2, 'ok'],
      [3, 'ok'],
    ],
  ],
  'control characters': [
    `${HEADER}b,o\0ne,c\nb,two,c\x07\nb,three,a\tb\nb,"fo\nur",c\nb,five,\x92\nb,a\tb,c\n\x1b,six,c\n`,
    [
      [2, 'title has a control character (U+0000)'],
      [3, 'content has a control character (U+0007)'],
      [4, 'ok'],
      [5, 'title has a line break'],
      [7, 'content has a control character (U+0092)'],
      [8, 'title has a tab'],
      [9, 'board has a control character (U+001B)'],
    ],
  ],
  'a header and nothing else': [HEADER, []],
  'a header without a line end': ['board,title', []],
};

describe('one bad row never costs another', () => {
  for (const [name, [text, expected]] of Object.entries(CASES)) {
    test(`${name}: each record has its line and its outcome`, async () => {
      const file = await read(text);
      assert.deepEqual(outcomes(file), expected);
      assert.deepEqual(
        file.rows.map((row) => row.line),
        recordLines(text, ',').slice(1),
      );
    });
  }

  test('a byte that is not UTF-8 refuses its row and names its line', async () => {
    const bytes = Buffer.from(`${HEADER}b,one,c\nb,two,"c\nd \xe9"\nb,three,\xe9\nb,four,c\n`, 'latin1');
    const file = await read(bytes, { encoding: 'utf-8' });
    assert.deepEqual(outcomes(file), [
      [2, 'ok'],
      [
        3,
        'has a byte that is not UTF-8 in line 4; save the file as "CSV UTF-8", or choose its encoding (--encoding windows-1252, windows-1250, shift_jis …)',
      ],
      [
        5,
        'has a byte that is not UTF-8 in line 5; save the file as "CSV UTF-8", or choose its encoding (--encoding windows-1252, windows-1250, shift_jis …)',
      ],
      [6, 'ok'],
    ]);
  });

  test('a field over the limit refuses its row, is let go, and the next row is read', async () => {
    const text = `${HEADER}b,one,${'x'.repeat(101)}\nb,two,"${'y'.repeat(98)}"\nb,three,"${'z\n'.repeat(60)}"\nb,four,c\n`;
    const file = await read(text, { maxFieldBytes: 100 });
    assert.deepEqual(outcomes(file), [
      [2, 'has a field that starts in line 2 and is larger than 100 bytes; perhaps a quote is not closed'],
      [3, 'ok'],
      [4, 'has a field that starts in line 4 and is larger than 100 bytes; perhaps a quote is not closed'],
      [65, 'ok'],
    ]);
    assert.deepEqual(file.rows[0]?.cells, []);
  });

  test('a row of many fields over the limit together is refused', async () => {
    const text = `title,a,b,c,d,e,f,g,h\none${`,${'x'.repeat(9)}`.repeat(8)}\ntwo,,,,,,,,\n`;
    const file = await read(text, { board: 'b', maxFieldBytes: 10 });
    assert.deepEqual(outcomes(file), [
      [2, 'is larger than 80 bytes'],
      [3, 'ok'],
    ]);
  });

  test('no row is lost where one batch ends and the next begins', async () => {
    const lines = Array.from({ length: 1501 }, (_, i) => `b,t${i},${i % 499 === 0 ? '"' : ''}`);
    const file = await readChunked(Buffer.from(`${HEADER}${lines.join('\n').replaceAll('"', 'x"y')}`));
    assert.deepEqual(
      file.rows.map((row) => [row.line, row.cells[1], row.ok]),
      lines.map((_, i) => [i + 2, `t${i}`, i % 499 !== 0]),
    );
  });

  test('refused rows keep the cells that could be read', async () => {
    const file = await read(`${HEADER}b,on"e,c\nb\nb,"two,c\nb,three,c`);
    assert.deepEqual(
      file.rows.map((row) => row.cells),
      [['b', 'on"e', 'c'], ['b'], ['b', 'two,c\nb,three,c']],
    );
  });
});

describe('what people write is not changed', () => {
  test('formulas, emoji, right-to-left text, apostrophes and line ends pass as they are', async () => {
    const contents = [
      '=SUM(A1)',
      '+1',
      '-1',
      '@x',
      "'=1",
      '👩‍👩‍👧 🇪🇺',
      'שלום \u202Eעולם',
      'a\r\nb\rc\nd',
      '  spaces  ',
    ];
    const text = contents.map((content) => `ideas,"${content === '' ? 'x' : 't'}","${content}"\n`).join('');
    const file = await read(HEADER + text);
    assert.deepEqual(
      file.rows.map((row) => accepted(row).post.content),
      contents,
    );
    assert.ok(file.rows.every((row) => accepted(row).notes.length === 0));
  });

  test('a formula or an outer space in a title stays too', async () => {
    const file = await read(`${HEADER}ideas,=1+1,\nideas, padded ,\n`);
    assert.deepEqual(
      file.rows.map((row) => accepted(row).post.title),
      ['=1+1', ' padded '],
    );
  });

  test('a field of a megabyte is accepted', async () => {
    const content = 'жжжжжжжж"\n'.repeat(105_000);
    const text = `${HEADER}b,one,"${content.replaceAll('"', '""')}"\nb,two,c\n`;
    const file = await read(text);
    assert.equal(accepted(file.rows[0]).post.content, content);
    assert.deepEqual(accepted(file.rows[0]).notes, ['content is unusually long (1050000 characters)']);
    assert.equal(file.rows[1]?.line, 105_003);
  });

  test('a thousand columns are read', async () => {
    const names = Array.from({ length: 1_000 }, (_, i) => (i === 998 ? 'title' : `c${i}`));
    const cells = names.map((_, i) => String(i));
    const file = await read(`${names.join(';')}\n${cells.join(';')}\n`, { board: 'b' });
    assert.equal(accepted(file.rows[0]).post.title, '998');
    assert.equal(file.ignored.length, 999);
    assert.deepEqual(file.rows[0]?.cells, cells);
  });
});

describe('a row is checked before it is taken', () => {
  test('a title of characters without a width is blank', async () => {
    for (const title of ['\u200b\u200b', '\ufeff \u2060', '\u00ad', '\u3164']) {
      const file = await read(`title,board\n${title},b\nA\u200bB,b\n`);
      assert.deepEqual(outcomes(file), [
        [2, 'title is blank'],
        [3, 'ok'],
      ]);
    }
  });

  const PEOPLE = 'board,title,email,full_name,key\n';

  test('title and board must not be blank, and every problem is said at once', async () => {
    const file = await read(`${PEOPLE} ,  ,not an address,Ann,\n`);
    assert.equal(reasonOf(file.rows[0]), 'board is blank; title is blank; email is not one e-mail address');
  });

  for (const email of [
    'ann@example.org',
    ' ann@example.org ',
    'ann.b+c@mail.example.org',
    'root@localhost',
    'jörg@bücher.example',
    "o'neil@example.org",
  ]) {
    test(`"${email}" is an address`, async () => {
      const file = await read(`${PEOPLE}b,t,${email},Ann,\n`);
      assert.equal(accepted(file.rows[0]).post.email, email.trim());
    });
  }

  for (const email of [
    'ann',
    '@example.org',
    'ann@',
    'a@b@c',
    'ann lee@example.org',
    'ann@exam ple.org',
    'Ann <ann@example.org>',
    'a@b.org;c@d.org',
    'ann@.example.org',
    'ann@example..org',
    'ann@example.org.',
    'mailto:ann@example.org',
  ]) {
    test(`"${email}" is not one address`, async () => {
      const file = await read(`${PEOPLE}b,t,${email},Ann,\n`);
      assert.equal(reasonOf(file.rows[0]), 'email is not one e-mail address');
    });
  }

  test('a missing name is taken from the e-mail, and a name without an e-mail is left out; both are noted', async () => {
    const file = await read(`${PEOPLE}b,t,ann.lee@example.org,,\nb,t,,Ann Lee,\nb,t,a@b.c, Ann ,\nb,t,,,\n`);
    const rows = file.rows.map(accepted);
    assert.deepEqual(
      rows.map(({ post: { email, full_name }, notes }) => [email, full_name, ...notes]),
      [
        ['ann.lee@example.org', 'ann.lee', 'full_name was taken from the e-mail'],
        [null, null, 'full_name is ignored: the API takes a name only with an e-mail'],
        ['a@b.c', 'Ann'],
        [null, null],
      ],
    );
  });

  test('lengths beyond the usual and lost characters are noted, not refused', async () => {
    const file = await read(
      `board,title,content\nb,${'t'.repeat(256)},c\nb,t,${'c'.repeat(50_001)}\nb,t,caf\uFFFD\n`,
    );
    assert.deepEqual(
      file.rows.map((row) => accepted(row).notes),
      [
        ['title is unusually long (256 characters)'],
        ['content is unusually long (50001 characters)'],
        ['has U+FFFD, the mark of a character that an earlier conversion lost'],
      ],
    );
  });

  test('a reason never repeats what the row says', async () => {
    const file = await read(`${PEOPLE}b,t\0,private@@example.org,Ann,\n`);
    assert.doesNotMatch(reasonOf(file.rows[0]), /private|Ann/);
  });

  test('--board is for every row, also where the file has its own', async () => {
    const file = await read(`${PEOPLE}own,t,,,k1\n`, { board: ' all ' });
    assert.equal(accepted(file.rows[0]).post.board, 'all');
    assert.equal(accepted(file.rows[0]).key, 'k1');
    assert.deepEqual(file.ignored, ['board']);
  });
});

test('an empty file and a file of blank lines are refused in a sentence', async () => {
  for (const text of ['', '\uFEFF', '\n\r\n\n'])
    assert.equal((await refusal(text)).message, 'the file is empty');
});

test('a heading above the names of the columns refuses the file, and names the line of the names', async () => {
  const table = 'No,Wish,Description\n1,Dark mode,Please add it\n';
  const { message, hint } = await refusal(`Wishes 2026,,\n,,\n${table}`);
  assert.equal(message, 'line 1 is a heading and not the names of the columns; they seem to be in line 3');
  assert.match(hint ?? '', /Delete the lines above/);
  for (const delimiter of [',', ';', '\t']) {
    const alone = await refusal(`Wishes 2026\n\n${table.replaceAll(',', delimiter)}`);
    assert.match(alone.message, /^line 1 is a heading .* in line 3$/);
  }
  for (const header of ['title,,', 'title'])
    assert.doesNotMatch((await refusal(`${header}\n${table}`)).message, /heading/);
});

test('a header that cannot be read refuses the file and names the line', async () => {
  assert.match(
    (await refusal('\n"title,board\nx,y\n')).message,
    /^the header in line 2 has a quote .* never closed/,
  );
  assert.match((await refusal('ti"tle,board\nx,y\n')).message, /^the header in line 1 has a stray quote/);
  assert.match(
    (await refusal(Buffer.from('title,b\xe9\nx,y\n', 'latin1'), { encoding: 'utf-8' })).message,
    /line 1 has a byte that is not UTF-8/,
  );
});

test('a file has at most 2,000 columns, whichever delimiter it uses', async () => {
  const names = (columns: number): string[] => Array.from({ length: columns - 2 }, (_, n) => `Label ${n}`);
  for (const delimiter of [',', ';', '\t']) {
    const file = (columns: number): string => `${['title', 'board', ...names(columns)].join(delimiter)}\n`;
    const refused = await refusal(file(20_000));
    assert.match(refused.message, /^the header in line 1 has 20000 columns, and a file has at most 2000$/);
    assert.match(refused.hint ?? '', /Delete the columns that are not needed/);
  }
});
