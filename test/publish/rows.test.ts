import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { copyChunks } from '../../src/postgres/copy.ts';

describe('a row on its way to PostgreSQL', () => {
  it('has no escaped NUL in its JSON, which PostgreSQL refuses, and keeps what only looks like one', () => {
    const json = String.raw`{"nul":"a\u0000b","text":"a\\u0000b"}`;
    const [line] = copyChunks([[json]], ['jsonb']);
    assert.equal(line, `${String.raw`{"nul":"a\\ufffdb","text":"a\\\\u0000b"}`}\n`);
  });

  it('keeps every sign that would end a cell or a line, and has another for a NUL', () => {
    const [line] = copyChunks([['a\\b\tc\nd\re\0f', null]], ['text', 'text']);
    assert.equal(line, `${String.raw`a\\b\tc\nd\re`}\ufffdf\t${String.raw`\N`}\n`);
  });
});
