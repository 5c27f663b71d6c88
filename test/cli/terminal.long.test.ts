import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { openSite } from '../support/mirror-site.ts';

/** Clears the screen, sets the window's title, turns the text around, and ends the line for a C1 terminal. */
const HOSTILE = '\u001b[2J\u001b]0;owned\u0007\u202egnp\u2066\u009b31m\u0085\r';
const FORBIDDEN = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069\u2028\u2029]/u;

describe('text from an upstream or a file', () => {
  it('cannot reach the terminal as commands, on stdout or stderr, in answers, hints and notes', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const db = new Database(site.mirror);
    for (const table of ['boards', 'statuses', 'users'])
      db.prepare(`UPDATE ${table} SET name = ? || name`).run(HOSTILE);
    db.prepare('UPDATE posts SET title = ? || title').run(HOSTILE);
    db.close();
    const file = join(site.folder, 'hostile.csv');
    writeFileSync(
      file,
      `Title${HOSTILE.replace('\r', '')},Text,Board\nx,y,bugz${HOSTILE.replace('\r', '')}\n`,
    );
    const commands = [
      ['import', file, '--dry-run'],
      ['import', file, '--dry-run', '--map', 'title=Titel'],
      ['import', file, '--map', 'title=Titel'],
      ['report', 'top-posts'],
      ['report', 'delivered', '--delivered', 'Complet'],
      ['report', 'top-posts', '--board', 'feature'],
      ['search', 'export', '--board', 'feature'],
      ['search', 'export'],
      ['query', 'SELECT name FROM boards'],
      ['query', `SELECT nam${HOSTILE} FROM boards`],
      ['status'],
      ['create', '--board', `x${HOSTILE}`, '--title', HOSTILE],
    ];
    for (const command of commands) {
      const { stdout, stderr } = await site.run(command);
      assert.doesNotMatch(stdout, FORBIDDEN, command.join(' '));
      assert.doesNotMatch(stderr, FORBIDDEN, command.join(' '));
    }
  });

  it('is exact where a program reads it', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const sql = `SELECT '${HOSTILE}' AS text`;
    const json = await site.run(['query', sql, '--format', 'json']);
    assert.deepEqual(JSON.parse(json.stdout), [{ text: HOSTILE }]);
    const csv = await site.run(['query', sql, '--format', 'csv', '--raw']);
    assert.ok(csv.stdout.includes(HOSTILE));
  });
});
