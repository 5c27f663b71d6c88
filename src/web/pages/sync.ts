import type { Resource } from '../../contract/endpoints.ts';
import type { LiveStats } from '../../http/dashboard/events.ts';
import type { SyncList, SyncState } from '../../http/dashboard/sync.ts';
import type { RunRow } from '../../mirror/decide/types.ts';
import { fetchJson } from '../api.ts';
import { ago, counted, lasted, number, span, withClockTimes, withDates } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { button } from '../parts/controls.ts';
import { banner, card, facts, figure, pageHead, type Tone, tag, timeTag } from '../parts/layout.ts';
import { type Outcome, useOutcome } from '../parts/load.ts';
import { type TableColumn, tableCard } from '../parts/table.ts';
import { pageOf } from '../shell/page.ts';
import { heldCard, QuarantineCard, suspectsCard } from './sync-absent.ts';
import { checkName, checkTag, healthText, queueName, stateName } from './sync-words.ts';

/** How fresh the mirror is, what stands in its way, and what the service is doing. */
export const page = pageOf<SyncState>({
  title: 'Sync',
  follows: () => true,
  load: (_place, signal) => fetchJson('/data/sync', { signal }),
  view(shown) {
    const { answer: state, stats } = shown;
    const { said, say, attempt } = useOutcome();
    const { lists } = state;
    return [
      pageHead(
        'Sync',
        'A sweep reads a whole list and finds deletions; a head pass reads the newest rows only.',
        h('a.button', { href: '/webhooks' }, 'Webhooks'),
      ),
      said,
      h(
        'div.stacked',
        lists.filter(({ held }) => held > 0).map((list) => heldCard(list, say)),
        h(
          'div.grid',
          lists.map((list) =>
            listCard(list, state.now, stats, (mode) => void attempt(() => run(list.resource, mode, say))),
          ),
        ),
        lists.filter(({ suspects }) => suspects > 0).map(suspectsCard),
        h('div.grid', healthCard(state), queueCard(state)),
        runsCard(state),
        h(QuarantineCard, { total: lists.reduce((sum, { quarantined }) => sum + quarantined, 0) }),
      ),
    ];
  },
});

type Mode = 'head' | 'sweep';

/** The numbers of the page show soon enough what came of it. */
async function run(resource: Resource, mode: Mode, say: Outcome['say']): Promise<void> {
  await fetchJson(`/data/sync/${resource}/run`, { body: { mode } });
  const pass = mode === 'head' ? 'head pass' : 'sweep';
  say(banner('good', `A ${pass} of the ${resource} was requested; it starts in a moment.`));
}

/** How many rows a list has, how fresh it is, what runs; and the buttons for a pass at once. */
function listCard(list: SyncList, now: number, stats: LiveStats | null, onRun: (mode: Mode) => void): VNode {
  const { resource } = list;
  const runButton = (mode: Mode, text: string): VNode =>
    button(text, () => onRun(mode), { id: `${mode}-${resource}`, 'aria-label': `${text}: ${resource}` });
  return card(
    { title: NAMES[resource], size: 'half', note: runningText(list, stats, now) },
    h(
      'div.figures',
      figure(number(list.live), 'live'),
      figure(number(list.deleted), 'deleted, kept as history'),
    ),
    facts(factsOf(list, now)),
    h('div.actions', runButton('head', 'Read the newest rows'), runButton('sweep', 'Read the whole list')),
  );
}

function factsOf(list: SyncList, now: number): [string, Child][] {
  const { lastSweepAt, sweepDueAt, lastHeadAt, unfinished, running } = list;
  const known: [string, Child][] = [
    ['Last sweep', ago(lastSweepAt)],
    ['Next sweep', sweepDueAt > now ? `in ${span(sweepDueAt - now)}` : 'due now'],
    ['Last head pass', ago(lastHeadAt)],
    [
      'Notes',
      list.notes.length === 0
        ? 'nothing'
        : h(
            'div.stacked',
            list.notes.map((note) => h('p', note)),
          ),
    ],
  ];
  return unfinished && !running
    ? [...known, ['Interrupted', 'the next sweep continues where it stopped']]
    : known;
}

