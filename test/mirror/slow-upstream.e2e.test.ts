import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { pageWaitOf } from '../../src/mirror/sweep/pace.ts';
import { fakeClock } from '../support/clock.ts';
import { workbenchFor } from './workbench.ts';

describe('the pace of a sweep', () => {
  /** At which pages there was time for more, where page after page took so long to come. */
  function leisurely(waits: readonly number[]): number[] {
    const clock = fakeClock();
    const pace = pageWaitOf(clock);
    return waits.flatMap((ms, page) => {
      clock.advance(ms);
      const hasTime = pace.arrived();
      // The work of a page is no waiting.
      clock.advance(500);
      pace.done();
      return hasTime ? [page + 1] : [];
    });
  }

  it('is leisurely from the tenth page on where each takes 100 ms', () => {
    assert.deepEqual(leisurely(Array(12).fill(100)), [10, 11, 12]);
  });

  it('is leisurely where four come at once, and then nothing for a while', () => {
    assert.deepEqual(leisurely([0, 0, 0, 100, 0, 0, 0, 100, 0, 0, 0, 100]), [10, 11, 12]);
  });

  it('is not for a first page that waited for its connection', () => {
    assert.deepEqual(leisurely([600, ...Array(20).fill(2)]), []);
  });

  it('is not for a server that is slow with its first pages only', () => {
    assert.deepEqual(leisurely([37, 25, 7, 5, 8, 9, 8, 6, 7, 6, 4, 5, 3, 3]), []);
  });
});

describe('a first sweep', () => {
  /** How many posts can be found when so many pages are written, of 20 with 5 posts each. */
  async function findableAt(t: TestContext, page: number, msPerRequest: number): Promise<number | undefined> {
    const clock = fakeClock();
    const bench = await workbenchFor(t, { posts: 100, pageSize: 5 }, clock);
    bench.meanwhile = () => clock.advance(msPerRequest);
    let pages = 0;
    let found: number | undefined;
    const onPage = (): void => {
      if (++pages === page) [found] = bench.query<{ n: number }>(INDEXED).map(({ n }) => n);
    };
    await bench.sync({ resource: 'posts', mode: 'sweep' }, { onPage });
    assert.deepEqual(bench.query(INDEXED), [{ n: 100 }]);
    return found;
  }

  const INDEXED = 'SELECT count(*) AS n FROM posts_text_docsize';

  it('of a service that takes its time makes posts findable while it is under way', async (t) => {
    assert.equal(await findableAt(t, 15, 100), 75);
  });

  it('of a fast one leaves that to its end, where it takes a third of the time', async (t) => {
    assert.equal(await findableAt(t, 15, 1), 0);
  });
});
