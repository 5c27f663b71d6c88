import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { createLogger } from '../../src/base/log.ts';
import { addAssets, PAGES } from '../../src/http/dashboard/assets.ts';
import type { LiveStats } from '../../src/http/dashboard/events.ts';
import { addEvents } from '../../src/http/dashboard/events.ts';
import type { LiveStatsReader, MirrorStats } from '../../src/state/live-stats.ts';
import { ask } from '../http/client.ts';
import { open, type Running } from '../http/service.ts';
import { progressWith } from '../service/healthy.ts';
import { CHECKOUT } from '../support/cli.ts';
import { openOnSandbox } from './site.ts';

const serveFiles = (t: TestContext, hasLogin = false): Promise<Running> =>
  open(t, {
    parts: [
      (app: FastifyInstance, site) =>
        site.setNotFoundPage(addAssets(app, { hasLogin, source: 'feedback.test <b>' })),
    ],
  });

describe('the files of the dashboard', () => {
  it('are one document for every page, and everything it names is there', async (t) => {
    const http = await serveFiles(t);
    const { body, headers } = await ask(http, '/');
    assert.match(String(headers['content-type']), /text\/html/);
    assert.equal((await ask(http, '/posts/7')).body, body);
    const named = [...body.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    assert.ok(named.length >= 6);
    for (const path of named) assert.equal((await ask(http, path)).status, 200, path);
  });

  it('name no other host and hold nothing inline that a strict policy would stop', async (t) => {
    const http = await serveFiles(t);
    const { body } = await ask(http, '/');
    assert.doesNotMatch(body, /https?:\/\/|<script(?![^>]* src=)|<style| style=| on[a-z]+=/);
    const own = globSync('**/*.{ts,css,svg}', { cwd: join(CHECKOUT, 'src/web') });
    assert.ok(own.length > 15);
    for (const name of own) {
      const url = `/assets/${name}`;
      const { status, body: text } = await ask(http, url);
      assert.equal(status, 200, url);
      assert.doesNotMatch(
        text,
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|@import/,
        url,
      );
      assert.doesNotMatch(text.replaceAll('http://www.w3.org/2000/svg', ''), /https?:\/\/[a-z]/, url);
    }
  });

  it('are scripts without types, as Node itself strips them', async (t) => {
    const http = await serveFiles(t);
    const { body, headers } = await ask(http, '/assets/h.ts');
    assert.match(String(headers['content-type']), /text\/javascript/);
    assert.doesNotMatch(body, /: Child\b|interface /);
  });

  it('bring the editor as modules of its packages, each of which names only others that are served', async (t) => {
    const http = await serveFiles(t);
    const modules = new Set(['/assets/parts/editor.ts', '/assets/main.ts']);
    // The set grows while it is walked: what a module takes from is asked for next.
    for (const url of modules) {
      const { status, body } = await ask(http, url);
      assert.equal(status, 200, url);
      const named = [...body.matchAll(/^(?:import|export)\b[^;'"]*\bfrom ['"]([^'"]+)['"]/gm)];
      for (const [, path = ''] of named) {
        assert.match(path, /^(\.{1,2}\/|\/assets\/modules\/)/, `${url} takes from ${path}`);
        modules.add(new URL(path, `http://mirror.test${url}`).pathname);
      }
    }
    assert.ok([...modules].filter((url) => url.startsWith('/assets/modules/')).length >= 10);
  });

  it('are those of the program and no others', async (t) => {
    const http = await serveFiles(t);
    for (const name of ['nothing.ts', 'index.html', 'tsconfig.json', '..%2findex.html', '%2e%2e/main.ts', ''])
      assert.equal((await ask(http, `/assets/${name}`)).status, 404, name);
  });

  it('are small on the wire and not sent again while they are the same', async (t) => {
    const http = await serveFiles(t);
    const path = '/assets/uPlot.iife.min.js';
    const plain = await ask(http, path);
    const packed = await fetch(http.url + path, { headers: { 'accept-encoding': 'br' } });
    assert.equal(packed.headers.get('content-encoding'), 'br');
    assert.equal(await packed.text(), plain.body);
    assert.equal(plain.headers['cache-control'], 'no-cache');
    const again = await ask(http, path, { headers: { 'if-none-match': String(plain.headers.etag) } });
    assert.deepEqual([again.status, again.body, again.headers['cache-control']], [304, '', 'no-cache']);
  });

  it('are those in the folder and no others, whatever a path says', async (t) => {
    const http = await serveFiles(t);
    for (const path of [
      '/assets/../guard.ts',
      '/assets/%2e%2e/guard.ts',
      '/assets/tsconfig.json',
      '/assets/',
    ])
      assert.equal((await ask(http, path)).status, 404, path);
  });

  it('name the mirrored service, as the text it is', async (t) => {
    assert.match(
      (await ask(await serveFiles(t), '/')).body,
      /<p class="source"[^>]*>feedback\.test &#60;b&#62;<\/p>/,
    );
  });

  it('show a page to a person who opens an unknown address, and a sentence to a program', async (t) => {
    const http = await serveFiles(t);
    const { body } = await ask(http, '/');
    const person = await ask(http, '/nowhere', { headers: { accept: 'text/html,*/*' } });
    assert.deepEqual([person.status, person.body], [404, body]);
    assert.deepEqual(JSON.parse((await ask(http, '/nowhere')).body), {
      detail: 'There is nothing at /nowhere.',
    });
  });

  it('show a way to sign out only where people sign in', async (t) => {
    assert.doesNotMatch((await ask(await serveFiles(t), '/')).body, /data-login/);
    assert.match((await ask(await serveFiles(t, true), '/')).body, /<html data-login/);
  });
});

/** Numbers that move when the test says so. */
function movingStats(): LiveStatsReader & { move(posts: number): void; asked: number } {
  let [version, posts] = [1, 10];
  const outbox = {
    proposed: 0,
    ready: 0,
    sending: 0,
    confirmed: 0,
    ambiguous: 0,
    uncertain: 2,
    rejected: 0,
    cancelled: 0,
  };
  const reader = {
    asked: 0,
    version() {
      reader.asked += 1;
      return version;
    },
    read: (): MirrorStats => ({
      updatedAt: null,
      live: { posts, comments: 0 },
      outbox,
      held: 0,
      running: [],
    }),
    close: () => undefined,
    move(to: number) {
      posts = to;
      version += 1;
    },
  };
  return reader;
}

async function* statsOf(http: Running, signal: AbortSignal): AsyncGenerator<LiveStats> {
  const response = await fetch(`${http.url}/data/events`, { signal });
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield JSON.parse(text.slice('data: '.length, end)) as LiveStats;
      text = text.slice(end + 2);
    }
  }
}

describe('the live numbers', () => {
  const serve = (t: TestContext, stats: LiveStatsReader, progress = progressWith()): Promise<Running> => {
    const log = createLogger({ level: 'silent', format: 'json', secrets: () => [] });
    const events = { stats, progress: async () => progress, log, everyMs: 5 };
    return open(t, { parts: [(app) => addEvents(app, events)] });
  };

  it('come at once, and again when they have moved', async (t) => {
    const stats = movingStats();
    const http = await serve(t, stats);
    const leave = new AbortController();
    const stream = statsOf(http, leave.signal);
    const first = await stream.next();
    assert.deepEqual([first.value?.live.posts, first.value?.toDecide, first.value?.isReady], [10, 2, true]);
    stats.move(11);
    for await (const { live } of stream) if (live.posts === 11) break;
    leave.abort();
  });

  it('name the row of the runbook while the service is not ready', async (t) => {
    const http = await serve(t, movingStats(), progressWith({ queue: { reachable: false } }));
    const leave = new AbortController();
    const { value } = await statsOf(http, leave.signal).next();
    assert.match(
      (value as LiveStats).failing ?? '',
      /queue does not answer \(docs\/operations\.md#queue-away\)$/,
    );
    leave.abort();
  });

  it('carry the headers of every other answer', async (t) => {
    const http = await serve(t, movingStats());
    const leave = new AbortController();
    const { headers } = await fetch(`${http.url}/data/events`, { signal: leave.signal });
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('content-type'), 'text/event-stream');
    assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
    leave.abort();
  });

  it('reach everybody who listens, and end when the service does', async (t) => {
    const stats = movingStats();
    const http = await serve(t, stats);
    const signal = new AbortController().signal;
    const [one, two] = [statsOf(http, signal), statsOf(http, signal)];
    await Promise.all([one.next(), two.next()]);
    stats.move(12);
    for (const stream of [one, two]) {
      let seen = (await stream.next()).value;
      while (seen && seen.live.posts !== 12) seen = (await stream.next()).value;
    }
    await http.close();
    for (const stream of [one, two]) for await (const _ of stream);
  });

  it('cost nothing while nobody listens', async (t) => {
    const stats = movingStats();
    const http = await serve(t, stats);
    await ask(http, '/healthz');
    assert.equal(stats.asked, 0);
  });
});

describe('the table of HTTP in the documents', () => {
  it('has every address that the service answers, and no other', async (t) => {
    const operations = readFileSync(join(CHECKOUT, 'docs/operations.md'), 'utf8');
    const section = operations.split('### HTTP\n')[1]?.split('\n## ')[0] ?? '';
    const cells = [...section.matchAll(/^\| (`\/[^|]*) \|/gm)].map(([, cell = '']) => cell);
    const told = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path));
    const { http } = await openOnSandbox(t);
    // These are there with HTTP_TOKEN and MCP_TOKEN alone; tests of their own have them.
    const served = [...http.routes.map(({ url }) => url), '/login', '/logout', '/mcp'];
    const isTold = (url: string): boolean =>
      PAGES.some((page) => page === url) ||
      told.some((path) => url === path || (path !== '/' && url.startsWith(path)));
    assert.deepEqual(
      served.filter((url) => !isTold(url)),
      [],
    );
    assert.deepEqual(
      told.filter((path) => !served.some((url) => url.startsWith(path))),
      [],
    );
  });
});
