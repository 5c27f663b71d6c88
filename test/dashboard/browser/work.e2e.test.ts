import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it, type TestContext } from 'node:test';
import { proposePost } from '../../../src/outbox/create.ts';
import type { PersonView } from '../../../src/search/browse/pages.ts';
import { until } from '../../support/until.ts';
import { examplesOf } from './addresses.ts';
import { HOSTILE, onStage, openStage, type Stage, sweepAll, UNCERTAIN } from './stage.ts';
import { DESKTOP, downloaded, type Look, PHONE, settled, sideways, type Visit, visit } from './visit.ts';

/** What an agent would like to send. */
const PROPOSED = {
  ...{ board: 'bugs', title: 'An agent asks for tea', content: 'People ask for it.' },
  ...{ email: null, full_name: null },
};

describe('somebody at work on the dashboard', onStage, () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage({
      env: { SYNC_HEAD_EVERY: '2s' },
      async past(app) {
        await sweepAll(app);
        proposePost({ store: app.outbox, clock: app.clock, random: Math.random }, PROPOSED);
      },
    });
  });
  after(() => stage?.close());
  const enter = async (t: TestContext, look: Look = DESKTOP): Promise<Visit> => {
    const visitor = await visit(stage, look);
    t.after(() => visitor.close());
    return visitor;
  };

  it('opens every page without a complaint of the browser, and scrolls none of them sideways on a phone', async (t) => {
    const { page, open, go, assertCalm } = await enter(t, PHONE);
    const { person } = (await (await fetch(`${stage.url}/data/people?id=5`)).json()) as PersonView;
    await open('/');
    for (const address of Object.values(examplesOf(stage.uncertain, person.email ?? ''))) {
      await go(address);
      assert.equal(await page.locator('main [role=alert]').count(), 0, address);
      await until(`${address} cannot be scrolled sideways`, async () => (await sideways(page)) <= 0);
    }
    assertCalm();
  });

  it('sees at first sight how much feedback there is, and which way it goes', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/');
    const posts = page.locator('.figure', { hasText: 'Posts' }).locator('b');
    assert.equal(await posts.textContent(), String(stage.sandbox.world.posts().length));
    for (const name of ['New posts', 'By status', 'By board', 'Fastest climbers', 'Unanswered'])
      await page.getByRole('region', { name, exact: true }).waitFor();
    await page.getByLabel('Period').selectOption({ label: 'Last 90 days' });
    await page.getByText('The last 90 days').waitFor();
    assert.match(page.url(), /since=90d/);
    await page.goBack();
    await page.getByText('The last 30 days').waitFor();
    assertCalm();
  });

  it('finds a post from the first page in three steps, and reads a hostile title as text', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/');
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Posts' }).click();
    await page.getByRole('searchbox').fill('onerror');
    await page.getByRole('list', { name: 'Posts' }).getByRole('link', { name: HOSTILE }).click();
    await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor();
    for (const name of ['Description', 'Details', 'Votes over time'])
      await page.getByRole('region', { name, exact: true }).waitFor();
    assert.match((await page.locator('#by-creator').getAttribute('href')) ?? '', /^\/people\/\d+$/);
    assert.equal(await page.locator('main img').count(), 0);
    await page.goBack();
    await page.getByRole('searchbox').waitFor();
    assert.equal(await page.getByRole('searchbox').inputValue(), 'onerror');
    assertCalm();
  });

  it('goes from the overview to a report, narrows it down, and takes it along as CSV and as a picture', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/');
    await page.getByRole('link', { name: 'New posts' }).click();
    await page.getByRole('heading', { name: 'New by week', level: 1 }).waitFor();
    await page.locator('figure.chart canvas').waitFor();
    const png = await readFile(await (await downloaded(page, 'Download PNG')).path());
    assert.deepEqual([...png.subarray(1, 4)], [...Buffer.from('PNG')]);
    await page.locator('#field-board').selectOption({ label: 'Bugs' });
    await page.waitForURL(/board=bugs/);
    await settled(page);
    const csv = await downloaded(page, 'Download CSV');
    assert.match(
      await readFile(await csv.path(), 'utf8'),
      /^week,board,posts,comments,partial\r\n[\d-]+,Bugs,/,
    );
    assertCalm();
  });

  it('chooses several boards and dates, keeps the view, and has exactly that as a file', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/posts');
    await page.locator('#picks-board summary').click();
    await page.getByRole('checkbox', { name: 'Bugs' }).check();
    await page.getByRole('checkbox', { name: 'Reporting' }).check();
    await page.waitForURL(/board=bugs%2Creporting/);
    await page.keyboard.press('Escape');
    await page.getByLabel('Votes, at least').fill('2');
    await page.keyboard.press('Enter');
    await page.waitForURL(/votes=2/);
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Two boards');
    await page.keyboard.press('Enter');
    await page.getByText('Saved views').click();
    await page.getByRole('link', { name: 'Two boards' }).waitFor();
    const csv = await readFile(await (await downloaded(page, 'Download CSV', 'link')).path(), 'utf8');
    const { total } = (await (
      await fetch(`${stage.url}/data/posts?board=bugs,reporting&votes=2`)
    ).json()) as { total: { posts: number } };
    assert.equal(csv.trimEnd().split('\r\n').length - 1, total.posts);
    assertCalm();
  });

  it('decides about an uncertain row, with its candidates side by side', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/outbox');
    await page.getByRole('link', { name: UNCERTAIN }).click();
    await page.getByRole('article', { name: 'Our row' }).waitFor();
    await page.getByRole('article', { name: 'Post 2' }).waitFor();
    await page.getByRole('button', { name: 'It is this post: 3' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'It is post 3' }).click();
    await page.getByText('The row is confirmed by post 3.').waitFor();
    assertCalm();
  });

  it('approves what an agent proposes: until then nothing is sent, and then it is', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    const isThere = (): boolean => stage.sandbox.world.posts().some(({ title }) => title === PROPOSED.title);
    await open('/outbox');
    await page.getByRole('link', { name: PROPOSED.title }).click();
    assert.equal(isThere(), false);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await until('the post is sent', isThere);
    await page.getByText('Sent', { exact: true }).first().waitFor();
    assertCalm();
  });

  it('imports a CSV: sees what would happen first, then watches it go out', async (t) => {
    const { page, open, assertCalm } = await enter(t, PHONE);
    await open('/outbox/import');
    const made = () =>
      stage.sandbox.world
        .ledger()
        .map(({ title }) => title)
        .filter((title) => title !== PROPOSED.title);
    const titles = ['Import one', HOSTILE.replace('x', 'y'), 'Import three'];
    const text = `Subject,Description,Board\n${titles.map((title) => `${title},Please.,bugs`).join('\n')}\n,no title,bugs\n`;
    const file = { name: 'wishes.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
    await page.locator('#csv-file').setInputFiles(file);
    await page.getByText('1 row refused').waitFor();
    assert.deepEqual(made(), []);
    await page.locator('#import').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Import 3 rows' }).click();
    await page.getByText('Everything is done.').waitFor();
    assert.deepEqual([made().length, new Set(made())], [titles.length, new Set(titles)]);
    assertCalm();
  });

  it('asks in SQL, sees it drawn, keeps it for the team and takes it along', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/sql');
    await page.getByRole('button', { name: 'New posts by month' }).click();
    await page.locator('figure.chart canvas').waitFor();
    await page
      .getByRole('textbox', { name: 'Statement' })
      .fill('SELECT board, count(*) AS posts FROM live_posts GROUP BY board');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('region', { name: 'posts by board' }).first().waitFor();
    assert.match(page.url(), /\/sql\?q=SELECT/);
    const download = await downloaded(page, 'Download CSV');
    assert.match(await readFile(await download.path(), 'utf8'), /^board,posts\r\n/);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('By board');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'By board', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Rename By board' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Boards');
    await page.keyboard.press('Enter');
    await page.reload();
    await page.getByRole('button', { name: 'Delete Boards' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Nothing is saved yet.').waitFor();
    assertCalm();
  });

  it('sees numbers move without a reload', async (t) => {
    const { page, open, assertCalm } = await enter(t, PHONE);
    await open('/');
    await page.evaluate('window.isSame = true');
    const shown = page.locator('.figure', { hasText: 'Posts' }).locator('b');
    const { world } = stage.sandbox;
    const details = page.getByRole('region', { name: 'New posts' }).locator('details');
    await details.locator('summary').click();
    // What is shown at first may be some seconds old where adding it up takes long.
    for (const title of ['Just written', 'Another one']) {
      await shown.getByText(String(world.posts().length), { exact: true }).waitFor();
      world.addPost({ board: 'bugs', title });
    }
    await shown.getByText(String(world.posts().length), { exact: true }).waitFor();
    assert.equal(await page.evaluate('window.isSame'), true);
    assert.equal(await details.getAttribute('open'), '', 'what somebody has opened stays open');
    assertCalm();
  });

  it('gets about with the keyboard alone', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/outbox');
    const focused = () => page.evaluate('document.activeElement.textContent.trim()');
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'Skip to the content');
    while ((await focused()) !== 'SQL') await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'SQL', level: 1 }).waitFor();
    await settled(page);
    while ((await page.evaluate('document.activeElement.id')) !== 'sql') await page.keyboard.press('Tab');
    await page.keyboard.type('SELECT 41 + 1 AS answer');
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'Run');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: '42' }).waitFor();
    assertCalm();
  });
});
