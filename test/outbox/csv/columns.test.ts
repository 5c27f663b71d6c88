import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspectCsv } from '../../../src/outbox/import/csv/read.ts';
import type { ReadOptions } from '../../../src/outbox/import/csv/rows.ts';
import { accepted, inChunks, proposalsOf, read, refusal } from './feed.ts';

/** `field=Header (how)` for each mapped column. */
async function mapped(header: string, options: ReadOptions = {}): Promise<string> {
  const { mapping } = await read(`${header}\n`, options);
  return mapping.map(({ field, header: name, how }) => `${field}=${name} (${how})`).join(' ');
}

describe('columns are recognised by their names', () => {
  const CASES: [string, string][] = [
    [
      'board,title,content,email,full_name,key',
      'board=board (exact) title=title (exact) content=content (exact) email=email (exact) full_name=full_name (exact) key=key (exact)',
    ],
    [
      'BOARD, Title ,E-mail,Full-Name',
      'board=BOARD (exact) title= Title  (exact) email=E-mail (exact) full_name=Full-Name (exact)',
    ],
    [
      'Category,Subject,Description,Requester,Customer',
      'board=Category (alias) title=Subject (alias) content=Description (alias) email=Requester (alias) full_name=Customer (alias)',
    ],
    [
      'Forum,Idea,Body,Author email,Author,External ID',
      'board=Forum (alias) title=Idea (alias) content=Body (alias) email=Author email (alias) full_name=Author (alias) key=External ID (alias)',
    ],
    [
      'board slug,Summary,Text,user_email,user_name,Ref',
      'board=board slug (alias) title=Summary (alias) content=Text (alias) email=user_email (alias) full_name=user_name (alias) key=Ref (alias)',
    ],
    [
      'board,Feature,Details,Mail,Customer Name,ID',
      'board=board (exact) title=Feature (alias) content=Details (alias) email=Mail (alias) full_name=Customer Name (alias) key=ID (alias)',
    ],
    ['board,Request,Message', 'board=board (exact) title=Request (alias) content=Message (alias)'],
    [
      'board,title,Name,Email',
      'board=board (exact) title=title (exact) email=Email (exact) full_name=Name (alias)',
    ],
    [
      'board,Subject,Name,Email',
      'board=board (exact) title=Subject (alias) email=Email (exact) full_name=Name (alias)',
    ],
    ['board,title,Name', 'board=board (exact) title=title (exact)'],
    ['board,title,subject,idea,subject', 'board=board (exact) title=title (exact)'],
    [
      'board,title,Requester,Requester email',
      'board=board (exact) title=title (exact) email=Requester email (alias) full_name=Requester (alias)',
    ],
    ['board,title,ID,External id', 'board=board (exact) title=title (exact) key=External id (alias)'],
    ['board,title,votes,votes,,', 'board=board (exact) title=title (exact)'],
    ['board,title,__proto__,constructor,toString', 'board=board (exact) title=title (exact)'],
  ];

  for (const [header, expected] of CASES) {
    test(`${header}`, async () => assert.equal(await mapped(header), expected));
  }

  test('unused columns are listed, those without a name by their position', async () => {
    const { ignored } = await read('board,title,votes,,status\n');
    assert.deepEqual(ignored, ['votes', '(column 4)', 'status']);
  });

  test('a header named like something every object has is an ordinary column', async () => {
    const file = await read('__proto__,constructor\nx,y\n', {
      board: 'b',
      map: { title: '__proto__', content: 'constructor' },
    });
    assert.deepEqual(accepted(file.rows[0]).post, {
      board: 'b',
      title: 'x',
      content: 'y',
      email: null,
      full_name: null,
    });
  });

  test('one title column and --board are enough', async () => {
    const file = await read('title\nOne\n"Two, and more"\n""\n', { board: 'ideas' });
    assert.deepEqual(
      file.rows.map((row) => row.ok),
      [true, true, false],
    );
    assert.equal(file.delimiter, ',');
  });
});

describe('what could be meant in two ways is refused', () => {
  const CASES: [string, RegExp, RegExp][] = [
    [
      'board,Subject,Idea',
      /^columns 2 and 3, "Subject", "Idea", could both be the title$/,
      /--map title="Subject"/,
    ],
    [
      'title,board,title',
      /^columns 1 and 3, "title \(column 1\)", "title \(column 3\)", could both be the title$/,
      /--map title="title \(column 1\)"/,
    ],
    ['board,Title,title,c', /^columns 2 and 3, "Title", "title", could both/, /--map title="Title"/],
    [
      'board,votes',
      /^the file has no title column, and no other column looks fit to be the title$/,
      /"board", "votes".*--map title=Header/,
    ],
    [
      'title,votes',
      /^the file has no board column, and no board was given for all rows$/,
      /--board SLUG.*--map board=Header/,
    ],
  ];
  for (const [header, message, hint] of CASES) {
    test(header, async () => {
      const error = await refusal(`${header}\n`);
      assert.match(error.message, message);
      assert.match(error.hint ?? '', hint);
    });
  }
});

