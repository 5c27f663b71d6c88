import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Change } from '../../src/changes/change.ts';
import { type ChangeReads, feedTogether } from '../../src/changes/together.ts';

/** A feed of changes that were observed at these seconds. */
function feedOf(seconds: number[]): ChangeReads {
  const all = seconds.map((second, i): Change => {
    const time = new Date(second * 1000).toISOString();
    return { number: i + 1, position: `${i + 1}-x`, type: 'post.created', time };
  });
  const numberOf = (since: string): number =>
    since === 'now' ? all.length : Number.parseInt(since || '0', 10);
  const position = (n: number): string => (n === 0 ? '0' : `${n}-x`);
  return {
    version: () => all.length,
    head: () => ({ mirror: 'm', position: position(all.length), oldest: 1, notMirrored: [] }),
    resolve: (since) => position(numberOf(since)),
    after(since, { limit }) {
      const changes = all.slice(numberOf(since), numberOf(since) + limit);
      const end = numberOf(since) + changes.length;
      return { changes, next: position(end), isLast: end === all.length };
    },
  };
}

const read = (feed: ChangeReads, since: string, limit: number) => {
  const page = feed.after(since, { limit });
  return { ...page, times: page.changes.map(({ time }) => Date.parse(time) / 1000) };
};

describe('the change feed over several sources', () => {
  it('has the changes of all in the order of their times, and none twice, whatever the pages are', () => {
    const feeds = new Map([
      ['acme', feedOf([1, 4, 5, 9])],
      ['beta', feedOf([2, 3, 8])],
      ['quiet', feedOf([])],
    ]);
    const feed = feedTogether(() => feeds);
    for (const limit of [1, 2, 3, 7, 20]) {
      const times: number[] = [];
      for (let [since, isLast] = ['', false]; !isLast; ) {
        const page = read(feed, since, limit);
        times.push(...page.times);
        [since, isLast] = [page.next, page.isLast];
      }
      assert.deepEqual(times, [1, 2, 3, 4, 5, 8, 9], `pages of ${limit}`);
    }
  });

  it('goes on from the position of any change', () => {
    const feeds = new Map([
      ['acme', feedOf([1, 4])],
      ['beta', feedOf([2, 3])],
    ]);
    const feed = feedTogether(() => feeds);
    const { changes } = read(feed, '', 10);
    for (const [i, { position }] of changes.entries())
      assert.deepEqual(read(feed, position, 10).times, [1, 2, 3, 4].slice(i + 1));
    assert.equal(changes[2]?.position, 'acme=1-x,beta=2-x');
  });

  it('keeps the place of a source that is away, and begins a new one with its oldest change', () => {
    const feeds = new Map([['acme', feedOf([1, 4])]]);
    const feed = feedTogether(() => feeds);
    const { next } = read(feed, 'acme=1-x,beta=7-x', 10);
    assert.equal(next, 'acme=2-x,beta=7-x');
    feeds.set('new', feedOf([2]));
    assert.deepEqual(read(feed, 'acme=1-x', 10).times, [2, 4]);
    assert.deepEqual(read(feed, 'now', 10).times, []);
  });

  it('refuses a position of one source', () => {
    const feed = feedTogether(() => new Map([['acme', feedOf([1])]]));
    assert.throws(() => feed.after('1042-m4k2x9a0', { limit: 1 }), /no position over several sources/);
  });
});
