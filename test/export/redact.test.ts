import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { rowRedaction } from '../../src/export/export.ts';
import { openRedactor, pseudonymsOf, redactionKey } from '../../src/export/redaction-key.ts';
import type { ExportRow } from '../../src/export/store/export.ts';
import { EXPORT_TABLES, type ExportTable, TABLES } from '../../src/export/store/tables.ts';
import { createRedactor } from '../../src/text/redact.ts';
import { folderFor } from '../support/folder.ts';

const redactor = createRedactor(Buffer.alloc(32, 1));
const ADA = redactor.email('ada@example.com');

function row(table: ExportTable, cells: Record<string, string | number>): Record<string, unknown> {
  const { columns } = TABLES[table];
  const given: ExportRow = columns.map(({ name }) => cells[name] ?? null);
  const redacted = rowRedaction(columns, redactor)(given);
  return Object.fromEntries(columns.map(({ name }, i) => [name, redacted[i]]));
}

describe('pseudonyms', () => {
  it('have the form of an address or a name, and belong to no real person', () => {
    assert.match(ADA, /^user-[0-9a-f]{16}@redacted\.invalid$/);
    assert.match(redactor.name('Ada', 'ada@example.com'), /^Person [0-9a-f]{16}$/);
  });

  it('of names in undocumented fields match the address in the same object', () => {
    const extra = JSON.stringify({ author_email: 'ada@example.com', author_name: 'Ada' });
    const { extra: redacted } = row('posts', { id: 1, extra });
    assert.deepEqual(JSON.parse(String(redacted)), {
      author_email: ADA,
      author_name: redactor.name('Ada', 'ada@example.com'),
    });
  });

  it('are the same for a person in every table, in any spelling of the e-mail', () => {
    const user = row('users', { id: 7, email: 'Ada@Example.COM', name: 'Ada', alias: 'the countess' });
    const post = row('posts', {
      id: 1,
      creator: 'Ada',
      creator_email: 'ada@example.com',
      title: 'ask ADA@example.com',
    });
    const sent = row('outbox', {
      id: 1,
      email: ' ada@example.com',
      full_name: 'Ada L.',
      source_key: 'key:ada@example.com',
    });
    assert.deepEqual([user.email, post.creator_email, sent.email], [ADA, ADA, ADA]);
    assert.equal(user.name, `Person ${ADA.slice(5, 21)}`);
    assert.deepEqual([user.alias, post.creator, sent.full_name], [user.name, user.name, user.name]);
    assert.equal(post.title, `ask ${ADA}`);
    assert.doesNotMatch(String(sent.source_key), /ada/i);
  });

  it('differ between people and between keys', () => {
    assert.notEqual(redactor.email('eve@example.com'), ADA);
    assert.notEqual(createRedactor(Buffer.alloc(32, 2)).email('ada@example.com'), ADA);
    assert.notEqual(redactor.name('Ada', null), redactor.name('Eve', null));
    assert.equal(redactor.name('Ada', null), redactor.name(' ada', null));
    assert.equal(redactor.email(''), '');
  });

  it('replace addresses inside texts, and nothing else of them', () => {
    const text = (before: string) => redactor.text(before).replaceAll(ADA, 'ADA');
    assert.equal(text('Write to ada@example.com, please.'), 'Write to ADA, please.');
    assert.equal(text('<ada@example.com>;mailto:Ada@example.com?subject=x'), '<ADA>;mailto:ADA?subject=x');
    assert.equal(text('-ada@example.com\n+ada@example.com.'), '-ADA\n+ADA.');
    assert.equal(text('5 @ 3 euros, @ada and a@b'), '5 @ 3 euros, @ada and a@b');
    assert.doesNotMatch(redactor.text('jürgen.müller+x@straße.example.de'), /gen|ller|stra/);
  });

  it('cost a hostile text no more than its length', () => {
    const began = process.cpuUsage().user;
    for (const text of [
      'a'.repeat(200_000),
      'a@'.repeat(100_000),
      `${'a.'.repeat(100_000)}@`,
      `@${'.a'.repeat(100_000)}`,
      `&${'amp;'.repeat(50_000)}`,
      '\\'.repeat(100_000),
      '<a '.repeat(50_000),
      '<!--'.repeat(50_000),
      '"@a.bc'.repeat(30_000),
      '=40a.bc'.repeat(30_000),
      '[at'.repeat(60_000),
      ' '.repeat(200_000),
      ...['kim@a. ', 'a*.*', '**a**.', 'a dot ', 'a..', 'a .', '\n@\n', ' *@', "'@'", '\u2024', 'ａ'].map(
        (part) => `kim@${part.repeat(100_000 / part.length)}`,
      ),
      ...[...'*_~`.-@"\'’“()[]{}<>|/&%=# \n'].map((sign) => `kim@a${sign.repeat(100_000)}`),
    ])
      redactor.text(`${text}@`);
    // By a pattern that tried each sign anew this took a minute and a half.
    redactor.text(`a${'*'.repeat(100_000)}b@x.yy`);
    assert.ok(process.cpuUsage().user - began < 30_000_000);
  });

  it('reach into JSON: addresses everywhere, names under keys that say so', () => {
    const before = {
      email: 'ada@example.com',
      name: 'Ada',
      deep: [{ note: 'by\nada@example.com', full_name: 'Bob', n: 1 }],
      plan: '',
    };
    const after = JSON.parse(redactor.json(JSON.stringify(before), true)) as typeof before;
    const person = `Person ${ADA.slice(5, 21)}`;
    assert.deepEqual(after, {
      email: ADA,
      name: person,
      deep: [{ note: `by\n${ADA}`, full_name: redactor.name('Bob', null), n: 1 }],
      plan: '',
    });
    const status = '{"name":"Planned","by":"ada@example.com"}';
    assert.equal(redactor.json(status, false), `{"name":"Planned","by":"${ADA}"}`);
    const voters = JSON.stringify({ voters: { 'ada@example.com': 1 } });
    assert.equal(redactor.json(voters, false), `{"voters":{"${ADA}":1}}`);
  });

  it('hide the people in a status of a comment, and not its own name', () => {
    const by = { id: 50, name: 'Ada', alias: 'countess', email: 'ada@example.com' };
    const { status } = row('comments', {
      id: 1,
      status: JSON.stringify({ id: 2, name: 'Planned', changed_by: by, last: [{ id: 50, name: 'Ada' }] }),
    });
    const ada = redactor.name('Ada', 'ada@example.com');
    assert.deepEqual(JSON.parse(String(status)), {
      ...{ id: 2, name: 'Planned', changed_by: { id: 50, name: ada, alias: ada, email: ADA } },
      last: [{ id: 50, name: redactor.name('Ada', null) }],
    });
    const { status: person } = row('comment_history', { comment_id: 1, status: JSON.stringify(by) });
    assert.doesNotMatch(String(person), /Ada|countess/);
  });

  it('leave JSON without people unchanged, and remove addresses from invalid JSON', () => {
    for (const text of [
      '{"id":12345678901234567890,"name":"Planned"}',
      '"Planned"',
      'null',
      '1.0',
      'Planned',
    ])
      assert.equal(redactor.json(text, false), text);
    assert.equal(redactor.json('ask ada@example.com', false), `ask ${ADA}`);
  });

  it('cover every column that people can write, also names of boards and statuses', () => {
    for (const table of EXPORT_TABLES) {
      const hidden = row(
        table,
        Object.fromEntries(writable(table).map((name) => [name, cellFor(table, name)])),
      );
      assert.doesNotMatch(JSON.stringify(hidden), /ada@example/i, table);
    }
  });
});

