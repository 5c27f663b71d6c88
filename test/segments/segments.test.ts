import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { openErasureStore } from '../../src/erasure/store/store.ts';
import { openMirrorStore } from '../../src/mirror/store/store.ts';
import type { ErasureWalk } from '../../src/mirror/suppression/person.ts';
import { REPORTS, type ReportName } from '../../src/reports/catalogue.ts';
import type { Row } from '../../src/reports/report.ts';
import { openBrowseReads } from '../../src/search/browse/browse.ts';
import { EVERY_LIVE_POST } from '../../src/search/browse/filter.ts';
import { openSearchReads } from '../../src/search/search.ts';
import { readCustomers } from '../../src/segments/file.ts';
import { openSegmentStore } from '../../src/segments/store.ts';
import { pick, type Story, table, tell, UPSTREAM } from '../reports/story.ts';
import { queryFile } from '../support/mirror.ts';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';

const FILE = `email,domain,company,plan,mrr,region
ANN@example.com,,Acme,Pro,100,EU
bob@example.com,,Beta,Free,0,US
zed@example.com,,Zeta,Pro,70,EU
,example.com,Others,Team,"1.250,50",EU
`;
const AT = Date.parse('2026-01-30T00:00:00.000Z');

function imported(t: TestContext, { path }: Pick<Story, 'path'>, text = FILE) {
  const store = openSegmentStore({ path, upstream: UPSTREAM, holder: 'the test' });
  t.after(() => store.close());
  return { store, result: store.import(readCustomers(text), 'mia', AT) };
}

/** Name of the user and company of the customer. */
function links(path: string): unknown[] {
  return queryFile(
    path,
    'SELECT u.name, s.company FROM people_segments l JOIN users u ON u.id = l.user_id JOIN segments s ON s.id = l.segment_id ORDER BY u.id',
  );
}

describe('imported customers', () => {
  it('are linked to people by address, and then by domain', async (t) => {
    const story = await tell(t);
    const { result, store } = imported(t, story);
    assert.deepEqual(result, { customers: 4, people: 4, added: 4, removed: 0, erased: 0 });
    assert.deepEqual(links(story.path), [
      { name: 'Ann', company: 'Acme' },
      { name: 'Bob', company: 'Beta' },
      { name: 'Tess', company: 'Others' },
      { name: 'Cleo', company: 'Others' },
    ]);
    const { plans, companies, ...state } = store.state();
    assert.deepEqual(state, {
      customers: 4,
      people: 4,
      importedAt: '2026-01-30T00:00:00.000Z',
      importedBy: 'mia',
      valueName: 'mrr',
      companyCount: 4,
    });
    assert.deepEqual(
      companies.map(({ company, plan, people, value }) => [company, plan, people, value]),
      [
        ['Others', 'Team', 2, 1250.5],
        ['Acme', 'Pro', 1, 100],
        ['Zeta', 'Pro', 0, 70],
        ['Beta', 'Free', 1, 0],
      ],
    );
    assert.deepEqual(plans, [
      { plan: 'Team', customers: 1, value: 1250.5, people: 2 },
      { plan: 'Pro', customers: 2, value: 170, people: 1 },
      { plan: 'Free', customers: 1, value: 0, people: 1 },
    ]);
  });

  it('take in people who come or change their address after the import', async (t) => {
    const story = await tell(t);
    imported(t, story);
    const store = openMirrorStore({ path: story.path, upstream: UPSTREAM, holder: 'a sweep' });
    const person = (id: number, email: string) => ({ ...wire.user, id, name: `u${id}`, email });
    const write = (email: string, minute: number) =>
      sweep(store, 'posts', [aPost(900, { creator: person(50, email) })], minute);
    await write(' ZED@example.com', 50_000);
    const found = () => links(story.path).at(-1);
    assert.deepEqual(found(), { name: 'u50', company: 'Zeta' });
    await write('someone@EXAMPLE.com', 50_001);
    assert.deepEqual(found(), { name: 'u50', company: 'Others' });
    await write('someone@elsewhere.test', 50_002);
    assert.deepEqual(found(), { name: 'Cleo', company: 'Others' });
    store.close();
  });

  it('are replaced by the next file, and removed as a whole', async (t) => {
    const story = await tell(t);
    const { store } = imported(t, story);
    const next = store.import(
      readCustomers('email,plan\nbob@example.com,Pro\nnew@example.com,Pro\n'),
      'kim',
      AT,
    );
    assert.deepEqual(next, { customers: 2, people: 1, added: 1, removed: 3, erased: 0 });
    assert.equal(store.remove(), 2);
    assert.deepEqual(links(story.path), []);
  });

  it('go with a person who is erased, and do not come back with the next file', async (t) => {
    const story = await tell(t);
    const { store } = imported(t, story, `${FILE}team@acme.test,,Acme,Pro,1,ann@example.com\n`);
    const erasure = openErasureStore({ path: story.path, upstream: UPSTREAM, holder: 'erase' });
    t.after(() => erasure.close());
    const person = erasure.suppress('Ann@example.com', AT);
    const counts: Record<string, number> = {};
    for (let walk: ErasureWalk | null = { place: 0, after: -1 }; walk !== null; ) {
      const step = erasure.erase(person, walk, AT);
      for (const [name, n] of Object.entries(step.counts)) counts[name] = (counts[name] ?? 0) + n;
      walk = step.next;
    }
    assert.equal(counts.segments, 1);
    const file = JSON.stringify(queryFile(story.path, 'SELECT * FROM segments'));
    assert.doesNotMatch(file, /ann@example\.com/i);
    assert.equal(store.import(readCustomers(FILE), 'mia', AT).erased, 1);
  });
});

