import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CHECKOUT, spawnCli } from '../../support/cli.ts';
import { folderFor } from '../../support/folder.ts';
import { freePort } from '../../support/launch.ts';
import { until } from '../../support/until.ts';
import { clientOf, type OpenApi } from './openapi-client.ts';

const document = JSON.parse(readFileSync(join(CHECKOUT, 'schemas/openapi.json'), 'utf8')) as OpenApi;
const TOKEN = 'a-token-of-the-local-side';

interface Page {
  results: { id: number; title: string }[];
}

describe('a client that is generated from openapi.json', () => {
  it('lists, searches, creates, follows changes and meets errors, all as the document describes', async (t) => {
    const port = await freePort();
    const service = spawnCli(['start', '--http-port', String(port)], {
      cwd: folderFor(t, 'generated'),
      env: { HTTP_TOKEN: TOKEN },
    });
    t.after(() => service.kill('SIGKILL'));
    service.stderr.resume();
    const base = `http://127.0.0.1:${port}`;
    const { call } = clientOf(document, base);
    const ready = () => fetch(`${base}/readyz`, { headers: { authorization: `Bearer ${TOKEN}` } });
    await until('the service is ready', () =>
      ready().then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    const token = TOKEN;
    const posts = (await call('listPosts', { token })).body as Page;
    assert.ok(posts.results.length > 0);
    await call('listPosts', { token, isQueryToken: true, query: { search: 'export' } });
    await call('listComments', { token });
    assert.equal((await call('listPosts', {})).status, 401);
    assert.equal((await call('listPosts', { token, query: { cursor: 'wrong' } })).status, 400);

    const { body: before } = await call('listChanges', { token, query: { since: 'now' } });
    const post = { board: 'bugs', title: 'Made by a generated client', content: 'Please.' };
    assert.equal((await call('createPost', { token, body: post })).status, 201);
    const customer = { ...post, email: 'kim@example.com', full_name: 'Kim Example' };
    assert.equal((await call('createPostAsUser', { token, body: customer })).status, 201);
    assert.equal((await call('createPost', { token, body: {} })).status, 400);
    assert.equal((await call('showOutboxRow', { token, path: { id: 1 } })).status, 200);
    assert.equal((await call('showOutboxRow', { token, path: { id: 99 } })).status, 404);

    const since = (before as { next: string }).next;
    const types = ['outbox.*', 'post.*'];
    const { body: after } = await call('listChanges', { token, query: { since, type: types, limit: '5' } });
    assert.ok((after as { changes: object[] }).changes.length > 0);
    assert.equal((await call('listChanges', { token, query: { since: '1-zzzzzz' } })).status, 410);
    assert.equal((await call('listChanges', { token, query: { type: 'no.such' } })).status, 400);
  });
});
