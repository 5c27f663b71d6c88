import assert from 'node:assert/strict';
import type { Running, Site } from '../support/mirror-site.ts';
import { until } from '../support/until.ts';

export interface StartedService extends Running {
  /** Address of its HTTP side. */
  url: string;
  /** Asks it to stop, and checks that it does so in order and in time. */
  stop(): Promise<void>;
}

/** Nothing here waits for a pace or an interval that is made for real life. */
const QUICK = { HTTP_PORT: '0', PUSH_PER_MINUTE: '60000', PUSH_SETTLE: '1s' };

/** The service as a process of its own, up to the line that says where it listens. */
export async function startService(site: Site, env: Record<string, string> = {}): Promise<StartedService> {
  const running = site.start(['start', '--log-format', 'json'], { ...QUICK, ...env });
  const address = (): string | undefined => /Dashboard: (\S+?)\/?\n/.exec(running.said())?.[1];
  await until('the address of the service', () => address() !== undefined || hasEnded(running));
  const url = address();
  assert.ok(url, running.said());
  return { ...running, url, stop: () => stop(running) };
}

function hasEnded({ child }: Running): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function stop({ child, end }: Running): Promise<void> {
  child.kill('SIGTERM');
  const { code, stderr } = await end;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /the service has stopped/);
}

interface LogLine {
  msg: string;
  [fact: string]: unknown;
}

/** What a service has logged so far, without what it said to the person. */
export function logOf(running: Running): LogLine[] {
  const lines = running.said().split('\n').slice(0, -1);
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine);
}

export async function isReady({ url }: StartedService): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok;
  } catch {
    return false;
  }
}

/** What `/readyz` says that a person has to see to. */
export async function troublesOf({ url }: StartedService): Promise<string[]> {
  const { troubles } = (await (await fetch(`${url}/readyz`)).json()) as { troubles: { text: string }[] };
  return troubles.map(({ text }) => text);
}

/** Puts posts into the outbox by the command line, as a person beside the service would. */
export async function importTitles(site: Site, titles: string[]): Promise<void> {
  const csv = ['board,title', ...titles.map((title) => `bugs,${title}`)].join('\n');
  const { writeFile } = await import('node:fs/promises');
  await writeFile(`${site.folder}/posts.csv`, csv);
  const result = await site.run(['import', 'posts.csv', '--json']);
  assert.equal(result.code, 0, result.stderr);
}

export function titles(prefix: string, n: number): string[] {
  return Array.from({ length: n }, (_, i) => `${prefix} ${i + 1}`);
}

/** The posts that the upstream itself says were made, by title. */
export function posted(site: Site): string[] {
  return site.sandbox.world.ledger().map(({ title }) => title);
}

/** Each of these was made once, and nothing else was. */
export function assertPosted(site: Site, wanted: readonly string[]): void {
  const byText = (a: string, b: string): number => (a < b ? -1 : 1);
  assert.deepEqual(posted(site).sort(byText), [...wanted].sort(byText));
}
