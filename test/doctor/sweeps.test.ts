import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Check } from '../../src/doctor/check.ts';
import { type Mirror, story } from '../support/mirror.ts';
import { iso, posts } from '../support/rows.ts';
import { apply, begin, finish, sweep } from '../support/steps.ts';
import { aboutMirror } from './examined.ts';

const WHY = 'Listing posts, page 3 (page=3) failed: the answer is no list envelope: next is missing';

function fail({ store }: Mirror, at: number, error = WHY): void {
  finish(store, begin(store, 'posts', at, { resume: false }), at, { outcome: 'failed', error });
}

async function toldOf(mirror: Mirror): Promise<Check[]> {
  return (await aboutMirror(mirror)).filter(({ name }) => name.startsWith('sweeps of'));
}

describe('the doctor about sweeps', () => {
  story('says how many failed in a row, since when, why, and what to do', async (mirror) => {
    sweep(mirror.store, 'posts', posts(1, 2), 1);
    sweep(mirror.store, 'comments', [], 1);
    fail(mirror, 2, 'another reason');
    fail(mirror, 3);
    fail(mirror, 4);
    assert.deepEqual(await toldOf(mirror), [
      {
        name: 'sweeps of posts',
        state: 'warn',
        detail: `the last 3 failed, since ${iso(2)}: ${WHY}`,
        advice:
          '"feedback-mirror sync posts" shows at once whether it still does. The mirror keeps what it has.',
        code: null,
        runbook: ['docs/operations.md#sweeps-fail'],
      },
    ]);
  });

  story('tells of one that failed where none was ever complete', async (mirror) => {
    fail(mirror, 2);
    const [found] = await toldOf(mirror);
    assert.equal(found?.detail, `the last one, begun at ${iso(2)}, failed: ${WHY}`);
  });

  story('says nothing where the last one did not fail', async (mirror) => {
    fail(mirror, 1);
    sweep(mirror.store, 'posts', posts(1, 2), 2);
    assert.deepEqual(await toldOf(mirror), []);
    finish(mirror.store, begin(mirror.store, 'posts', 3), 3, { outcome: 'interrupted', error: 'stopped' });
    assert.deepEqual(await toldOf(mirror), []);
  });

  story(
    'still tells of those that failed while another is under way, and not of head passes',
    async (mirror) => {
      sweep(mirror.store, 'posts', posts(1), 1);
      const head = begin(mirror.store, 'posts', 2, { mode: 'head' });
      finish(mirror.store, head, 2, { outcome: 'failed', error: WHY });
      assert.deepEqual(await toldOf(mirror), []);
      fail(mirror, 3);
      apply(mirror.store, begin(mirror.store, 'posts', 4, { resume: false }), posts(1), 4, {
        state: 'page two',
      });
      assert.equal((await toldOf(mirror)).length, 1);
    },
  );
});
