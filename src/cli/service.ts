import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { COMMAND_NAME } from '../base/program.ts';
import type { Secret } from '../base/secret.ts';
import type { Trouble } from '../mirror/decide/troubles.ts';
import { grouped } from '../text/text.ts';

export type Closer = () => Promise<void> | void;

/** The last first. On a full disk not everything closes well; the rest does all the same, and the next start gets over it. */
export async function closeAll(opened: Closer[], log: Logger): Promise<void> {
  for (let close = opened.pop(); close; close = opened.pop())
    try {
      await close();
    } catch (error) {
      log.warn({ event: 'service.close.failed' }, `something did not close: ${messageOf(error)}`);
    }
  log.info({ event: 'service.stopped' }, 'the service has stopped');
}

/** What a person who has started the service can do next. */
export function welcome(url: string, command: string): string {
  return `Dashboard: ${url}/\nStop with Ctrl-C, or from elsewhere with: kill ${process.pid}\nIn another terminal: ${COMMAND_NAME} ${command}`;
}

interface Announcement {
  url: string;
  pid: number;
}

/** Tells commands that run beside the service where it listens, also when it was given any port; returns how to end that. */
export function announce(dataDir: string, url: string): () => void {
  const own: Announcement = { url, pid: process.pid };
  writeFileSync(placeOf(dataDir), `${JSON.stringify(own)}\n`, { mode: 0o600 });
  return () => {
    // Another service of the same mirror may have come later.
    if (read(dataDir)?.pid === process.pid) rmSync(placeOf(dataDir), { force: true });
  };
}

/** The address that a service of this folder noted. That service may have been killed since. */
export function announced(dataDir: string): string | null {
  return read(dataDir)?.url ?? null;
}

function placeOf(dataDir: string): string {
  return join(dataDir, 'service.json');
}

function read(dataDir: string): Announcement | null {
  try {
    return JSON.parse(readFileSync(placeOf(dataDir), 'utf8')) as Announcement;
  } catch {
    return null;
  }
}

export interface ServiceReport {
  url: string;
  ready: boolean;
  /** What a person has to see to; left out where the service could not be asked. */
  troubles?: Trouble[];
  checks: { name: string; ok: boolean; detail: string; warning?: true; runbook?: string }[];
  queue: { kind: string | null; depth: { queue: string; state: string; jobs: number }[] } | null;
}

const ANSWER_MS = 3000;

/** Null when nothing of ours answers there. */
export async function askService(
  url: string,
  token: Secret | null,
  answerMs = ANSWER_MS,
): Promise<ServiceReport | null> {
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token.reveal()}` } : {};
  try {
    const response = await fetch(`${url}/readyz`, { headers, signal: AbortSignal.timeout(answerMs) });
    const { ready, troubles, checks, queue } = (await response.json()) as Partial<ServiceReport>;
    if (response.status === 401) return locked(url);
    return ready === undefined
      ? null
      : { url, ready, ...(troubles && { troubles }), checks: checks ?? [], queue: queue ?? null };
  } catch (error) {
    if (!(error instanceof Error && error.name === 'TimeoutError')) return null;
    const detail = `whatever listens there does not answer within ${answerMs / 1000} s`;
    return { url, ready: false, checks: [{ name: 'service', ok: false, detail }], queue: null };
  }
}

function locked(url: string): ServiceReport {
  const detail = 'it asks for another HTTP_TOKEN than this command has';
  return { url, ready: false, checks: [{ name: 'token', ok: false, detail }], queue: null };
}

export function serviceText(service: ServiceReport | null): string[] {
  if (!service)
    return ['service: not running; "feedback-mirror start" keeps the mirror fresh and sends the outbox'];
  const { url, ready, checks, queue, troubles = [] } = service;
  const isSaid = ({ runbook }: ServiceReport['checks'][number]): boolean =>
    troubles.some((trouble) => trouble.runbook === runbook);
  // The check of the copy is shown also while all is well.
  const told = checks.filter((check) => (!check.ok || check.name === 'copy') && !isSaid(check));
  const why = told.some(({ ok, warning }) => !ok && !warning) ? 'not ready:' : 'not ready, as said above';
  return [
    `service: ${ready ? `ready at ${url}/` : `at ${url}/, ${why}`}`,
    ...told.map(({ name, detail, warning, ok }) => (ok || warning ? `  ${name}: ${detail}` : `  ${detail}`)),
    ...(queue?.kind ? [queueText(queue.kind, queue.depth)] : []),
  ];
}

function queueText(kind: string, depth: { queue: string; state: string; jobs: number }[]): string {
  const filled = depth
    .filter(({ jobs }) => jobs > 0)
    .map(({ queue, state, jobs }) => `${queue} ${grouped(jobs)} ${state}`);
  return `queue: ${kind}${filled.length > 0 ? `; ${filled.join(', ')}` : ', empty'}`;
}
