import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';
import { onStage, openStage, type Stage, UNCERTAIN } from './stage.ts';
import { barriers, DESKTOP, PHONE, visit } from './visit.ts';

const TOKEN = 'the-token-of-the-dashboard';

describe('the dashboard against strangers', onStage, () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage({ env: { HTTP_TOKEN: TOKEN }, strangers: ['rebound.test', 'evil.test'] });
  });
  after(() => stage?.close());

  const enter = async (t: TestContext, look = DESKTOP) => {
    const visitor = await visit(stage, look);
    t.after(() => visitor.close());
    return visitor;
  };
  const signIn = async ({ page }: Awaited<ReturnType<typeof enter>>, token: string): Promise<void> => {
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  /** A page of somebody else, under a name of its own. */
  const elsewhere = async (t: TestContext, html: string): Promise<string> => {
    const server = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end(html),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://evil.test:${(server.address() as AddressInfo).port}/`;
  };

  it('lets in whoever knows the token, back to the page they wanted, until they sign out', async (t) => {
    const visitor = await enter(t);
    const { page, assertCalm } = visitor;
    await page.goto('/outbox?state=uncertain');
    assert.match(page.url(), /\/login\?to=/);
    assert.deepEqual(await barriers(page), []);
    // Two seconds after a page it is asked for, which somebody who has signed out meanwhile may not do.
    const palette = page.waitForResponse(/palette/);
    await signIn(visitor, TOKEN);
    await page.getByRole('link', { name: UNCERTAIN }).waitFor();
    assert.match(page.url(), /\/outbox\?state=uncertain$/);
    await palette;
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await page.goto('/outbox');
    await page.getByLabel('Token').waitFor();
    assertCalm();
  });

  it('keeps out whoever does not, and says so', async (t) => {
    const visitor = await enter(t, PHONE);
    await visitor.page.goto('/');
    await signIn(visitor, 'a guess');
    await visitor.page.getByRole('alert').getByText('This is not the token').waitFor();
    assert.deepEqual(await barriers(visitor.page), []);
    assert.deepEqual(await visitor.page.context().cookies(), []);
  });

  it('answers under no name that a stranger has pointed at it', async (t) => {
    const { page } = await enter(t);
    const { port } = new URL(stage.url);
    const response = await page.goto(`http://rebound.test:${port}/healthz`);
    assert.equal(response?.status(), 421);
  });

  it('takes no form of another page, though its visitor is signed in', async (t) => {
    const visitor = await enter(t);
    const { page } = visitor;
    await page.goto('/outbox');
    await signIn(visitor, TOKEN);
    await page.getByRole('link', { name: UNCERTAIN }).waitFor();
    const action = `${stage.url}/data/outbox/${stage.uncertain}/cancel`;
    const html = `<form method="post" enctype="text/plain" action="${action}"><button>Win</button></form>`;
    await page.goto(await elsewhere(t, html));
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'POST'),
      page.getByRole('button', { name: 'Win' }).click(),
    ]);
    assert.equal(answer.status(), 403);
    await page.goto('/outbox?state=uncertain');
    await page.getByRole('link', { name: UNCERTAIN }).waitFor();
  });

  it('is not shown in a frame of another page', async (t) => {
    const { page } = await enter(t);
    const address = await elsewhere(t, `<iframe src="${stage.url}/login"></iframe>`);
    const refused = page.waitForEvent('console', (message) => /frame/i.test(message.text()));
    await page.goto(address);
    await refused;
    const [, frame] = page.frames();
    assert.ok(frame);
    assert.equal(await frame.getByLabel('Token').count(), 0);
  });
});
