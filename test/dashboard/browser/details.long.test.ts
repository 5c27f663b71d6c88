import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { SyncState } from '../../../src/http/dashboard/sync.ts';
import { until } from '../../support/until.ts';
import { HOSTILE, onStage, openStage, type Stage } from './stage.ts';
import { DESKTOP, type Look, settled, type Visit, visit } from './visit.ts';

/** For a test that waits for requests of the page: a wait in vain ends. */
const LIMIT = { timeout: 30_000 };

describe('details of the dashboard', onStage, () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage({ env: { SYNC_HEAD_EVERY: '2s' } });
  });
  after(() => stage?.close());
  const enter = async (t: TestContext, look: Look = DESKTOP): Promise<Visit> => {
    const visitor = await visit(stage, look);
    t.after(() => visitor.close());
    return visitor;
  };

  it('is told in place what is wrong with a statement', async (t) => {
    const { page, open } = await enter(t);
    await open('/sql');
    await page.getByRole('textbox', { name: 'Statement' }).fill('DROP TABLE posts');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('alert').getByText('only reading is allowed here').waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Statement' }).textContent(), 'DROP TABLE posts');
  });

  it('sees a text from upstream in an answer as the text it is', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open(`/sql?q=${encodeURIComponent('SELECT title, votes_count FROM posts WHERE id IN (4, 5)')}`);
    await page.getByText(HOSTILE, { exact: true }).nth(1).waitFor();
    assertCalm();
  });

  it('accepts deletions that are held', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/sync');
    for (let id = 60; id < 90; id++) stage.sandbox.world.deletePost(id);
    const lastSweep = async (): Promise<string | null | undefined> => {
      const { lists } = (await (await fetch(`${stage.url}/data/sync`)).json()) as SyncState;
      return lists.find(({ resource }) => resource === 'posts')?.lastSweepAt;
    };
    // Thirty rows in a row look like a lost piece of the list: they are held after three sweeps.
    for (const _ of [1, 2, 3]) {
      const before = await lastSweep();
      await page.getByRole('button', { name: 'Read the whole list: posts' }).click();
      await until('the sweep has ended', async () => (await lastSweep()) !== before);
    }
    const accept = page.getByRole('button', { name: 'Accept 30 deletions' });
    await accept.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Accept 30 deletions' }).click();
    await accept.waitFor({ state: 'detached' });
    await page.getByText('30', { exact: true }).first().waitFor();
    assertCalm();
  });

  it('is told news only while the window is looked at', async (t) => {
    const { page, open } = await enter(t);
    await open('/sql');
    const show = (isHidden: boolean): Promise<unknown> =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
                     document.dispatchEvent(new Event('visibilitychange'))`);
    const isEvents = (request: { url(): string }): boolean => request.url().endsWith('/data/events');
    await Promise.all([page.waitForEvent('requestfailed', isEvents), show(true)]);
    await Promise.all([page.waitForRequest(isEvents), show(false)]);
  });

  it('can cancel a statement that runs, and never sees the answer of another one meanwhile', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open(`/sql?q=${encodeURIComponent("SELECT 'the first' AS answer")}`);
    await page.getByRole('cell', { name: 'the first' }).waitFor();
    const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n';
    await page.getByRole('textbox', { name: 'Statement' }).fill(endless);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('.running').waitFor();
    assert.equal(await page.getByRole('cell', { name: 'the first' }).count(), 0);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Cancelled.').waitFor();
    assertCalm();
  });

  it('sees the page again by itself once the service is back', async (t) => {
    const { page, open } = await enter(t);
    await open('/outbox');
    await page.route('**/data/posts*', (route) => route.abort());
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Posts' }).click();
    const problem = page.getByRole('heading', { name: 'This page could not be loaded' });
    await problem.waitFor();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await page.unrouteAll();
    await page.getByRole('list', { name: 'Posts' }).waitFor();
    assert.equal(await problem.count(), 0);
  });

  it(
    'stays on the page it went to, though news had the last one ask for its data meanwhile',
    LIMIT,
    async (t) => {
      const { page, open, assertCalm } = await enter(t);
      await open('/posts/7');
      const [list, post] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const [left, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let hasLeft = false;
      await page.route('**/data/posts', (route) => {
        left.resolve();
        return list.promise.then(() => route.continue());
      });
      await page.route('**/data/posts/7', async (route) => {
        if (hasLeft) asked.resolve();
        await post.promise;
        // What was asked before the person left is given up.
        await route.continue().catch(() => undefined);
      });
      // News that come by themselves may have the page asked for right after the click, and then it is not asked for a second time.
      hasLeft = true;
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Posts' }).click();
      await left.promise;
      // A window that is looked at again hears the news at once.
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      await asked.promise;
      list.resolve();
      await page.getByRole('list', { name: 'Posts' }).waitFor();
      await page.evaluate(`
      window.headings = [];
      new MutationObserver(() => headings.push(document.querySelector('main h1')?.textContent))
        .observe(document.querySelector('main'), { childList: true, subtree: true, characterData: true });`);
      post.resolve();
      // One page is asked for at a time: when the list is asked for again, what came late has been dealt with.
      await Promise.all([
        page.waitForRequest((request) => request.url().endsWith('/data/posts')),
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))"),
      ]);
      const others = (await page.evaluate("headings.filter((text) => text !== 'Posts')")) as string[];
      assert.deepEqual(others, []);
      assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Posts');
      assertCalm();
    },
  );

  it('is told in a page that an address or a post is unknown, and sees the post once the mirror has it', async (t) => {
    const { page, open } = await enter(t);
    await open('/no/such/page');
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    const { id } = stage.sandbox.world.posts().at(-1) ?? assert.fail();
    await open(`/posts/${id + 1}`);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    stage.sandbox.world.addPost({ board: 'bugs', title: 'Here I am' });
    await page.getByRole('heading', { name: 'Here I am' }).waitFor();
  });

  it('reads texts in their own direction, and follows the links in them without telling where from', async (t) => {
    const content = 'راجع https://example.com/a?b=1. وشكرا javascript:alert(1)';
    stage.sandbox.world.editPost(6, { title: 'مرحبا', content });
    await until('the edit is mirrored', async () => {
      const answer = await fetch(`${stage.url}/data/sync/posts/run`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"mode":"sweep"}',
      });
      assert.equal(answer.status, 202);
      return (await (await fetch(`${stage.url}/data/posts/6`)).text()).includes('example.com');
    });
    const { page, open, assertCalm } = await enter(t);
    await open('/posts/6');
    await page.getByRole('region', { name: 'Description' }).locator('p.text').waitFor();
    assert.equal(await page.evaluate("getComputedStyle(document.querySelector('p.text')).direction"), 'rtl');
    const links = await page.evaluate(
      "[...document.querySelectorAll('p.text a')].map((a) => [a.href, a.rel, a.target])",
    );
    assert.deepEqual(links, [['https://example.com/a?b=1', 'noopener noreferrer nofollow', '_blank']]);
    assertCalm();
  });

  it('finds a post by its number, and every key in a list of them', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/sync');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Search posts').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.getByRole('searchbox').waitFor();
    await until('the search has the focus', () =>
      page.evaluate("document.activeElement?.id === 'field-search'"),
    );
    await page.keyboard.type('#7');
    await page.getByText('1 post found.').waitFor();
    await page.locator('#post-7').waitFor();
    assertCalm();
  });

  it('walks through a long list and back, and knows where it is', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/posts');
    const first = await page.locator('.post-title').first().getAttribute('id');
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByText(/^51–\d+ of \d+$/).waitFor();
    await page.getByRole('link', { name: 'Previous page' }).click();
    await page.getByText(/^1–50 of \d+$/).waitFor();
    assert.equal(await page.locator('.post-title').first().getAttribute('id'), first);
    assertCalm();
  });

  it('chooses a theme, which stays', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/');
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await ground();
    await page.getByLabel('Theme').selectOption('dark');
    assert.notEqual(await ground(), light);
    await page.reload();
    await settled(page);
    assert.notEqual(await ground(), light);
    await page.getByLabel('Theme').selectOption('auto');
    assert.equal(await ground(), light);
    assertCalm();
  });

  it('parts a post from a group that another joined it to, is told of the mark, and undoes it', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/posts/11');
    for (const [id, other] of [
      [11, 12],
      [12, 13],
    ])
      await page.evaluate(`fetch('/data/posts/${id}/same', { method: 'POST',
        headers: { 'content-type': 'application/json' }, body: '{"other":${other}}' })`);
    await page.reload();
    await page.locator('#same-13').click();
    await page.getByText('Its marks with post 12 are taken back.').waitFor();
    await page.locator('#same-12', { hasText: 'Not the same' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('#same-13', { hasText: 'Not the same' }).waitFor();
    assertCalm();
  });

  it('types a search from any page, and loses no key while the list is loaded', async (t) => {
    const { page, open, assertCalm } = await enter(t);
    await open('/');
    const gate = Promise.withResolvers<void>();
    await page.route('**/data/posts?*', async (route) => {
      await gate.promise;
      await route.continue().catch(() => undefined);
    });
    await page.route('**/data/posts', async (route) => {
      await gate.promise;
      await route.continue();
    });
    await page.keyboard.type('/exp');
    gate.resolve();
    await page.getByRole('heading', { name: 'Posts', level: 1 }).waitFor();
    await page.keyboard.type('ort');
    await page.waitForURL(/\/posts\?search=export$/);
    assert.equal(await page.getByRole('searchbox').inputValue(), 'export');
    assertCalm();
  });
});
