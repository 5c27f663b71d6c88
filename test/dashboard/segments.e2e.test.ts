import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { PeopleAnswer, PostsAnswer } from '../../src/http/dashboard/posts.ts';
import type { ReportAnswer } from '../../src/http/dashboard/reports.ts';
import type { CompanyAnswer, ImportedAnswer, SegmentsAnswer } from '../../src/http/dashboard/segments.ts';
import type { PersonView } from '../../src/search/browse/pages.ts';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';
import { type MirrorSite, openOnMirror } from './site.ts';

const person = (id: number, name: string) => ({ ...wire.user, id, name, email: `${name}@example.com` });

const open = (t: TestContext): Promise<MirrorSite> =>
  openOnMirror(t, async (store) => {
    await sweep(store, 'posts', [
      aPost(1, { creator: person(1, 'ann'), votes_count: 7 }),
      aPost(2, { creator: person(2, 'bob'), votes_count: 9 }),
    ]);
  });

const FOREIGN = 'Kontakt,Kunde,Stufe\nann@example.com,Acme,Pro\n';
const CSV = 'email,company,plan,mrr\nann@example.com,Acme,Pro,100\nbob@example.com,Beta,Free,much\n';

describe('the customers of the dashboard', () => {
  it('are imported once, and narrow lists, reports and the page of a company', async (t) => {
    const site = await open(t);
    const dry = await site.post<ImportedAnswer>('/data/segments', { csv: CSV, dry: '1' });
    assert.deepEqual([dry.customers, dry.imported], [2, null]);
    const chosen = { email: 'Kontakt', company: 'Kunde', plan: 'Stufe', dry: '1' };
    const { columns } = await site.post<ImportedAnswer>('/data/segments', { csv: FOREIGN, ...chosen });
    assert.partialDeepStrictEqual(columns, { email: 'Kontakt', company: 'Kunde', plan: 'Stufe' });
    const { imported, unread } = await site.post<ImportedAnswer>('/data/segments', { csv: CSV });
    assert.equal(imported?.people, 2);
    assert.deepEqual(unread, [{ line: 3, column: 'mrr', why: '"much" is no number' }]);
    assert.equal((await site.get<SegmentsAnswer>('/data/segments')).importedBy, 'dashboard');
    const { rows } = await site.get<PostsAnswer>('/data/posts?segment=plan%3DPro');
    assert.deepEqual(
      rows.map(({ id }) => id),
      [1],
    );
    const top = await site.get<ReportAnswer>('/data/reports/top-posts?segment=Free');
    assert.deepEqual(
      top.rows.map(({ post }) => post),
      [2],
    );
    assert.equal((await site.get<ReportAnswer>('/data/reports/demand?by=company')).rows.length, 2);
    const company = await site.get<CompanyAnswer>('/data/companies?name=acme');
    assert.deepEqual([company.value, company.posts.map(({ id }) => id)], [100, [1]]);
    assert.equal((await site.ask('/data/companies?name=nobody')).status, 404);
    const { rows: people } = await site.get<PeopleAnswer>('/data/people?sort=name');
    assert.deepEqual(
      people.slice(0, 2).map(({ name, company: of, plan }) => [name, of, plan]),
      [
        ['ann', 'Acme', 'Pro'],
        ['bob', 'Beta', 'Free'],
      ],
    );
    const { segment } = await site.get<PersonView>('/data/people?id=1');
    assert.deepEqual(segment, { company: 'Acme', plan: 'Pro', value: 100, valueName: 'mrr', extra: null });
    assert.deepEqual(await site.post('/data/segments/remove', {}), { removed: 2 });
  });
});
