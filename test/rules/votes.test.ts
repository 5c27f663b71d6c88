import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { openChangeFeed } from '../../src/changes/feed.ts';
import type { Rule } from '../../src/contract/telling.ts';
import { openMirrorReadOnly } from '../../src/mirror/file/open.ts';
import { openReportReader } from '../../src/reports/store.ts';
import { gather } from '../../src/rules/gather.ts';
import type { MessageItem } from '../../src/rules/message.ts';
import { UPSTREAM, write } from '../reports/story.ts';
import { aPost, minute, range } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';

const RULE: Rule = {
  ...{
    name: 'votes',
    what: 'votes',
    sources: null,
    boards: null,
    statuses: null,
    segment: null,
    days: 7,
    every: 'daily',
  },
  ...{ at: { weekday: 1, hour: 0, minute: 0 }, zone: 'UTC', to: [] },
};
const [DAYS, DAY_MINUTES, POSTS] = [34, 1440, 12];

/** A list on which every post gains so many votes a day, and is looked at on some days. */
async function look(t: TestContext, votesOn: (day: number) => number, isLooked: (day: number) => boolean) {
  const { path } = await write(t, async (store) => {
    let votes = 0;
    for (let day = 0; day < DAYS; day++) {
      votes += votesOn(day);
      const created = '2025-06-01T00:00:00Z';
      const rows = range(1, POSTS).map((id) => aPost(id, { votes_count: votes, created }));
      if (isLooked(day)) await sweep(store, 'posts', rows, day * DAY_MINUTES + 60);
    }
  });
  const options = { path, upstream: UPSTREAM };
  const [db, feed, reader] = [
    openMirrorReadOnly(options),
    openChangeFeed(options),
    openReportReader(options),
  ];
  t.after(async () => {
    await reader.close();
    feed.close();
    db.close();
  });
  const facts = { db, feed, reader, finished: () => [], alarmed: () => new Set<number>() };
  const told: [day: number, items: MessageItem[]][] = [];
  for (let day = 22; day <= DAYS; day++) {
    const until = minute(day * DAY_MINUTES);
    const { items } = await gather(facts, RULE, { position: 0, since: until, until });
    if (items.length > 0) told.push([day, items]);
  }
  return told;
}

it('a rule of votes tells of a board whose posts gain three times as many for two days', async (t) => {
  const told = await look(
    t,
    (day) => (day === 28 || day === 29 ? 3 : 1),
    () => true,
  );
  const days = told.map(([day]) => day);
  assert.deepEqual(days, [29, 30, 31]);
  assert.partialDeepStrictEqual(told[1]?.[1], [{ kind: 'board', votes: 6 * POSTS, usual: 2 * POSTS }]);
});

it('a rule of votes stays silent after days on which nobody looked', async (t) => {
  assert.deepEqual(
    await look(
      t,
      () => 1,
      (day) => day < 23 || day > 30,
    ),
    [],
  );
});
