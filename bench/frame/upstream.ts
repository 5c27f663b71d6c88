import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { feedbackMirror, type Measured, measured } from './child.ts';
import type { Bench } from './set.ts';

/** A list of posts to sweep, served by another process. */
export interface Upstream {
  readonly posts: number;
  readonly url: string;
  /** For the measured program: where the list is, and its token. */
  readonly env: { FEEDBACK_BASE_URL: string; FEEDBACK_API_TOKEN: string };
  /** How many requests it has had, and for how long it held back their answers. */
  seen(): Promise<{ requests: number; heldMs: number }>;
}

type Servers = Map<string, Promise<{ upstream: Upstream; child: ChildProcess }>>;

const running = new WeakMap<Bench, Servers>();

/**
 * The upstream of so many posts, started once a run: a mirror belongs to one address, so sets that share a mirror must
 * share the server too.
 */
export async function upstreamOf(bench: Bench, posts: number, latencyMs = 0): Promise<Upstream> {
  const servers = running.get(bench) ?? new Map();
  running.set(bench, servers);
  const key = `${posts} ${latencyMs}`;
  if (!servers.has(key)) servers.set(key, start(bench, posts, latencyMs));
  return (await servers.get(key)).upstream;
}

/** At the end of a run, before its folder goes. */
export async function closeUpstreams(bench: Bench): Promise<void> {
  const started = await Promise.allSettled(running.get(bench)?.values() ?? []);
  running.delete(bench);
  for (const one of started) {
    if (one.status === 'rejected') continue;
    const exit = once(one.value.child, 'exit');
    one.value.child.stdin?.end();
    await exit;
  }
}

async function start(
  bench: Bench,
  posts: number,
  latencyMs: number,
): Promise<{ upstream: Upstream; child: ChildProcess }> {
  const script = join(import.meta.dirname, 'pages-server.ts');
  const file = join(bench.folder, `pages-${posts}`);
  bench.say(`an upstream of ${posts.toLocaleString('en')} posts${latencyMs ? `, ${latencyMs} ms away` : ''}`);
  const child = spawn(process.execPath, [script, String(posts), String(latencyMs), file], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [first] = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error('the server of pages ended before it began'))),
  ]);
  const url = String(first);
  const seen = async () =>
    (await (await fetch(`${url}/seen`)).json()) as { requests: number; heldMs: number };
  const env = { FEEDBACK_BASE_URL: url, FEEDBACK_API_TOKEN: 'sandbox' };
  return { upstream: { posts, url, env, seen }, child };
}

/** One `sync posts` of it into this data folder. */
export function syncPosts(upstream: Upstream, folder: string, flags: string[] = []): Promise<Measured> {
  return measured(feedbackMirror(['sync', 'posts', ...flags], { ...upstream.env, DATA_DIR: folder }));
}

/** The data folder of a mirror that has swept the whole of it, made once a run. */
export async function sweptMirror(bench: Bench, upstream: Upstream): Promise<string> {
  const folder = join(bench.folder, `mirror-${upstream.posts}`);
  if (existsSync(folder)) return folder;
  bench.say(`a mirror of ${upstream.posts.toLocaleString('en')} posts`);
  // Under another name until it is whole: a sweep that failed must not pass for one.
  await syncPosts(upstream, `${folder}.sweeping`);
  renameSync(`${folder}.sweeping`, folder);
  return folder;
}
