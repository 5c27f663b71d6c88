import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { measured } from '../../bench/frame/child.ts';
import type { Bench } from '../../bench/frame/set.ts';
import { closeUpstreams, sweptMirror, syncPosts, upstreamOf } from '../../bench/frame/upstream.ts';
import { startSandbox } from '../laboratory/server.ts';
import { CHECKOUT } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';

const RESULTS = join(CHECKOUT, 'bench/RESULTS.md');
const ON_LINUX = { skip: existsSync('/proc/self/stat') ? false : 'there is no /proc' };

function node(script: string): { command: string; args: string[] } {
  return { command: process.execPath, args: ['-e', script] };
}

function benchIn(t: TestContext): Bench {
  const folder = folderFor(t, 'bench-test');
  const bench = { repeat: 1, scale: (size: number) => size, folder, say: () => undefined };
  t.after(async () => {
    await closeUpstreams(bench);
  });
  return bench;
}

test('a set is run from the command line, prints its table, and a scaled run keeps no results', async () => {
  const before = existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8') : null;
  const args = ['bench/bench.ts', '--scale', '0.005', '--repeat', '1', 'latency'];
  const child = spawn(process.execPath, args, { cwd: CHECKOUT, stdio: ['ignore', 'pipe', 'ignore'] });
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  // Start-up alone is longer than one page takes, so the figures are short of their bounds.
  assert.equal(code, 1);
  assert.match(stdout, /SET +ROW +OURS +SPREAD +BESIDE IT/);
  const row = /latency +far away, one page ahead +[\d.]+ s +latency × pages +([\d.]+) s .*at most 1\.05 x/;
  // One page: what a timer of 100 ms took on this machine just now.
  const held = /far away, one page ahead: .* held answers back for ([\d.]+) ms each/;
  const [figure = 0, latency = 0] = [row, held].map((pattern) => Number(pattern.exec(stdout)?.[1]));
  assert.ok(Math.abs(figure * 1000 - latency) < latency / 100, stdout);
  assert.match(stdout, /1 repetition, sizes times 0\.005\n.*cores?, .* GiB/);
  assert.match(stdout, /node \d+\.\d+\.\d+, sqlite \d/);
  assert.equal(existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8') : null, before);
});

test('the ready pages are the ones the sandbox would serve', async (t) => {
  const posts = 250;
  const sandbox = await startSandbox({ posts });
  t.after(() => sandbox.close());
  const upstream = await upstreamOf(benchIn(t), posts);
  for (const query of ['', '?page=2', '?page=3']) {
    const [theirs = '', ours = ''] = await Promise.all(
      [sandbox.url, upstream.url].map((url) => page(url, query)),
    );
    assert.equal(ours.replaceAll(upstream.url, sandbox.url), theirs);
  }
  assert.equal((await upstream.seen()).requests, 3);
});

async function page(url: string, query: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/posts/${query}`, {
    headers: { authorization: 'Bearer sandbox' },
  });
  return response.text();
}

test('a mirror of the ready pages is whole, made once, and found unchanged by the next sweep', async (t) => {
  const bench = benchIn(t);
  const upstream = await upstreamOf(bench, 250);
  const folder = await sweptMirror(bench, upstream);
  assert.equal(await sweptMirror(bench, upstream), folder);
  const { stdout } = await syncPosts(upstream, folder, ['--json']);
  const { passes } = JSON.parse(stdout) as { passes: { rows: number; unchanged: number }[] };
  assert.deepEqual(
    passes.map(({ rows, unchanged }) => [rows, unchanged]),
    [[250, 250]],
  );
});

test('a child is measured by its time and its memory', ON_LINUX, async () => {
  const idle = await measured(node('setTimeout(() => {}, 310)'));
  const busy = await measured(
    node('globalThis.kept = Buffer.alloc(200e6, 1); while (process.cpuUsage().user < 1.1e6);'),
  );
  assert.ok(idle.seconds >= 0.3 && busy.seconds > 0, JSON.stringify({ idle, busy }));
  assert.ok(busy.cpuSeconds >= 1, `${busy.cpuSeconds}`);
  assert.ok(busy.peakMb - idle.peakMb > 150, `${busy.peakMb} and ${idle.peakMb}`);
});

test('a child that fails is an error that says what it said, not a measurement', async () => {
  await assert.rejects(
    measured(node('console.error("no such page"); process.exit(3)')),
    /ended with 3: no such page/,
  );
  await assert.rejects(measured({ command: 'no-such-program-at-all', args: [] }), /no-such-program-at-all/);
});
