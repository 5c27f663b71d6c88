import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read } from './feed.ts';

/** The well-known kinds of CSV that readers get wrong, in our own words: text, headers, cells of the rows. */
const CASES: Record<string, [string, string[], string[][]]> = {
  'a comma inside quotes': [
    'first,last,address,city,zip\nAnn,Lee,"1 Main St, Upstairs",Springfield,08123',
    ['first', 'last', 'address', 'city', 'zip'],
    [['Ann', 'Lee', '1 Main St, Upstairs', 'Springfield', '08123']],
  ],
  'empty cells': [
    'a,b,c\n1,"",""\n2,3,4\n',
    ['a', 'b', 'c'],
    [
      ['1', '', ''],
      ['2', '3', '4'],
    ],
  ],
  'empty cells with CRLF': [
    'a,b,c\r\n1,"",""\r\n2,3,4\r\n',
    ['a', 'b', 'c'],
    [
      ['1', '', ''],
      ['2', '3', '4'],
    ],
  ],
  'escaped quotes': [
    'a,b\n1,"ha ""ha"" ha"\n3,4\n',
    ['a', 'b'],
    [
      ['1', 'ha "ha" ha'],
      ['3', '4'],
    ],
  ],
  'JSON in a cell': [
    'key,val\n1,"{""type"": ""Point"", ""coordinates"": [102.0, 0.5]}"\n',
    ['key', 'val'],
    [['1', '{"type": "Point", "coordinates": [102.0, 0.5]}']],
  ],
  'line breaks inside quotes': [
    'a,b,c\n1,2,3\n"Once upon\na time",5,6\n7,8,9\n',
    ['a', 'b', 'c'],
    [
      ['1', '2', '3'],
      ['Once upon\na time', '5', '6'],
      ['7', '8', '9'],
    ],
  ],
  'CRLF inside quotes': [
    'a,b,c\r\n1,2,3\r\n"Once upon\r\na time",5,6\r\n7,8,9\r\n',
    ['a', 'b', 'c'],
    [
      ['1', '2', '3'],
      ['Once upon\r\na time', '5', '6'],
      ['7', '8', '9'],
    ],
  ],
  'quotes and line breaks': [
    'a,b\n1,"ha\n""ha""\nha"\n3,4\n',
    ['a', 'b'],
    [
      ['1', 'ha\n"ha"\nha'],
      ['3', '4'],
    ],
  ],
  'a simple file': ['a,b,c\n1,2,3', ['a', 'b', 'c'], [['1', '2', '3']]],
  'a simple file with CRLF': ['a,b,c\r\n1,2,3', ['a', 'b', 'c'], [['1', '2', '3']]],
  'letters beyond ASCII': [
    'a,b,c\n1,2,3\n4,5,ʤ\n',
    ['a', 'b', 'c'],
    [
      ['1', '2', '3'],
      ['4', '5', 'ʤ'],
    ],
  ],
  'coordinates with commas': [
    'id,Location\n1,"37.78, -122.41"\n2,"52.52, 13.40"\n',
    ['id', 'Location'],
    [
      ['1', '37.78, -122.41'],
      ['2', '52.52, 13.40'],
    ],
  ],
};

for (const [name, [text, headers, cells]] of Object.entries(CASES)) {
  test(`${name} is read as it was meant`, async () => {
    const file = await read(text, { board: 'ideas', map: { title: headers[0] } });
    assert.deepEqual(file.headers, headers);
    assert.deepEqual(
      file.rows.map((row) => row.cells),
      cells,
    );
  });
}
