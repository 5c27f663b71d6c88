import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Check } from '../../src/doctor/check.ts';
import { type Mirror, story } from '../support/mirror.ts';
import { posts } from '../support/rows.ts';
import { begin, finish, sweep } from '../support/steps.ts';
import { aboutMirror } from './examined.ts';

const WHY = 'Listing posts, page 3 (page=3) failed: the answer is no list envelope: next is missing';

function fail({ store }: Mirror, at: number, mode: 'sweep' | 'head' = 'sweep'): void {
  const pass = begin(store, 'posts', at, { mode, resume: false });
  finish(store, pass, at, { outcome: 'failed', code: 'protocol', error: WHY });
}

async function toldOf(mirror: Mirror): Promise<Check[]> {
  return (await aboutMirror(mirror)).filter(({ name }) => name === 'trouble');
}

describe('the doctor about passes that fail', () => {
  story('says since when, why, and what to do', async (mirror) => {
    sweep(mirror.store, 'posts', posts(1, 2), 1);
    fail(mirror, 2);
    fail(mirror, 3);
    const [{ state, detail, advice, runbook } = assert.fail(), ...others] = await toldOf(mirror);
    assert.equal(others.length, 0);
    assert.equal(state, 'warn');
    assert.match(
      detail,
      /^the feedback service answers something unexpected since .* \(the answer is no list envelope: next is missing\)$/,
    );
    assert.equal(advice, 'Check FEEDBACK_BASE_URL; nothing is deleted meanwhile.');
    assert.deepEqual(runbook, ['docs/operations.md#bad-answers']);
  });

  story(
    'says nothing once a sweep did not fail, and goes on where one was only interrupted',
    async (mirror) => {
      fail(mirror, 1);
      finish(mirror.store, begin(mirror.store, 'posts', 2), 2, { outcome: 'interrupted', error: 'stopped' });
      assert.equal((await toldOf(mirror)).length, 1);
      sweep(mirror.store, 'posts', posts(1, 2), 3);
      assert.deepEqual(await toldOf(mirror), []);
    },
  );

  story('does not take the first pages for a list that can be read', async (mirror) => {
    sweep(mirror.store, 'posts', posts(1), 1);
    fail(mirror, 2);
    finish(mirror.store, begin(mirror.store, 'posts', 3, { mode: 'head' }), 3, { outcome: 'complete' });
    assert.equal((await toldOf(mirror)).length, 1);
  });
});

describe('the doctor about a list that leaves out rows', () => {
  story('warns in the line of that list, until a sweep is complete', async (mirror) => {
    const aboutList = async (): Promise<Check[]> =>
      (await aboutMirror(mirror)).filter(({ name }) => name.startsWith('list of'));
    const lacks = '3 rows came on two pages, so as many others may be left out';
    finish(mirror.store, begin(mirror.store, 'posts', 1), 1, { outcome: 'incomplete', error: lacks });
    const [{ name, state, detail, runbook } = assert.fail(), ...others] = await aboutList();
    assert.deepEqual([name, state, others], ['list of posts', 'warn', []]);
    assert.match(detail, /^The last sweep of posts was incomplete: 3 rows came on two pages/);
    assert.deepEqual(runbook, ['docs/operations.md#list-incomplete']);
    sweep(mirror.store, 'posts', posts(1, 2), 2);
    assert.deepEqual(await aboutList(), []);
  });
});
