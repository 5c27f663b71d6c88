import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { measured } from './frame/child.ts';
import type { Bench } from './frame/set.ts';

/** A mirror that several sets ask, and the settings with which the program finds it. */
export interface LargeMirror {
  posts: number;
  path: string;
  upstream: string;
  env: Record<string, string>;
}

/** Nobody listens there: whoever only asks the mirror needs no upstream. */
const UPSTREAM = 'http://127.0.0.1:9';

/** A mirror of so many posts, made once by a process of its own and used by every set that wants that size. BENCH_MIRRORS keeps it for later runs. */
export async function largeMirror(bench: Bench, posts: number): Promise<LargeMirror> {
  const folder = join(process.env.BENCH_MIRRORS ?? bench.folder, `mirror-of-${posts}`);
  const path = join(folder, 'mirror.db');
  if (!existsSync(path)) {
    bench.say(`making a mirror of ${posts.toLocaleString('en')} posts`);
    await make(path, posts);
  }
  const env = {
    FEEDBACK_BASE_URL: UPSTREAM,
    FEEDBACK_API_TOKEN: 'nobody-asks',
    DATA_DIR: folder,
    MIRROR_PATH: path,
  };
  return { posts, path, upstream: UPSTREAM, env };
}

/** As of now: a service then finds nothing overdue, and reports find their last thirty days. */
async function make(path: string, posts: number): Promise<void> {
  const script = join(import.meta.dirname, 'mirror-data.ts');
  const choice = ['--posts', String(posts), '--upstream', UPSTREAM, '--now', new Date().toISOString()];
  await measured({ command: process.execPath, args: [script, '--out', path, ...choice] });
}