describe('--map says which column is which', () => {
  test('it beats every other claim, and is not particular about case', async () => {
    assert.equal(
      await mapped('board,title,Headline,Body', { map: { title: 'headline', 'Full-Name': 'Body' } }),
      'board=board (exact) title=Headline (asked) full_name=Body (asked)',
    );
  });

  test('it settles an ambiguity, also between names that differ in case only', async () => {
    assert.match(await mapped('board,Subject,Idea', { map: { title: 'Idea' } }), /title=Idea \(asked\)/);
    assert.match(await mapped('board,Title,title', { map: { title: 'title' } }), /title=title \(asked\)/);
  });

  test('an unknown column is refused with the columns there are and the nearest one', async () => {
    const error = await refusal('board,Headline,Body\n', { map: { title: 'Hedline' } });
    assert.equal(
      error.message,
      '--map title=Hedline: the file has no column "Hedline"; did you mean "Headline"?',
    );
    assert.equal(error.hint, 'The columns of the file are "board", "Headline", "Body".');
  });

  test('an unknown field is refused in the same way', async () => {
    const error = await refusal('board,Headline\n', { map: { titel: 'Headline' } });
    assert.equal(error.message, '--map titel=Headline: there is no field "titel"; did you mean "title"?');
    assert.match(error.hint ?? '', /"board", "title", "content", "email", "full_name", "key"/);
  });

  test('a column whose name is repeated, or blank, is chosen by its position', async () => {
    const choose = (header: string) => mapped('board,x,x,', { map: { title: header } });
    assert.match(await choose('x (column 3)'), /title=x \(column 3\) \(asked\)/);
    assert.match(await choose('(column 4)'), /title=\(column 4\) \(asked\)/);
    const { message, hint } = await refusal('board,x,x\n', { map: { title: 'x' } });
    assert.match(message, /columns 2 and 3, "x \(column 2\)", "x \(column 3\)"/);
    assert.equal(hint, 'Which column is the title? --map title="x (column 2)" or --map title="x (column 3)"');
  });

  test('a column that is really called like a position is never mixed up with it', async () => {
    const { message } = await refusal('x (column 2),x,x\n', { board: 'b', map: { title: 'x (column 2)' } });
    assert.match(message, /^columns 1 and 2/);
  });

  test('each of two columns with one name is proposed, and its own cells are taken', async () => {
    const text = 'Idea,Details,Details,Board\nOne,first,second,bugs\n';
    const { questions, headers } = await inspectCsv(inChunks(Buffer.from(text), 64));
    assert.deepEqual(headers, ['Idea', 'Details (column 2)', 'Details (column 3)', 'Board']);
    const proposals = proposalsOf(questions[0]);
    assert.deepEqual(proposals, headers.slice(1, 3));
    const [row] = (await read(text, { map: { content: proposals[1] } })).rows;
    assert.equal(row?.ok && row.post.content, 'second');
  });

  test('--board together with --map board, or blank, is refused', async () => {
    assert.match((await refusal('title,x\n', { board: 'b', map: { board: 'x' } })).message, /contradict/);
    assert.equal((await refusal('title,x\n', { board: ' ' })).message, '--board is blank');
  });
});

describe('the delimiter is the one of the header line', () => {
  const CASES: [string, string, string[]][] = [
    ['board;title;content\nb;t;1,5\n', ';', ['b', 't', '1,5']],
    ['board\ttitle\tcontent\nb\tt\ta, b; c\n', '\t', ['b', 't', 'a, b; c']],
    ['"board;x","title;y",title,board\n1,2,t,b\n', ',', ['1', '2', 't', 'b']],
    ['board;title;how much, exactly\nb;t;x\n', ';', ['b', 't', 'x']],
    ['title,board,"a;b;c;d;e"\nt,b,x\n', ',', ['t', 'b', 'x']],
    ['"title";"board"\nt;b\n', ';', ['t', 'b']],
  ];
  for (const [text, delimiter, cells] of CASES) {
    test(JSON.stringify(text), async () => {
      const file = await read(text);
      assert.equal(file.delimiter, delimiter);
      assert.deepEqual(accepted(file.rows[0]).cells, cells);
    });
  }

  test('--map helps to find it', async () => {
    const file = await read('a;b,c\nx;y,z\n', { board: 'b', map: { title: 'b,c' } });
    assert.equal(file.delimiter, ';');
  });
});

test('a column of people with their addresses is no title, whatever its header says', async () => {
  const rows = 'Ann Lee <ann@example.org>,Dark mode,b\nBo Lee <bo@example.org>,Export,b\n';
  const { mapping } = await read(`Title,Subject,board\n${rows}`);
  assert.equal(mapping.find(({ field }) => field === 'title')?.header, 'Subject');
  const only = await refusal('Title,board\nAnn Lee <ann@example.org>,b\n');
  assert.match(only.message, /title/);
});

test('in a file of the outbox a text that is an address is a text', async () => {
  const rows = 'b,Call me back,kim@example.org,kim@example.org,Kim,,rejected,,,no\n';
  const file = await read(`board,title,content,email,full_name,key,state,post_id,url,reason\n${rows}`);
  assert.equal(file.mapping.length, 6);
  assert.equal(accepted(file.rows[0]).post.content, 'kim@example.org');
});

test('the line that tells Excel the delimiter is no header', async () => {
  for (const first of ['sep=;', 'SEP=;', '"sep=;"', 'sep=,', 'sep=']) {
    const file = await read(`${first}\r\nboard;title\r\nb;One\r\n`);
    assert.deepEqual([file.headers, accepted(file.rows[0]).line], [['board', 'title'], 3]);
  }
  assert.deepEqual((await read('sep=;\nboard;title')).headers, ['board', 'title']);
  assert.match((await refusal('board;sep=;\nb;One;\n')).message, /title/);
});

describe('a file about which several things are asked', () => {
  test('is refused with all of them at once', async () => {
    const { message, hint } = await refusal(
      'Subject,Preview\nDark mode,"Please make it dark, it is so bright"\n',
    );
    assert.equal(message.split('; ').length, 2);
    assert.match(hint ?? '', /^Which column is the text\?.*\nWhich board do the rows go to\?/);
  });
});
