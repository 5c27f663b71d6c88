import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { type Definition, REPORT_NAMES, REPORTS } from '../../src/reports/catalogue.ts';
import { calendarOf, momentOf } from '../../src/reports/moment.ts';
import type { ReportRequest } from '../../src/reports/report.ts';
import { readCustomers } from '../../src/segments/file.ts';
import { openSegmentStore } from '../../src/segments/store.ts';
import { NOW, pick, table, tell, UPSTREAM, write } from './story.ts';

const UTC = calendarOf('UTC');

/** What a report cannot do without. */
function needs(name: keyof typeof REPORTS): Partial<ReportRequest> {
  return (REPORTS[name].takes as readonly string[]).includes('post') ? { post: 101 } : {};
}

describe('every report', () => {
  it('answers an empty mirror without a made-up figure', async (t) => {
    const story = await write(t, async () => undefined);
    for (const name of REPORT_NAMES.filter((each) => each !== 'post-votes' && !('groups' in REPORTS[each]))) {
      const { rows, notes } = await story.ask(name, needs(name));
      const figures = rows.flatMap((row) => Object.values(row).filter((value) => typeof value === 'number'));
      assert.ok(
        figures.every((value) => value === 0),
        `${name}: ${figures}`,
      );
      if ((REPORTS[name] as Definition).history)
        assert.match(notes.join(), /No sweep of posts has been completed/);
    }
  });

  it('that needs history says so after a single sweep, and shows no zeros for it', async (t) => {
    const story = await tell(t, { sweeps: 1 });
    for (const name of REPORT_NAMES.filter((each) => (REPORTS[each] as Definition).history)) {
      const { notes } = await story.ask(name);
      assert.match(notes.join(), /looked at the posts once, on 2026-01-01T00:00:00.000Z/, name);
    }
    assert.deepEqual((await story.ask('gaining-posts')).rows, []);
    assert.deepEqual(pick(await story.ask('overview'), 'what', 'recent')[1], ['votes', null]);
    assert.deepEqual(pick(await story.ask('votes', { since: '7d' }), 'votes', 'gained'), [
      [null, null],
      [null, null],
    ]);
    assert.deepEqual(pick(await story.ask('funnel'), 'status', 'posts', 'ever')[0], ['Open', 4, null]);
  });

  it('that takes a board is for each board the report of a mirror without the others', async (t) => {
    // Where a board has few posts, climbers are judged by all boards.
    const names = REPORT_NAMES.filter((name) => {
      const takes: readonly string[] = REPORTS[name].takes;
      return (
        name !== 'climbers' &&
        takes.includes('board') &&
        !takes.includes('post') &&
        !('groups' in REPORTS[name])
      );
    });
    const since = '2026-01-01';
    for (const board of ['Features', 'Bugs']) {
      const story = await tell(t);
      const rowsOf = async (asked: Partial<ReportRequest>) => {
        const answers = names.map(async (name) => {
          const takes: readonly string[] = REPORTS[name].takes;
          return [
            name,
            table(await story.ask(name, { ...asked, ...(takes.includes('since') && { since }) })),
          ];
        });
        return Object.fromEntries(await Promise.all(answers));
      };
      const narrowed = await rowsOf({ board });
      const db = new Database(story.path);
      db.pragma('foreign_keys = OFF');
      const others =
        'post_id IN (SELECT p.id FROM posts p JOIN boards b ON b.id = p.board_id WHERE b.name <> ?)';
      for (const from of ['comments', 'post_versions'])
        db.prepare(`DELETE FROM ${from} WHERE ${others}`).run(board);
      db.prepare('DELETE FROM posts WHERE board_id IN (SELECT id FROM boards WHERE name <> ?)').run(board);
      db.prepare('DELETE FROM boards WHERE name <> ?').run(board);
      db.close();
      assert.deepEqual(narrowed, await rowsOf({}), board);
    }
  });

  it('has the columns its catalogue names, with values of their kind', async (t) => {
    const story = await tell(t);
    const customers = openSegmentStore({ path: story.path, upstream: UPSTREAM, holder: 'the test' });
    customers.import(readCustomers('email,plan,mrr\nann@example.com,Pro,100\n'), 'mia', NOW);
    customers.close();
    for (const name of REPORT_NAMES) {
      const { columns, rows } = await story.ask(name, { ...needs(name) });
      for (const row of rows)
        assert.deepEqual(
          Object.keys(row),
          columns.map((column) => column.name),
          name,
        );
      for (const { name: column, kind } of columns) {
        const values = rows.map((row) => row[column]).filter((value) => value !== null);
        const isText = ['text', 'time', 'date', 'remark'].includes(kind);
        const type = kind === 'trend' ? 'object' : isText ? 'string' : 'number';
        assert.ok(
          values.every((value) => typeof value === type),
          `${name}.${column}: ${values}`,
        );
      }
    }
  });

  it('refuses what it does not know, with what it does', async (t) => {
    const story = await tell(t);
    const refused = async (name: string, request: Partial<ReportRequest>, message: RegExp, hint: RegExp) =>
      await assert.rejects(story.ask(name, request), { code: 'usage', message, hint });
    await refused('top-post', {}, /^there is no report "top-post"$/, /^Did you mean top-posts/);
    await refused('zzz', {}, /no report/, /^The reports are overview, top-posts/);
    await refused(
      'funnel',
      { board: 'x' },
      /^there is no board "x"$/,
      /^The boards are bugs \(Bugs\), features \(Features\)\.$/,
    );
    await refused(
      'funnel',
      { since: '3d' },
      /^--since means nothing to the report funnel$/,
      /^It takes --board, --segment\.$/,
    );
    await refused('post-votes', {}, /needs --post/, /id of a post/);
    await refused('demand', {}, /no customers were imported yet/, /segments import/);
    await refused(
      'votes',
      { since: '2026-01-05', until: '2026-01-05' },
      /ends .* before it begins/,
      /--since/,
    );
  });
});

describe('the statuses of a report', () => {
  it('may be named or numbered, and a number is no part of a name', async (t) => {
    const story = await tell(t);
    const titles = async (...status: string[]) =>
      pick(await story.ask('top-posts', { status }), 'post').flat();
    assert.deepEqual(await titles('planned'), await titles(' 2 '));
    assert.deepEqual(await titles('2', 'Done'), [101, 105, 104]);
    await assert.rejects(titles('22'), { code: 'usage', message: /there is no status "22"/ });
  });
});

describe('a date', () => {
  it('is a day, a time or how long ago', () => {
    assert.equal(momentOf('since', '2026-01-31', NOW, UTC), '2026-01-31T00:00:00.000Z');
    assert.equal(momentOf('since', '2026-01-31T12:30', NOW, UTC), '2026-01-31T12:30:00.000Z');
    assert.equal(momentOf('since', '2026-01-31T12:30:00+02:00', NOW, UTC), '2026-01-31T10:30:00.000Z');
    assert.equal(momentOf('since', '30d', NOW, UTC), '2026-01-01T00:00:00.000Z');
    assert.equal(momentOf('since', '2w', NOW, UTC), '2026-01-17T00:00:00.000Z');
    assert.equal(momentOf('since', '36h', NOW, UTC), '2026-01-29T12:00:00.000Z');
  });

  it('that does not exist is refused', () => {
    for (const text of [
      '',
      'yesterday',
      '2026-02-31',
      '2026-13-01',
      '31.01.2026',
      '30',
      '-3d',
      '999999w',
      '2026',
    ])
      assert.throws(() => momentOf('since', text, NOW, UTC), /--since ".*" is no date/, text);
  });
});
