import type { SyncState } from '../../http/dashboard/sync.ts';
import { titleOf } from '../format.ts';
import type { Tone } from '../parts/layout.ts';

/** Names of checks and queues for people who do not know the service. */

const CHECKS: Readonly<Record<string, string>> = {
  mirror: 'The mirror’s file',
  queue: 'The queue of jobs',
  loop: 'Jobs are run',
  posts: 'Posts are read',
  comments: 'Comments are read',
  outbox: 'Posts are sent',
  upstream: 'The service',
  copy: 'The copy in PostgreSQL',
};

const QUEUES: Readonly<Record<string, string>> = {
  ticks: 'Look for work',
  'sync-posts': 'Read posts',
  'sync-comments': 'Read comments',
  push: 'Send posts',
  reconcile: 'Look for sent posts',
  webhooks: 'Tell webhooks',
  maintenance: 'Maintenance',
  export: 'Exports',
};

const STATES: Readonly<Record<string, string>> = {
  active: 'running',
  waiting: 'next',
  prioritized: 'next',
  delayed: 'planned for later',
};

/** A name without words is shown as it is; one of several words as a sentence begins. */
export function checkName(name: string): string {
  return CHECKS[name] ?? titleOf(name);
}

export function queueName(name: string): string {
  return QUEUES[name] ?? name;
}

export function stateName(state: string): string {
  return STATES[state] ?? state;
}

type Check = SyncState['health']['checks'][number];

export function checkTag({ ok, warning }: Check): [text: string, tone: Tone] {
  if (ok) return ['ok', 'good'];
  return warning ? ['look', 'warn'] : ['not ok', 'bad'];
}

export function healthText({ checks }: SyncState['health']): string {
  const failed = checks.filter(({ ok }) => !ok).length;
  return failed === 0
    ? 'all checks pass'
    : `${failed} of ${checks.length} checks ${failed === 1 ? 'needs' : 'need'} you`;
}