const NAMES: Record<Resource, string> = { posts: 'Posts', comments: 'Comments' };

function runningText({ resource, running }: SyncList, stats: LiveStats | null, now: number): Child {
  if (!running) return null;
  const seen = stats?.running.find((pass) => pass.resource === resource && pass.mode === running.mode);
  const far = seen ? `, ${counted(seen.pages, 'page')}, ${counted(seen.rows, 'row')}` : '';
  return tag(`${running.mode} for ${span(now - running.since)}${far}`, 'good');
}

type Check = SyncState['health']['checks'][number];

/** What `/readyz` says, in words. */
function healthCard({ health }: SyncState): VNode {
  return tableCard<Check>(
    { title: 'Health', size: 'two-thirds', note: healthText(health) },
    {
      columns: [
        { head: 'State', cell: (check) => tag(...checkTag(check)) },
        { head: 'Check', cell: ({ name }) => h('span.check', checkName(name)) },
        { head: 'Detail', cell: ({ detail }) => withClockTimes(detail) },
      ],
      rows: health.checks,
    },
  );
}

type Depth = SyncState['queue']['depth'][number];

function queueCard({ queue }: SyncState): VNode {
  return tableCard<Depth>(
    { title: 'Queue', size: 'third', note: h('a', { id: 'to-queues', href: '/queues' }, 'All jobs') },
    {
      columns: [
        { head: 'Queue', cell: ({ queue: name }) => queueName(name) },
        { head: 'State', cell: ({ state }) => stateName(state) },
        { head: 'Jobs', kind: 'number', cell: ({ jobs }) => number(jobs) },
      ],
      rows: queue.depth.filter(({ jobs }) => jobs > 0),
      empty: queueWords(queue),
    },
  );
}

function queueWords({ kind, reachable }: SyncState['queue']): string {
  if (kind === null) return 'The queue is still being opened.';
  return reachable ? `The ${kind} queue is empty.` : `The ${kind} queue does not answer.`;
}

const TONES: Record<string, Tone> = { complete: 'good', failed: 'bad', interrupted: 'warn' };

/** Most passes find nothing: the ones that did stand out. */
function found(rows: number): Child {
  return rows === 0 ? h('span.quiet', '0') : number(rows);
}

const RUNS: TableColumn<RunRow>[] = [
  { head: 'Outcome', cell: ({ outcome }) => tag(outcome, TONES[outcome]) },
  { head: 'List', cell: ({ resource }) => resource },
  { head: 'Pass', cell: ({ mode }) => mode },
  { head: 'Started', cell: ({ started_at }) => h('span.nowrap', timeTag(started_at, ago(started_at))) },
  {
    head: 'Took',
    cell: ({ started_at, finished_at }) => h('span.nowrap', lasted(started_at, finished_at)),
  },
  { head: 'Rows', kind: 'number', cell: ({ rows }) => number(rows) },
  { head: 'New', kind: 'number', cell: ({ inserted }) => found(inserted) },
  { head: 'Changed', kind: 'number', cell: ({ updated }) => found(updated) },
  { head: 'Deleted', kind: 'number', cell: ({ deleted }) => found(deleted) },
  { head: 'Held', kind: 'number', cell: ({ held }) => found(held) },
  { head: 'Quarantined', kind: 'number', cell: ({ quarantined }) => found(quarantined) },
  { head: 'Error', cell: ({ error }) => (error === null ? '' : withDates(error)) },
];

/** The last passes, with what each of them found. */
function runsCard({ runs }: SyncState): VNode {
  return tableCard(
    { title: 'Last passes' },
    { columns: RUNS, rows: runs, key: ({ id }) => id, empty: 'No pass has run yet.' },
  );
}
