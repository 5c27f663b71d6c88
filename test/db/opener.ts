import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { messageOf } from '../../src/base/errors.ts';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import { openMirrorStore } from '../../src/mirror/store/store.ts';

export interface Opening {
  upstream: string;
  paths: string[];
}

/** What came of each path: `open`, or why not. */
export type Opened = string[];

/** Starts this file as one process for each opening; none opens anything before all of them are up. */
export async function openAtOnce(openings: Opening[]): Promise<Opened[]> {
  const children = openings.map((opening) =>
    spawn(process.execPath, [import.meta.filename, JSON.stringify(opening)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  for (const child of children) child.stdin.end('go');
  const outputs = await Promise.all(children.map((child) => text(child.stdout)));
  return outputs.map((output) => JSON.parse(output) as Opened);
}

async function openAll({ upstream, paths }: Opening): Promise<void> {
  process.stdout.write('ready\n');
  await text(process.stdin);
  const stores: MirrorStore[] = [];
  const opened = paths.map((path) => {
    try {
      stores.push(openMirrorStore({ path, upstream, holder: 'a test' }));
      return 'open';
    } catch (error) {
      return messageOf(error);
    }
  });
  for (const store of stores) await store.close();
  process.stdout.write(JSON.stringify(opened));
}

if (process.argv[1] === import.meta.filename) await openAll(JSON.parse(process.argv[2] ?? '') as Opening);
