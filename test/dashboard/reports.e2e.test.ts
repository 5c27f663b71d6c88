import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { ReportAnswer, ReportsAnswer } from '../../src/http/dashboard/reports.ts';
import { REPORT_NAMES } from '../../src/reports/catalogue.ts';
import { detailOf } from '../http/client.ts';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import { type MirrorSite, openOnMirror } from './site.ts';

const PLANNED = { id: 8, name: 'Planned', color: '#112233' };
const OPEN = { id: 9, name: 'Open', color: '#445566' };

const open = (t: TestContext): Promise<MirrorSite> =>
  openOnMirror(t, async (store) => {
    const created = new Date(Date.now() - 86_400_000).toISOString();
    await sweep(store, 'posts', [
      aPost(1, { status: OPEN, votes_count: 7, created }),
      aPost(2, { status: PLANNED, votes_count: 9, created }),
    ]);
  });

describe('the reports of the dashboard', () => {
  it('are all those of the command line, each answered with its question', async (t) => {
    const site = await open(t);
    const { reports, boards, statuses } = await site.get<ReportsAnswer>('/data/reports');
    assert.deepEqual(
      reports.map(({ name }) => name),
      REPORT_NAMES,
    );
    assert.ok(boards.length > 0);
    assert.deepEqual(
      statuses.map(({ name }) => name),
      ['Planned', 'Open'],
    );
    for (const { name, answers, takes, isOfCustomers } of reports) {
      if (isOfCustomers) continue;
      const query = takes.includes('post') ? '?post=1' : '';
      const { title } = await site.get<ReportAnswer>(`/data/reports/${name}${query}`);
      assert.equal(title, answers);
    }
  });

  it('can be narrowed down to some statuses, in any zone, and come as a file too', async (t) => {
    const site = await open(t);
    const top = await site.get<ReportAnswer>('/data/reports/top-posts?status=Planned&tz=Asia/Tokyo');
    assert.deepEqual(
      top.rows.map(({ post }) => post),
      [2],
    );
    assert.equal(top.timeZone, 'Asia/Tokyo');
    const both = await site.get<ReportAnswer>('/data/reports/top-posts?status=8,9');
    assert.equal(both.rows.length, 2);
    const { body, headers } = await site.ask('/data/reports/top-posts?status=8&format=csv');
    assert.match(String(headers['content-disposition']), /top-posts\.csv/);
    assert.match(body, /^post,votes,comments,status,board,created,title\r\n2,9,/);
  });

  it('come in the order of a column, as a table and as a file', async (t) => {
    const site = await open(t);
    const posts = async (sort: string): Promise<unknown[]> =>
      (await site.get<ReportAnswer>(`/data/reports/top-posts?sort=${sort}`)).rows.map(({ post }) => post);
    assert.deepEqual(
      [await posts('votes'), await posts('-votes')],
      [
        [1, 2],
        [2, 1],
      ],
    );
    const { body } = await site.ask('/data/reports/top-posts?sort=votes&format=csv');
    assert.match(body, /\r\n1,7,[^\r]*\r\n2,9,/);
    assert.equal((await site.ask('/data/reports/top-posts?sort=age')).status, 400);
  });

  it('say what is wrong with a question', async (t) => {
    const site = await open(t);
    for (const [path, said] of [
      ['top-post', /Did you mean top-posts/],
      ['top-posts?status=Nope', /^Status: there is no status "Nope"/],
      ['top-posts?tz=Mars/Base', /no time zone/],
      ['top-posts?since=yesterday', /^Since "yesterday" is no date/],
      ['post-votes', /needs post\b/],
    ] as const) {
      const reply = await site.ask(`/data/reports/${path}`);
      assert.equal(reply.status, 400, path);
      assert.match(detailOf(reply), said);
    }
  });
});

