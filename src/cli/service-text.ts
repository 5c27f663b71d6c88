import type { Secret } from '../base/secret.ts';

/** What a running service says of itself. */
export interface ServiceWord {
  url: string;
  ready: boolean;
  checks: { name: string; ok: boolean; detail: string }[];
  queue: { kind: string | null; depth: { queue: string; state: string; jobs: number }[] } | null;
}

const ANSWER_MS = 3000;

/** Null when nothing of ours answers there. */
export async function askService(url: string, token: Secret | null): Promise<ServiceWord | null> {
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token.reveal()}` } : {};
  try {
    const response = await fetch(`${url}/readyz`, { headers, signal: AbortSignal.timeout(ANSWER_MS) });
    const { ready, checks, queue } = (await response.json()) as Partial<ServiceWord>;
    if (response.status === 401) return locked(url);
    return ready === undefined ? null : { url, ready, checks: checks ?? [], queue: queue ?? null };
  } catch {
    return null;
  }
}

function locked(url: string): ServiceWord {
  const detail = 'it asks for another HTTP_TOKEN than this command has';
  return { url, ready: false, checks: [{ name: 'token', ok: false, detail }], queue: null };
}

export function serviceText(service: ServiceWord | null): string[] {
  if (!service)
    return ['service: not running; "feedback-mirror start" keeps the mirror fresh and sends the outbox'];
  const { url, ready, checks, queue } = service;
  const troubles = checks.filter(({ ok }) => !ok).map(({ detail }) => `  ${detail}`);
  const state = ready ? `ready at ${url}/` : `at ${url}/, not ready:`;
  return [`service: ${state}`, ...troubles, ...(queue?.kind ? [queueText(queue.kind, queue.depth)] : [])];
}

function queueText(kind: string, depth: { queue: string; state: string; jobs: number }[]): string {
  const filled = depth
    .filter(({ jobs }) => jobs > 0)
    .map(({ queue, state, jobs }) => `${queue} ${jobs} ${state}`);
  return `queue: ${kind}${filled.length > 0 ? `; ${filled.join(', ')}` : ', empty'}`;
}
