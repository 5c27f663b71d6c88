import type { RunRow } from '../../../store/mirror/types.ts';
import type { SyncState } from '../../dashboard/sync.ts';
import { h } from '../dom.ts';
import { ago, lasted, number } from '../format.ts';
import { card, table } from '../parts.ts';

type Check = SyncState['health']['checks'][number];

/** What `/readyz` says, in words. */
export function healthCard({ health }: SyncState): HTMLElement {
  return card(
    {
      title: 'Health',
      size: 'half',
      note: health.ready ? 'everything does its work' : 'something is in the way',
    },
    table<Check>(
      [
        {
          head: 'State',
          cell: ({ ok }) =>
            h('span', { class: 'tag', 'data-tone': ok ? 'good' : 'bad' }, ok ? 'ok' : 'not ok'),
        },
        { head: 'What', cell: ({ name }) => name },
        { head: 'How it stands', cell: ({ detail }) => detail },
      ],
      health.checks,
      'Health',
    ),
  );
}

type Depth = SyncState['queue']['depth'][number];

export function queueCard({ queue }: SyncState): HTMLElement {
  const filled = queue.depth.filter(({ jobs }) => jobs > 0);
  return card(
    {
      title: 'Queue',
      size: 'half',
      note: h('a', { id: 'queue-board', href: '/queues' }, 'Queue board'),
    },
    table<Depth>(
      [
        { head: 'Queue', cell: ({ queue: name }) => name },
        { head: 'State', cell: ({ state }) => state },
        { head: 'Jobs', kind: 'number', cell: ({ jobs }) => number(jobs) },
      ],
      filled,
      'Jobs in the queue',
      queueWords(queue),
    ),
  );
}

function queueWords({ kind, reachable }: SyncState['queue']): string {
  if (kind === null) return 'The queue is still being opened.';
  return reachable ? `The ${kind} queue is empty.` : `The ${kind} queue does not answer.`;
}

const TONES: Record<string, string> = { complete: 'good', failed: 'bad', interrupted: 'warn' };

/** The last passes, with what each of them found. */
export function runsCard({ runs }: SyncState): HTMLElement {
  return card(
    { title: 'Last passes' },
    table<RunRow>(
      [
        {
          head: 'Outcome',
          cell: ({ outcome }) => h('span', { class: 'tag', 'data-tone': TONES[outcome] ?? null }, outcome),
        },
        { head: 'List', cell: ({ resource }) => resource },
        { head: 'Pass', cell: ({ mode }) => mode },
        { head: 'Began', cell: ({ started_at }) => h('span', { class: 'nowrap' }, ago(started_at)) },
        {
          head: 'Took',
          cell: ({ started_at, finished_at }) =>
            h('span', { class: 'nowrap' }, lasted(started_at, finished_at)),
        },
        { head: 'Rows', kind: 'number', cell: ({ rows }) => number(rows) },
        { head: 'New', kind: 'number', cell: ({ inserted }) => number(inserted) },
        { head: 'Changed', kind: 'number', cell: ({ updated }) => number(updated) },
        { head: 'Deleted', kind: 'number', cell: ({ deleted }) => number(deleted) },
        { head: 'Held', kind: 'number', cell: ({ held }) => number(held) },
        { head: 'Broken', kind: 'number', cell: ({ quarantined }) => number(quarantined) },
        { head: 'What went wrong', cell: ({ error }) => error ?? '' },
      ],
      runs,
      'Last passes',
      'No pass has run yet.',
    ),
  );
}
