import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { baselineAfter, type DriftField, driftsBetween } from '../../src/rules/decide/drift.ts';
import { driftObserver } from '../../src/rules/drift.ts';
import { type DriftRow, driftText } from '../../src/rules/letter.ts';
import { story } from '../support/mirror.ts';
import { aPost, range } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';

const field = (path: string, kinds: string, seen: number, rows = 100): DriftField => ({
  resource: 'posts',
  path,
  kinds,
  seen,
  rows,
});

describe('fields of the API', () => {
  it('that vanish, appear or change their kind are told', () => {
    const before = [
      field('', '', 0),
      field('tag', 'text', 90),
      field('score', 'integer', 100),
      field('rare', 'text', 3),
    ];
    const after = [field('', '', 0), field('score', 'text', 100), field('owner', 'object', 1)];
    assert.deepEqual(
      driftsBetween(before, after).map(({ path, change, before: was, after: is }) => [path, change, was, is]),
      [
        ['score', 'kind', 'integer', 'text'],
        ['owner', 'appeared', null, 'object'],
        ['tag', 'vanished', 'text', null],
      ],
    );
    assert.deepEqual(driftsBetween([], after), [], 'the first look tells nothing');
    assert.deepEqual(driftsBetween(before, before), []);
  });

  it('are told once where looks come while a pass reads the rows again', () => {
    const looks = [
      [field('mood', 'text', 100), field('tag', 'text', 100)],
      [field('mood', 'integer|text', 100), field('tag', 'text', 40)],
      [field('mood', 'integer', 100)],
      [field('mood', 'integer', 100)],
    ].map((fields) => [field('', '', 0), ...fields]);
    let before: DriftField[] = [];
    const told = looks.map((after) => {
      const drifts = driftsBetween(before, after).map(({ path, change }) => `${path} ${change}`);
      before = baselineAfter(before, after);
      return drifts;
    });
    assert.deepEqual(told, [[], [], ['mood kind', 'tag vanished'], []]);
  });

  story(
    'that appear in posts or vanish are told once, with an example and since when',
    async ({ store, path }) => {
      await sweep(
        store,
        'posts',
        range(1, 40).map((id) => aPost(id)),
      );
      const db = new Database(path);
      const observe = driftObserver(db);
      assert.equal(observe(Date.parse('2026-03-01T00:00:00Z')), 0);
      await sweep(
        store,
        'posts',
        range(1, 40).map((id) => aPost(id, { priority: id % 2 === 0 ? 3 : null })),
        10,
      );
      assert.equal(observe(Date.parse('2026-03-02T00:00:00Z')), 1);
      assert.equal(observe(Date.parse('2026-03-03T00:00:00Z')), 0);
      // A deleted post keeps the field that it had.
      db.prepare('UPDATE posts SET deleted_at = version_at WHERE id = 40').run();
      db.prepare('UPDATE posts SET extra = NULL WHERE id < 40').run();
      assert.equal(observe(Date.parse('2026-03-04T00:00:00Z')), 1);
      const rows = db.prepare<[], DriftRow>('SELECT * FROM drifts').all();
      db.close();
      assert.deepEqual(rows.map(driftText), [
        'posts: the field "priority" appeared (integer), for example in 40, since 2026-03-02',
        'posts: the field "priority" vanished (it was integer), since 2026-03-04',
      ]);
    },
  );
});