describe('a segment as a filter', () => {
  it('narrows lists and search to posts that its people wrote', async (t) => {
    const story = await tell(t);
    imported(t, story);
    const options = { path: story.path, upstream: UPSTREAM };
    const browse = openBrowseReads(options);
    const search = openSearchReads(options);
    t.after(() => browse.close());
    t.after(() => search.close());
    const listed = (segment: string): number[] =>
      browse
        .page({
          filter: { ...EVERY_LIVE_POST, segment: browse.segment(segment) },
          sort: 'oldest',
          after: null,
          limit: 50,
        })
        .rows.map(({ id }) => id);
    assert.deepEqual(listed('plan=pro'), [101, 106]);
    assert.deepEqual(listed('Free'), [102, 105]);
    assert.deepEqual(listed('region = eu'), [101, 104, 106]);
    assert.deepEqual(listed('mrr>=1000'), [104]);
    assert.deepEqual(listed('value<100'), [102, 105]);
    const found = await search.find('dark mode', { segment: 'company=Beta' });
    assert.deepEqual(
      found.hits.map(({ id }) => id),
      [105],
    );
  });

  it('refuses what no customer has, with what there is', async (t) => {
    const story = await tell(t);
    await assert.rejects(story.ask('top-posts', { segment: 'plan=Pro' }), /no customers were imported yet/);
    imported(t, story);
    const refused = (segment: string, why: RegExp) =>
      assert.rejects(story.ask('top-posts', { segment }), (error: { message: string; hint?: string }) =>
        why.test(`${error.message} ${error.hint}`),
      );
    await refused('plan=Prp', /no customer has plan "Prp" Did you mean Pro\? There are Free, Pro, Team/);
    await refused('paln=Pro', /no column "paln" Did you mean plan\?/);
    await refused('mrr>=lots', /"lots" is no number/);
    await refused('plan>=Pro', />= compares the value only/);
  });

  it('makes every report that takes it the report of a mirror without the other posts', async (t) => {
    const story = await tell(t);
    imported(t, story);
    const names = (Object.keys(REPORTS) as ReportName[]).filter((name) => {
      const takes: readonly string[] = REPORTS[name].takes;
      return takes.includes('segment') && !('about' in REPORTS[name]);
    });
    assert.ok(names.length >= 9);
    const rowsOf = async (segment?: string) =>
      Object.fromEntries(
        await Promise.all(
          names.map(async (name) => [name, table(await story.ask(name, { segment, since: since(name) }))]),
        ),
      );
    const narrowed = await rowsOf('plan=Pro');
    const db = new Database(story.path);
    db.pragma('foreign_keys = OFF');
    db.exec('DELETE FROM posts WHERE creator_id <> 1');
    db.exec('DELETE FROM post_versions WHERE post_id NOT IN (SELECT id FROM posts)');
    db.close();
    assert.deepEqual(narrowed, await rowsOf());
    assert.deepEqual(
      narrowed['top-posts']?.map(([post]: [number]) => post),
      [106],
      '101 is done',
    );
  });

  it('means all that its people wrote, where a report is about writing', async (t) => {
    const story = await tell(t);
    imported(t, story);
    const count = (sql: string) =>
      queryFile<{ n: number }>(story.path, `SELECT count(*) AS n FROM ${sql}`)[0]?.n;
    const posts = count('posts WHERE creator_id = 1 AND deleted_at IS NULL');
    const comments = count('comments WHERE creator_id = 1 AND deleted_at IS NULL');
    const others = (await story.ask('new-by-week', { since: '2025-01-01' })).rows;
    assert.ok(
      others.some((row) => Number(row.comments) > 0),
      'others commented',
    );
    const asked = { segment: 'plan=Pro', since: '2025-01-01' };
    const sum = (rows: Row[], name: string): number => rows.reduce((all, row) => all + Number(row[name]), 0);
    const weeks = (await story.ask('new-by-week', asked)).rows;
    assert.deepEqual([sum(weeks, 'posts'), sum(weeks, 'comments')], [posts, comments]);
    const people = (await story.ask('customers', asked)).rows;
    assert.deepEqual(
      people.map(({ customer, posts, comments }) => [customer, posts, comments]),
      [['Ann', posts, comments]],
    );
    const overview = await story.ask('overview', asked);
    assert.deepEqual(overview.rows.map(({ recent }) => recent).toSpliced(1, 1), [posts, comments, 1]);
    assert.ok(
      overview.notes.some((note) => note.startsWith('Only what people of plan=Pro (1 person) wrote.')),
    );
    const all = (await story.ask('overview', { since: '2025-01-01' })).rows[1];
    assert.ok(Number(overview.rows[1]?.total) < Number(all?.total), 'votes on their posts');
  });
});

