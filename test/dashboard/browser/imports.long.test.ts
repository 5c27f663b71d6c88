import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { EXAMPLES, LAYOUT_CASES } from '../../outbox/csv/layout-cases.ts';
import { until } from '../../support/until.ts';
import { onStage, openStage, type Stage } from './stage.ts';
import { barriers, DESKTOP, type Look, PHONE, settled, sideways, type Visit, visit } from './visit.ts';

async function choose(page: Page, text: string | Buffer): Promise<void> {
  const file = { name: 'wishes.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
  await page.locator('#csv-file').setInputFiles(file);
}

/** The question, and the answer that it is wanted. */
async function sure(page: Page, action: RegExp): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: action }).click();
}

async function importAll(page: Page): Promise<void> {
  await page.locator('#import:not([disabled])').click();
  await sure(page, /^Import/);
  await page.getByText('put into the outbox,').waitFor();
}

async function assertOpenToAll(page: Page): Promise<void> {
  assert.deepEqual(await barriers(page), []);
  assert.equal(await sideways(page), 0);
}

function rowsOf(titles: readonly string[], board: string): string {
  return `Title,Details,Board\n${titles.map((title) => `${title},Please.,${board}`).join('\n')}\n`;
}

describe('importing in the browser', onStage, () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage?.close());
  const enter = async (t: TestContext, look: Look = DESKTOP): Promise<Visit> => {
    const visitor = await visit(stage, look);
    t.after(() => visitor.close());
    await visitor.open('/outbox/import');
    return visitor;
  };
  const sent = (title: string) => stage.sandbox.world.ledger().filter((post) => post.title === title);

  it('maps boards and leaves out duplicates, and has it all after a reload and a kill of the service', async (t) => {
    const { page, assertCalm } = await enter(t, PHONE);
    const [copied] = stage.sandbox.world.posts();
    assert.ok(copied);
    const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    const text = [
      'Post ID,Title,Details,Board,Author Email,Author Name',
      'w1,A first wish,With a text.,Wünsche,kim@example.com,Kim',
      'w2,A second wish,With a text.,Altes,,',
      `w3,${quoted(copied.title)},${quoted(copied.content)},bugs,,`,
    ].join('\n');
    await choose(page, text);
    await page.getByText('This looks like a Canny export').waitFor();
    await page.getByText('First answer 2 questions on this page.').waitFor();
    assert.equal(await page.locator('#import').isDisabled(), true);
    await page.getByText('1 customer may be told by the service').waitFor();
    await page.getByRole('heading', { name: 'A first wish' }).waitFor();
    await page.getByLabel('Where do the rows of “Wünsche” go?').first().selectOption('Feature requests');
    await page.getByText('First answer 1 question on this page.').waitFor();
    const tried = page.waitForRequest(/\/preview$/);
    await page.getByLabel('Where do the rows of “Altes” go?').first().selectOption('Leave its rows out');
    assert.deepEqual(
      (await tried).postDataJSON(),
      { map: {}, boardMap: { Altes: null } },
      'only that choice',
    );
    await page.getByRole('button', { name: 'Leave out all: same title and text' }).click();
    await page.getByRole('button', { name: 'Import 1 row' }).waitFor();
    await assertOpenToAll(page);
    assertCalm();
    await page.reload();
    await page.getByRole('button', { name: 'Import 1 row' }).waitFor();
    await stage.restart();
    await page.reload();
    await page.getByText('3 rows compared with every post').waitFor();
    const posts = stage.sandbox.world.ledger().length;
    await importAll(page);
    await page.getByText('Everything is done.').waitFor();
    assert.deepEqual(
      sent('A first wish').map(({ board, email }) => [board, email]),
      [['feature-requests', 'kim@example.com']],
    );
    assert.equal(stage.sandbox.world.ledger().length, posts + 1);
  });

  it('asks for a title rather than publishing a name, and shows what it did recognise', async (t) => {
    const { page, assertCalm } = await enter(t);
    await choose(page, 'Wish or so,Comment,Email,Name\nA dark theme,It is bright,kim@example.com,Kim\n');
    const question = page.getByRole('region', { name: 'Which column is the title?' });
    await question.waitFor();
    assert.deepEqual(await question.getByRole('button').allTextContents(), ['“Wish or so”']);
    await page.getByText("Customer's e-mail: Email, Customer's name: Name").waitFor();
    await assertOpenToAll(page);
    await question.getByRole('button').click();
    await page.getByLabel('The board of all rows').first().selectOption('Bugs');
    await importAll(page);
    await page.getByText('Everything is done.').waitFor();
    assert.deepEqual(
      sent('A dark theme').map(({ board, content, email }) => [board, content, email]),
      [['bugs', 'It is bright', 'kim@example.com']],
    );
    assertCalm();
  });

  it('says that an import may be accepted while no answer comes, and shows it once one does', async (t) => {
    const { page } = await enter(t);
    await choose(page, rowsOf(['Unanswered wish'], 'bugs'));
    await page.locator('#import').waitFor();
    // The service takes it in, and the page learns nothing.
    await page.route('**/data/imports/**', async (route) => {
      if (route.request().method() === 'POST') await route.fetch();
      await route.abort();
    });
    await page.locator('#import').click();
    await sure(page, /^Import/);
    await page.getByText('It may have accepted the import').waitFor();
    assert.equal(await page.getByText('nothing was written so far').count(), 0);
    await page.unroute('**/data/imports/**');
    await page.getByText('1 row put into the outbox,').waitFor();
    assert.equal(sent('Unanswered wish').length, 1);
  });

  for (const { file, layout, first, flags = [] } of LAYOUT_CASES.filter(({ file: name }) =>
    ['jira.csv', 'zendesk.csv', 'excel.csv'].includes(name),
  ))
    it(`sends ${file} to the right board in the right name`, async (t) => {
      const { page, assertCalm } = await enter(t);
      await choose(page, readFileSync(join(EXAMPLES, file)));
      if (flags.length > 0)
        await page
          .getByLabel('The board of all rows')
          .first()
          .selectOption(flags[1] ?? '');
      await page.getByText('The first posts, as they will look').waitFor();
      if (layout !== null) await page.getByText(`This looks like a ${layout} export.`).waitFor();
      await importAll(page);
      await page.getByText('Everything is done.').waitFor();
      assert.deepEqual(
        sent(first.title).map(({ content, email }) => [content, email]),
        [[first.content, first.email ?? 'owner@example.com']],
      );
      assertCalm();
    });

  it('pauses, resumes and cancels an import, and gives back what was not sent as a file', async (t) => {
    const { page, assertCalm } = await enter(t);
    const titles = Array.from({ length: 40 }, (_, n) => `Slow wish ${n}`);
    await choose(page, rowsOf(titles, 'bugs'));
    await page.getByLabel('Posts a minute, at most').fill('60');
    await page.keyboard.press('Tab');
    await page.getByText('40 posts at 60 a minute: about 40 s, until').waitFor();
    await importAll(page);
    await page.locator('#pause').click();
    await sure(page, /^Pause$/);
    await page.getByText('Nothing more of it is sent until you resume it.').waitFor();
    const count = (): number =>
      stage.sandbox.world.ledger().filter(({ title }) => /^Slow/.test(title)).length;
    await page.locator('#resume').click();
    await until('it goes on', () => count() > 0);
    await page.locator('#pause').waitFor();
    // A slow hand: what came in meanwhile is drawn when the button is let go.
    await page.locator('#cancel-rest').hover();
    await page.mouse.down();
    await page.waitForResponse(/\/data\/batches\//);
    await page.waitForResponse(/\/data\/batches\//);
    await page.mouse.up();
    await sure(page, /^Cancel/);
    await page.getByText('Posts that were sent cannot be taken back through this API.').waitFor();
    await page.locator('#again-cancelled').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: /^Cancelled \(/ }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
    assert.equal(lines[0], 'board,title,content,email,full_name,key,state,post_id,url,reason');
    assert.equal(lines.length - 1, 40 - count());
    await page.locator('#sent-posts').click();
    await page
      .getByRole('link', { name: /^Post \d+ upstream$/ })
      .first()
      .waitFor();
    await assertOpenToAll(page);
    assertCalm();
  });

  it('mends rejected rows by their board, and one by one, and keeps what they said', async (t) => {
    const { page, assertCalm } = await enter(t);
    await choose(page, rowsOf(['Lost wish 1', 'Lost wish 2', 'Lost wish 3'], 'nowhere'));
    await page
      .getByLabel('Where do the rows of “nowhere” go?')
      .first()
      .selectOption('Send to “nowhere” as it is');
    await importAll(page);
    await page.getByText('Nothing more happens by itself; 3 rows need you.').waitFor();
    await page.locator('#rows').click();
    await page.getByRole('link', { name: 'Lost wish 2' }).click();
    await page.getByText('There is no board "nowhere"').first().waitFor();
    await page.locator('#edit').click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Board', { exact: true }).selectOption('Bugs');
    await form.getByLabel('Title').fill('Found wish 2');
    await form.getByRole('button', { name: 'Save and send' }).click();
    await page.getByRole('region', { name: 'Changes by people' }).getByText('Lost wish 2').waitFor();
    await assertOpenToAll(page);
    await page.locator('#batch').click();
    await page.getByRole('button', { name: 'Move to another board: the rows of nowhere' }).click();
    await form.getByLabel('The new board').first().selectOption('Feature requests');
    await sure(page, /^Move and send 2 rows$/);
    await page.getByText('Everything is done.').waitFor();
    const boards = ['Lost wish 1', 'Found wish 2', 'Lost wish 3'].map((title) => sent(title)[0]?.board);
    assert.deepEqual(boards, ['feature-requests', 'bugs', 'feature-requests']);
    assertCalm();
  });
});

describe('importing into a service without posts', onStage, () => {
  it('says that it is empty, and takes a board that is typed', async (t) => {
    const stage = await openStage({ sandbox: { posts: 0 } });
    t.after(() => stage.close());
    const { page, open, assertCalm } = await visit(stage);
    await open('/');
    await page.getByText('The service has no posts.').waitFor();
    await open('/outbox/import');
    await choose(page, 'Title,Details\nThe very first wish,Please.\n');
    await page.getByLabel('The board of all rows: the short part of its URL').fill('bugs');
    await page.keyboard.press('Tab');
    await importAll(page);
    await page.getByText('Everything is done.').waitFor();
    await open('/outbox');
    await settled(page);
    await page.getByRole('button', { name: 'New post' }).click();
    await page.getByLabel('Board', { exact: true }).selectOption('bugs');
    assert.deepEqual(
      stage.sandbox.world.ledger().map(({ board, title }) => [board, title]),
      [['bugs', 'The very first wish']],
    );
    assertCalm();
  });
});
