import type { Resource } from '../../contract/endpoints.ts';
import type { LiveStats } from '../../http/dashboard/events.ts';
import type { SyncList, SyncState } from '../../http/dashboard/sync.ts';
import type { RunRow } from '../../store/mirror/types.ts';
import { fetchJson } from '../api.ts';
import { type Child, fill, h } from '../dom.ts';
import { ago, counted, lasted, number, span, withDates } from '../format.ts';
import { onNews, type Page } from '../page.ts';
import {
  attempt,
  banner,
  button,
  card,
  facts,
  liveRegion,
  pageHead,
  type Tone,
  tableCard,
  tag,
  timeTag,
} from '../parts.ts';
import { heldBack, quarantineCard, suspected } from './sync-absent.ts';

/** How fresh the mirror is, what stands in its way, and what the service is doing. */
export const page: Page = {
  title: 'Sync',
  async show(context) {
    const { root, signal } = context;
    const load = (): Promise<SyncState> => fetchJson('/data/sync', { signal });
    const news = liveRegion();
    const [top, bottom] = [h('div.stacked'), h('div.stacked')];
    // The numbers below show soon enough what came of it.
    const say = (sentence: string): void => {
      const told = banner('good', sentence);
      fill(news, told);
      setTimeout(() => told.remove(), 10_000);
    };
    let stats: LiveStats | null = null;
    const held = heldBack(signal, say);
    const suspects = suspected(signal);
    const quarantine = quarantineCard(signal);
    const draw = async (): Promise<void> => {
      const state = await load();
      fill(top, closed(state), listCards(state, stats, news, say));
      fill(bottom, h('div.grid', healthCard(state), queueCard(state)), runsCard(state));
      await held.update(state);
      await suspects.update(state);
      await quarantine.update(state.lists.reduce((sum, { quarantined }) => sum + quarantined, 0));
    };
    context.onStats((next) => {
      stats = next;
    });
    await draw();
    root.append(
      pageHead(
        'Sync',
        'A sweep reads a whole list and finds deletions; a head pass reads the newest rows only.',
        h('a.button', { href: '/webhooks' }, 'Webhooks'),
      ),
      news,
      h('div.stacked', held.element, top, suspects.element, bottom, quarantine.element),
    );
    onNews(context, draw);
  },
};

function closed({ closedUntil, now }: SyncState): HTMLElement | null {
  if (closedUntil === null || closedUntil <= now) return null;
  return banner('warn', `The upstream asked for no calls for another ${span(closedUntil - now)}.`);
}

/** A card for each list: how many rows, how fresh, what runs; and the buttons for a pass at once. */
function listCards(
  { lists, now }: SyncState,
  stats: LiveStats | null,
  news: HTMLElement,
  say: (sentence: string) => void,
): HTMLElement {
  const run = async (resource: Resource, mode: 'head' | 'sweep'): Promise<void> => {
    await fetchJson(`/data/sync/${resource}/run`, { body: { mode } });
    const pass = mode === 'head' ? 'head pass' : 'sweep';
    say(`A ${pass} of the ${resource} was requested; it starts in a moment.`);
  };
  const runButton = (resource: Resource, mode: 'head' | 'sweep', text: string): HTMLElement =>
    button(text, () => void attempt(news, () => run(resource, mode)), {
      id: `${mode}-${resource}`,
      'aria-label': `${text}: ${resource}`,
    });
  const cardOf = (list: SyncList): HTMLElement =>
    card(
      { title: NAMES[list.resource], size: 'half', note: runningText(list, stats, now) },
      h(
        'div.figures',
        figure(number(list.live), 'live'),
        figure(number(list.deleted), 'deleted, kept as history'),
      ),
      facts(factsOf(list, now)),
      h(
        'div.actions',
        runButton(list.resource, 'head', 'Read the newest rows'),
        runButton(list.resource, 'sweep', 'Read the whole list'),
      ),
    );
  return h('div.grid', ...lists.map(cardOf));
}

