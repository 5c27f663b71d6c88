import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import type { Manifest } from '../../src/export/manifest.ts';
import { exportOnSchedule, KEPT_EXPORTS } from '../../src/export/schedule.ts';
import { EXPORT_TABLES } from '../../src/export/store/tables.ts';
import { fakeClock } from '../support/clock.ts';
import { openMirror } from './mirror.ts';

const DAY = 86_400_000;

describe('a scheduled export', () => {
  it('is a folder of its own named by its time, which latest.json points to', async (t) => {
    const mirror = await openMirror(t);
    mirror.addPosts(1, 3);
    const root = join(mirror.folder, 'exports');
    const { signal } = new AbortController();
    const { folder } = await exportOnSchedule(mirror.source(), {
      root,
      format: 'parquet',
      clock: fakeClock(),
      signal,
    });
    assert.equal(folder, join(root, '20260101T000000000Z'));
    assert.equal(readdirSync(folder).length, EXPORT_TABLES.length + 1);
    const latest = JSON.parse(readFileSync(join(root, 'latest.json'), 'utf8')) as Manifest & {
      folder: string;
    };
    assert.deepEqual([latest.folder, latest.files[0]?.rows], ['20260101T000000000Z', 3]);
  });

  it('makes room: the newest seven stay, and whatever is not an export', async (t) => {
    const mirror = await openMirror(t);
    const root = join(mirror.folder, 'exports');
    const clock = fakeClock();
    const { signal } = new AbortController();
    mkdirSync(join(root, '2025'), { recursive: true });
    writeFileSync(join(root, 'posts.csv'), '');
    const source = mirror.source();
    for (let day = 0; day < KEPT_EXPORTS + 2; day++) {
      const { removed } = await exportOnSchedule(source, { root, format: 'csv', clock, signal });
      assert.equal(removed.length, day < KEPT_EXPORTS ? 0 : 1);
      clock.advance(DAY);
    }
    const names = readdirSync(root).sort();
    assert.deepEqual(
      names.filter((name) => !/^\d{8}T/.test(name)),
      ['2025', 'latest.json', 'posts.csv'],
    );
    assert.equal(names.filter((name) => /^202601(0[3-9])T000000000Z$/.test(name)).length, KEPT_EXPORTS);
  });

  it('makes room by those that were named while the clock was ahead first', async (t) => {
    const mirror = await openMirror(t);
    const root = join(mirror.folder, 'exports');
    const ahead = Array.from({ length: KEPT_EXPORTS }, (_, n) => `2027010${n + 1}T000000000Z`);
    for (const name of ahead) mkdirSync(join(root, name), { recursive: true });
    const { signal } = new AbortController();
    const request = { root, format: 'csv', clock: fakeClock(), signal } as const;
    const { folder, removed } = await exportOnSchedule(mirror.source(), request);
    assert.deepEqual(removed, [ahead[0]]);
    assert.ok(existsSync(folder));
  });

  it('that fails leaves no folder behind, and the latest one as it was', async (t) => {
    const mirror = await openMirror(t);
    const root = join(mirror.folder, 'exports');
    const stop = new AbortController();
    stop.abort(new AppError('interrupted', 'enough'));
    const run = exportOnSchedule(mirror.source(), {
      root,
      format: 'csv',
      clock: fakeClock(),
      signal: stop.signal,
    });
    await assert.rejects(run, { code: 'interrupted' });
    assert.deepEqual(readdirSync(root), []);
  });

  it('clears away the folder that a killed one left half-written', async (t) => {
    const mirror = await openMirror(t);
    const root = join(mirror.folder, 'exports');
    mkdirSync(join(root, '.20251231T000000000Z.4194303-0123abcd-0123.part'), { recursive: true });
    const { signal } = new AbortController();
    await exportOnSchedule(mirror.source(), { root, format: 'csv', clock: fakeClock(), signal });
    assert.deepEqual(readdirSync(root).sort(), ['20260101T000000000Z', 'latest.json']);
  });
});