function since(name: ReportName): string | undefined {
  if (!(REPORTS[name].takes as readonly string[]).includes('since')) return undefined;
  // What is stale has had nothing since then.
  return name === 'stale' ? '2026-01-30' : '2025-12-01';
}

describe('reports about imported customers', () => {
  it('segments adds up who speaks by a column of the file', async (t) => {
    const story = await tell(t);
    imported(t, story);
    const report = await story.ask('segments');
    assert.deepEqual(pick(report, 'segment', 'customers', 'found', 'amount', 'posts'), [
      ['Team', 1, 1, 1250.5, 1],
      ['Pro', 2, 1, 170, 2],
      ['Free', 1, 1, 0, 2],
    ]);
    assert.deepEqual(pick(await story.ask('segments', { by: 'region' }), 'segment', 'customers'), [
      ['EU', 3],
      ['US', 1],
    ]);
    assert.match(report.notes.join('\n'), /Votes carry no names.*\n3 of the 4 imported customers wrote/);
  });

  it('demand counts a customer once a post, by what they wrote and commented', async (t) => {
    const story = await tell(t);
    imported(t, story);
    const report = await story.ask('demand', { includeClosed: true });
    assert.deepEqual(pick(report, 'post', 'customers', 'amount', 'segments'), [
      // Bob wrote it; Tess and Cleo, who commented, are one customer of the domain.
      [101, 3, 1350.5, '1 Free, 1 Pro, 1 Team'],
      [102, 2, 1250.5, '1 Free, 1 Team'],
      [105, 2, 1250.5, '1 Free, 1 Team'],
      [104, 1, 1250.5, '1 Team'],
      [106, 1, 100, '1 Pro'],
    ]);
    assert.deepEqual(
      pick(await story.ask('demand', { segment: 'plan=Pro', includeClosed: true }), 'post', 'customers'),
      [
        [101, 1],
        [106, 1],
      ],
    );
  });
});