/** Words of the program, and what was recognised as a time. */
const NOT_WRITTEN = ['batch', 'state', 'matched', 'created_raw', 'registered_raw'];

function writable(table: ExportTable): string[] {
  return TABLES[table].columns
    .filter(({ name, type }) => (type === 'text' || type === 'json') && !NOT_WRITTEN.includes(name))
    .map(({ name }) => name);
}

function cellFor(table: ExportTable, name: string): string {
  const isJson = TABLES[table].columns.some((column) => column.name === name && column.type === 'json');
  return isJson ? '{"x":"ada@example.com"}' : 'ada@example.com';
}

describe('the key for pseudonyms', () => {
  function folder(t: TestContext): string {
    const path = folderFor(t, 'key');
    return path;
  }

  it('is created once by the first process, readable by its owner only', async (t) => {
    const path = join(folder(t), 'data', 'redaction.key');
    const keys = await Promise.all([1, 2, 3, 4].map(() => redactionKey(path)));
    for (const key of [...keys, await redactionKey(path)]) assert.deepEqual(key, keys[0]);
    assert.equal(keys[0]?.length, 32);
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  it('gives the pseudonyms of a person, and is not created only to look them up', async (t) => {
    const dataDir = folder(t);
    const ada = { email: 'ada@example.com', names: ['ada@example.com'] };
    assert.deepEqual(await pseudonymsOf(dataDir, ada), []);
    const made = await openRedactor(dataDir);
    const shown = [made.email('Ada@Example.com'), made.name('Ada', 'ada@example.com')];
    assert.deepEqual(await pseudonymsOf(dataDir, ada), shown);
    assert.deepEqual(await pseudonymsOf(dataDir, { email: null, names: ['Ada'] }), [made.name('ada', null)]);
  });

  it('is refused if it is damaged, instead of changing all pseudonyms silently', async (t) => {
    const path = join(folder(t), 'redaction.key');
    for (const text of ['half', '']) {
      writeFileSync(path, text);
      await assert.rejects(redactionKey(path), { code: 'usage', message: /is not a key for pseudonyms/ });
    }
  });
});
