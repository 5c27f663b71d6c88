import type { Resource } from '../../contract/endpoints.ts';
import type { LiveStats } from '../../http/dashboard/events.ts';
import type { SyncList, SyncState } from '../../http/dashboard/sync.ts';
import type { RunRow } from '../../store/mirror/types.ts';
import { fetchJson } from '../api.ts';
import { type Child, fill, h } from '../dom.ts';
import { ago, counted, lasted, number, span, withDates } from '../format.ts';
import { onNews, type Page } from '../page.ts';
import { banner, button, card, facts, failure, pageHead, table, timeTag } from '../parts.ts';
import { heldBack, quarantineCard, suspected } from './sync-absent.ts';

/** How fresh the mirror is, what stands in its way, and what the service is doing. */
export const page: Page = {
  title: 'Sync',
  async show(context) {
    const { root, signal } = context;
    const load = (): Promise<SyncState> => fetchJson('/data/sync', { signal });
    const news = h('div', { 'aria-live': 'polite' });
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
      fill(top, closed(state), ...listCards(state, stats, news, say));
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
export function listCards(
  { lists, now }: SyncState,
  stats: LiveStats | null,
  news: HTMLElement,
  say: (sentence: string) => void,
): Child[] {
  const run = async (resource: Resource, mode: 'head' | 'sweep'): Promise<void> => {
    try {
      await fetchJson(`/data/sync/${resource}/run`, { body: { mode } });
      say(
        `A ${mode === 'head' ? 'head pass' : 'sweep'} of the ${resource} was requested; it starts in a moment.`,
      );
    } catch (error) {
      fill(news, failure(error));
    }
  };
  return [
    h(
      'div.grid',
      ...lists.map((list) =>
        card(
          { title: NAMES[list.resource], size: 'half', note: runningText(list, stats, now) },
          h(
            'div.figures',
            figure(number(list.live), 'live'),
            figure(number(list.deleted), 'deleted, kept as history'),
          ),
          facts([
            ['Last sweep', ago(list.lastSweepAt)],
            ['Next sweep', list.sweepDueAt > now ? `in ${span(list.sweepDueAt - now)}` : 'due now'],
            ['Last head pass', ago(list.lastHeadAt)],
            ['Not shown upstream', suspects(list)],
            ['Deletions', ruleText(list)],
            ...(list.unfinished && !list.running
              ? [['Interrupted', 'the next sweep goes on where it stopped'] as [string, Child]]
              : []),
          ]),
          h(
            'div.actions',
            runButton(list.resource, 'head', 'Read the newest rows', run),
            runButton(list.resource, 'sweep', 'Read the whole list', run),
          ),
        ),
      ),
    ),
  ];
}

export const NAMES: Record<Resource, string> = { posts: 'Posts', comments: 'Comments' };

function figure(value: string, name: string): HTMLElement {
  return h('div.figure', h('b', value), h('span', name));
}

function suspects({ suspects: n }: SyncList): string {
  return n === 0 ? 'nothing' : `${counted(n, 'row')} that did not show up; deleted once that is certain`;
}

const RULES: Record<NonNullable<SyncList['rule']>, string> = {
  proof: 'proven by gaps in the order',
  'three sweeps': 'after three sweeps without the row, or five while it moves',
  none: 'none can be concluded',
};

function ruleText({ rule, ruleWhy }: SyncList): string {
  return rule === null ? 'known after the first sweep' : `${RULES[rule]}: ${ruleWhy}`;
}

function runningText({ resource, running }: SyncList, stats: LiveStats | null, now: number): Child {
  if (!running) return null;
  const seen = stats?.running.find((pass) => pass.resource === resource && pass.mode === running.mode);
  const far = seen ? `, ${counted(seen.pages, 'page')}, ${counted(seen.rows, 'row')}` : '';
  return h('span.tag', { 'data-tone': 'good' }, `${running.mode} for ${span(now - running.since)}${far}`);
}

function runButton(
  resource: Resource,
  mode: 'head' | 'sweep',
  text: string,
  run: (resource: Resource, mode: 'head' | 'sweep') => Promise<void>,
): HTMLElement {
  const attributes = { id: `${mode}-${resource}`, 'aria-label': `${text}: ${resource}` };
  return button(text, () => void run(resource, mode), attributes);
}

type Check = SyncState['health']['checks'][number];

/** What `/readyz` says, in words. */
export function healthCard({ health }: SyncState): HTMLElement {
  return card(
    {
      title: 'Health',
      size: 'half',
      note: health.ready ? 'all checks pass' : 'a check fails',
    },
    table<Check>(
      [
        {
          head: 'State',
          cell: ({ ok }) => h('span.tag', { 'data-tone': ok ? 'good' : 'bad' }, ok ? 'ok' : 'not ok'),
        },
        { head: 'Check', cell: ({ name }) => name },
        { head: 'Detail', cell: ({ detail }) => detail },
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
          cell: ({ outcome }) => h('span.tag', { 'data-tone': TONES[outcome] ?? null }, outcome),
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
      'Last passes',
      'No pass has run yet.',
    ),
  );
}