function factsOf(list: SyncList, now: number): [string, Child][] {
  const { lastSweepAt, sweepDueAt, lastHeadAt, unfinished, running } = list;
  const known: [string, Child][] = [
    ['Last sweep', ago(lastSweepAt)],
    ['Next sweep', sweepDueAt > now ? `in ${span(sweepDueAt - now)}` : 'due now'],
    ['Last head pass', ago(lastHeadAt)],
    [
      'Notes',
      list.notes.length === 0 ? 'nothing' : h('div.stacked', ...list.notes.map((note) => h('p', note))),
    ],
  ];
  return unfinished && !running
    ? [...known, ['Interrupted', 'the next sweep goes on where it stopped']]
    : known;
}

const NAMES: Record<Resource, string> = { posts: 'Posts', comments: 'Comments' };

function figure(value: string, name: string): HTMLElement {
  return h('div.figure', h('b', value), h('span', name));
}

function runningText({ resource, running }: SyncList, stats: LiveStats | null, now: number): Child {
  if (!running) return null;
  const seen = stats?.running.find((pass) => pass.resource === resource && pass.mode === running.mode);
  const far = seen ? `, ${counted(seen.pages, 'page')}, ${counted(seen.rows, 'row')}` : '';
  return tag(`${running.mode} for ${span(now - running.since)}${far}`, 'good');
}

type Check = SyncState['health']['checks'][number];

/** What `/readyz` says, in words. */
function healthCard({ health }: SyncState): HTMLElement {
  return tableCard<Check>(
    {
      title: 'Health',
      size: 'half',
      note: health.ready ? 'all checks pass' : 'a check fails',
    },
    [
      {
        head: 'State',
        cell: ({ ok }) => (ok ? tag('ok', 'good') : tag('not ok', 'bad')),
      },
      { head: 'Check', cell: ({ name }) => name },
      { head: 'Detail', cell: ({ detail }) => detail },
    ],
    health.checks,
  );
}

type Depth = SyncState['queue']['depth'][number];

function queueCard({ queue }: SyncState): HTMLElement {
  const filled = queue.depth.filter(({ jobs }) => jobs > 0);
  return tableCard<Depth>(
    {
      title: 'Queue',
      size: 'half',
      note: h('a', { id: 'queue-board', href: '/queues' }, 'Queue board'),
    },
    [
      { head: 'Queue', cell: ({ queue: name }) => name },
      { head: 'State', cell: ({ state }) => state },
      { head: 'Jobs', kind: 'number', cell: ({ jobs }) => number(jobs) },
    ],
    filled,
    queueWords(queue),
  );
}

function queueWords({ kind, reachable }: SyncState['queue']): string {
  if (kind === null) return 'The queue is still being opened.';
  return reachable ? `The ${kind} queue is empty.` : `The ${kind} queue does not answer.`;
}

const TONES: Record<string, Tone> = { complete: 'good', failed: 'bad', interrupted: 'warn' };

/** The last passes, with what each of them found. */
function runsCard({ runs }: SyncState): HTMLElement {
  return tableCard<RunRow>(
    { title: 'Last passes' },
    [
      {
        head: 'Outcome',
        cell: ({ outcome }) => tag(outcome, TONES[outcome]),
      },
      { head: 'List', cell: ({ resource }) => resource },
      { head: 'Pass', cell: ({ mode }) => mode },
      {
        head: 'Started',
        cell: ({ started_at }) => h('span.nowrap', timeTag(started_at, ago(started_at))),
      },
      {
        head: 'Took',
        cell: ({ started_at, finished_at }) => h('span.nowrap', lasted(started_at, finished_at)),
      },
      { head: 'Rows', kind: 'number', cell: ({ rows }) => number(rows) },
      { head: 'New', kind: 'number', cell: ({ inserted }) => number(inserted) },
      { head: 'Changed', kind: 'number', cell: ({ updated }) => number(updated) },
      { head: 'Deleted', kind: 'number', cell: ({ deleted }) => number(deleted) },
      { head: 'Held', kind: 'number', cell: ({ held }) => number(held) },
      { head: 'Quarantined', kind: 'number', cell: ({ quarantined }) => number(quarantined) },
      { head: 'Error', cell: ({ error }) => (error === null ? '' : withDates(error)) },
    ],
    runs,
    'No pass has run yet.',
  );
}
