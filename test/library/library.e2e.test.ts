import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { openChanges } from '../../src/library/changes.ts';
import { connect } from '../../src/library/client.ts';
import { openMirror } from '../../src/library/mirror.ts';
import { CHECKOUT } from '../support/cli.ts';
import { CANARY, openSite } from '../support/mirror-site.ts';
import { until } from '../support/until.ts';
import { exampleOf } from './examples.ts';

const execute = promisify(execFile);

describe('the parts that programs can import', () => {
  it('run as docs/library.md shows them', async (t) => {
    const site = await openSite(t, { posts: 20 });
    const env = { PATH: process.env.PATH, ...site.env };
    const run = async (path: string): Promise<string> =>
      (await execute(process.execPath, [path], { cwd: site.folder, env })).stdout;
    assert.match(await run(exampleOf('client', site.folder)), /^20 .*(\n.*)*\npost 21\n$/);
    assert.equal((await site.run(['sync'])).code, 0);
    assert.match(await run(exampleOf('mirror', site.folder)), /Bugs/);

    const follower = spawn(process.execPath, [exampleOf('changes', site.folder)], {
      cwd: site.folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => follower.kill('SIGKILL'));
    let said = '';
    follower.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    await until('the change was printed', async () => {
      // The example begins with what comes after its start, so changes are made until it has seen one.
      const create = [
        'create',
        '--board',
        'bugs',
        '--title',
        `Another wish ${Date.now()}`,
        '--content',
        'x',
        '--wait',
      ];
      await site.run(create);
      await site.run(['sync', 'posts']);
      return said.includes('post.created Another wish') && existsSync(join(site.folder, 'position.txt'));
    });
    const position = readFileSync(join(site.folder, 'position.txt'), 'utf8');
    assert.match(position, /^\d+-/);
  });

  it('read rows with their authors, find words, and refuse the mirror of another service', async (t) => {
    const site = await openSite(t, { posts: 20 });
    await site.run(['sync']);
    const file = { file: site.mirror, baseUrl: site.sandbox.url };
    const mirror = openMirror(file);
    const posts = await collected(mirror.posts());
    assert.equal(posts.length, 20);
    assert.ok(posts.every(({ creator, board }) => typeof creator.id === 'number' && board.name !== ''));
    assert.ok((await collected(mirror.comments())).length > 0);
    const [word = ''] = posts[0]?.title.split(' ').slice(-1) ?? [];
    assert.ok((await mirror.search(word)).length > 0);
    await mirror.close();
    assert.throws(() => openMirror({ file: site.mirror, baseUrl: 'https://other.example.com' }), {
      code: 'usage',
    });
  });

  it('page through the change feed, and say when it does not go on from a position', async (t) => {
    const site = await openSite(t, { posts: 5 });
    await site.run(['sync']);
    const feed = openChanges({ file: site.mirror, baseUrl: site.sandbox.url });
    t.after(() => feed.close());
    const start = feed.position();
    assert.deepEqual(feed.after(start, { limit: 10 }).changes, []);
    assert.throws(() => feed.after('1-zzzzzz', { limit: 10 }), { code: 'gone' });
    const ended = new AbortController();
    ended.abort();
    assert.deepEqual(await collected(feed.follow(start, { signal: ended.signal })), []);
  });

  it('send the token as the service wants it, and name a token that is refused', async (t) => {
    const site = await openSite(t, { posts: 5 });
    const client = connect({ baseUrl: site.sandbox.url, token: () => CANARY, tokenParameter: 'token' });
    assert.ok((await client.search('a')).length >= 0);
    await client.close();
    const stranger = connect({ baseUrl: site.sandbox.url, token: 'wrong-token' });
    await assert.rejects(() => collected(stranger.posts()), { code: 'unauthorised' });
    await stranger.close();
  });

  it('are all that the package exports, besides files for machines', () => {
    const { exports } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8')) as {
      exports: Record<string, unknown>;
    };
    assert.deepEqual(Object.keys(exports), [
      './client',
      './mirror',
      './changes',
      './openapi.json',
      './settings.schema.json',
      './sources.schema.json',
      './webhooks.schema.json',
      './rules.schema.json',
      './package.json',
    ]);
  });
});

async function collected<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const row of rows) all.push(row);
  return all;
}
