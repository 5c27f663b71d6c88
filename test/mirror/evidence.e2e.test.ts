import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, type Story } from './evidence.ts';

/** More with `npm run evidence`. */
const CALM: Story = {
  posts: 600,
  pageSize: 40,
  paging: 'page',
  order: 'newest',
  rate: 0.5,
  bumps: 0,
  omission: 0,
  leak: 0,
  losesLast: false,
  sameDate: 1,
  lag: 0,
  repeats: false,
  truncation: { chance: 0, rows: 0 },
  emptyPage: 0,
  kill: 0,
  seed: 20261115,
  sweeps: 30,
};

describe('deletions on a list that never stands still', () => {
  const LISTS: Record<string, Partial<Story>> = {
    'by page': { paging: 'page' },
    'by page, while every request finds it changed': { posts: 3600, pageSize: 40, rate: 1, sweeps: 13 },
  };
  for (const [name, list] of Object.entries(LISTS))
    it(`are concluded after two or three sweeps, and none is held (${name})`, async () => {
      const { concludedAfter, falseDeletions, held, pages, requests } = await play({ ...CALM, ...list });
      const share = (sweeps: number) =>
        concludedAfter.filter((after) => after !== null && after <= sweeps).length / concludedAfter.length;
      assert.deepEqual([falseDeletions, held], [[], 0]);
      assert.equal(requests, pages, 'no request beyond the pages of the list');
      assert.ok(concludedAfter.length > 50);
      assert.ok(share(2) >= 0.88 && share(3) >= 0.97, `${share(2)} and ${share(3)}`);
    });
});

describe('deletions on a list without an order that never stands still', () => {
  for (const order of ['votes', 'activity'] as const)
    it(`are concluded after at most eight sweeps, and none is held (${order})`, async () => {
      const { concludedAfter, falseDeletions, held } = await play({ ...CALM, order, bumps: 0.5, sweeps: 40 });
      assert.deepEqual([falseDeletions, held], [[], 0]);
      const late = concludedAfter.filter((after) => after === null || after > 8);
      assert.ok(
        concludedAfter.length > 20 && late.length <= 0.05 * concludedAfter.length,
        `${concludedAfter}`,
      );
    });
});

describe('a living row is never deleted', () => {
  const TROUBLES: Record<string, Partial<Story>> = {
    'while pages leave out rows in silence': { omission: 0.1 },
    'while every page leaves out a row in silence': { omission: 1 },
    'while each read leaves out one row in fifty': { leak: 0.02 },
    'while rows of the same date change places between requests': { order: 'dates', sameDate: 25 },
    'while rows with as many votes change places between requests': { order: 'ties', bumps: 0.5 },
    'while a replica lags for a sweep': { lag: 0.3 },
    'while the list is cut short for a sweep': { truncation: { chance: 0.3, rows: 19 } },
    'while a page is empty and ends the list': { emptyPage: 0.5 },
    'while the list is sorted by last activity and had looked newest first': {
      order: 'activity',
      bumps: 0.5,
    },
    'while the list is sorted by votes': { order: 'votes', bumps: 0.5 },
    'while every request gets another order': { order: 'random' },
    'while every sweep gets another order': { order: 'turns', bumps: 0.5 },
    'while every sweep gets another order, and pages leave out rows in silence': {
      order: 'turns',
      omission: 0.1,
    },
    'while sweeps are interrupted': { kill: 0.4, omission: 0.1 },
  };
  for (const [when, trouble] of Object.entries(TROUBLES))
    it(when, async () => {
      const story = { ...CALM, posts: 100, pageSize: 10, sweeps: 20, paging: 'cursor', ...trouble } as const;
      assert.deepEqual((await play(story)).falseDeletions, []);
    });

  it('while every other page of a short list leaves out a row in silence', async () => {
    const troubles = { order: 'oldest', bumps: 0.9, omission: 0.5, lag: 0.1 } as const;
    const short = { ...CALM, ...troubles, posts: 30, pageSize: 5, truncation: { chance: 0.1, rows: 19 } };
    for (const seed of [6, 84, 88])
      assert.deepEqual((await play({ ...short, seed, sweeps: 40 })).falseDeletions, []);
  });
});
