import assert from 'node:assert/strict';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { queryFile } from '../support/mirror.ts';
import { openSite, type Site } from '../support/mirror-site.ts';

export const FAST = { PUSH_PER_MINUTE: '100000', PUSH_SETTLE: '10ms' };

export const FILE = `title,content,board,email
First,one,bugs,
Second,two,bugs,ada@example.com
Third,three,mobile,
`;

export interface OlderCopy {
  since: string;
  noticedAt: string | null;
  checking: number;
  erasures: number;
  isCovered: boolean;
}

/** A mirror with an empty outbox beside a file of three rows. */
export async function siteWithFile(t: TestContext): Promise<Site> {
  const site = await openSite(t);
  Object.assign(site.env, FAST);
  writeFileSync(join(site.folder, 'ideas.csv'), FILE);
  await done(site, 'sync');
  return site;
}

export async function done(site: Site, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await site.run(args);
  assert.equal(code, 0, `${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** The copy in the place of the mirror, as the help of `backup` says. */
export function putBack(site: Site, copy = 'copy.db'): void {
  for (const rest of ['-wal', '-shm']) rmSync(site.mirror + rest, { force: true });
  renameSync(join(site.folder, copy), site.mirror);
}

export async function olderCopy(site: Site, ...args: string[]): Promise<OlderCopy | null> {
  return (JSON.parse(await done(site, 'status', '--json', ...args)) as { olderCopy: OlderCopy | null })
    .olderCopy;
}

export function sent(site: Site): string[] {
  return site.sandbox.world.ledger().map(({ title }) => title);
}

export function states(site: Site, path = site.mirror): string[] {
  return queryFile<{ state: string }>(path, 'SELECT state FROM outbox ORDER BY id').map(({ state }) => state);
}

export const ALL = ['First', 'Second', 'Third'];
export const CONFIRMED = ['confirmed', 'confirmed', 'confirmed'];