describe('lists of posts', () => {
  it('take several boards and statuses, a least number of votes and a person, and give the same as a file', async (t) => {
    const site = await open(t);
    const ids = async (query: string): Promise<number[]> => {
      const { rows } = await site.get<{ rows: { id: number }[] }>(`/data/posts?sort=votes&${query}`);
      const { body } = await site.ask(`/data/posts.csv?sort=votes&${query}`);
      const lines = body.trimEnd().split('\r\n').slice(1);
      const listed = rows.map(({ id }) => id);
      assert.deepEqual(
        lines.map((line) => Number(line.split(',')[0])),
        listed,
      );
      return listed;
    };
    assert.deepEqual(await ids('status=8,9'), [2, 1]);
    assert.deepEqual(await ids('status=8'), [2]);
    assert.deepEqual(await ids('votes=8'), [2]);
    assert.deepEqual(await ids('creator=nobody'), []);
    assert.deepEqual(await ids('until=2020-01-01'), []);
    assert.equal((await site.ask('/data/posts?board=nowhere')).status, 400);
  });

  it('lead to boards by status and to people with what they wrote', async (t) => {
    const site = await open(t);
    const { rows } = await site.get<{ rows: { boardSlug: string; creatorId: number }[] }>('/data/posts');
    const [{ boardSlug, creatorId } = { boardSlug: '', creatorId: 0 }] = rows;
    const board = await site.get<{
      columns: { status: { name: string }; posts: number; top: { id: number }[] }[];
    }>(`/data/boards/${boardSlug}`);
    assert.deepEqual(
      board.columns.map(({ status, posts, top }) => [status.name, posts, top.map(({ id }) => id)]),
      [
        ['Planned', 1, [2]],
        ['Open', 1, [1]],
      ],
    );
    const person = await site.get<{ person: { email: string }; posts: { total: number; votes: number } }>(
      `/data/people?id=${creatorId}`,
    );
    assert.deepEqual([person.posts.total, person.posts.votes], [2, 16]);
    const same = await site.get<{ person: { email: string } }>(`/data/people?email=${person.person.email}`);
    assert.equal(same.person.email, person.person.email);
    assert.equal((await site.ask('/data/people?id=999999')).status, 404);
    assert.equal((await site.ask('/data/boards/nowhere')).status, 404);
  });

  it('can be kept as views, which lead to pages of this service only', async (t) => {
    const site = await open(t);
    await site.post('/data/views', { name: 'Planned', address: '/posts?status=8' });
    const { views } = await site.get<{ views: { name: string; address: string }[] }>('/data/views');
    assert.deepEqual(
      views.map(({ name, address }) => [name, address]),
      [['Planned', '/posts?status=8']],
    );
    for (const address of ['https://evil.test/posts', '//evil.test/posts', '/posts\\x', '/metrics', 'posts'])
      assert.equal((await site.send('/data/views', { name: 'Elsewhere', address })).status, 400, address);
  });
});

describe('settings and exports', () => {
  it('are shown with secrets masked', async (t) => {
    const site = await open(t);
    const { body } = await site.ask('/data/settings');
    assert.doesNotMatch(body, /unused/);
    assert.match(body, /FEEDBACK_API_TOKEN/);
  });

  it('give a table as a file, whole or what has changed, with or without people', async (t) => {
    const site = await open(t);
    const file = async (query: string): Promise<string> => {
      const reply = await site.ask(`/data/export/users?${query}`);
      assert.equal(reply.status, 200, reply.body);
      return reply.body;
    };
    assert.match(await file('format=csv'), /@example\.com/);
    const hidden = await file('format=csv&redact=emails');
    assert.match(hidden, /@redacted\.invalid/);
    assert.doesNotMatch(hidden, /@example\.com/);
    assert.equal((await file('format=ndjson&since=2999-01-01')).trim(), '');
    assert.equal((await site.ask('/data/export/meta')).status, 400);
    const { exports, schedule } = await site.get<{ exports: unknown[]; schedule: { cron: string | null } }>(
      '/data/exports',
    );
    assert.deepEqual([exports, schedule.cron], [[], null]);
    assert.equal((await site.ask('/data/exports/..%2f..%2fetc/passwd')).status, 404);
  });
});
