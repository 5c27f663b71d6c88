import type { JobAction, JobState, JobView, QueuesAnswer, QueueView } from '../../http/dashboard/queues.ts';
import { fetchJson, withQuery } from '../api.ts';
import { ago, counted, number, span } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { button } from '../parts/controls.ts';
import { card, pageHead, tag, timeTag } from '../parts/layout.ts';
import { useOutcome } from '../parts/load.ts';
import { type TableColumn, table } from '../parts/table.ts';
import { choicesOf, pageOf } from '../shell/page.ts';
import { queueName } from './sync-words.ts';

const STATES: Record<JobState, string> = {
  running: 'Running',
  next: 'Next',
  planned: 'Planned',
  failed: 'Failed',
  done: 'Done',
};

const choices = choicesOf(['queue', 'state']);

/** The jobs of the service: which run, which come next, which failed, and the ways to run one again or to wait with them. */
export const page = pageOf<QueuesAnswer>({
  title: 'Queues',
  choices,
  follows: () => true,
  load: ({ url }, signal) => fetchJson(withQuery('/data/queues', choices.read(url)), { signal }),
  view({ answer: { queues, jobs }, place }) {
    const { said, attempt } = useOutcome();
    const { queue, state } = choices.read(place.url);
    const act: Act = (path, body) =>
      void attempt(async () => {
        await fetchJson(`/data/queues/${path}`, { body });
        await place.reload();
      });
    return [
      h('p.crumbs', h('a', { href: '/sync' }, 'Sync')),
      pageHead('Queues', 'Jobs come from the settings and the outbox. A number shows its jobs below.'),
      said,
      h(
        'div.stacked',
        card({ title: 'All queues' }, table({ ...queueTable(act), rows: queues })),
        queue === null ? null : jobsCard(queue, (state ?? 'failed') as JobState, jobs, act),
      ),
    ];
  },
});

type Act = (path: string, body: object) => void;

function queueTable(act: Act) {
  const name: TableColumn<QueueView> = {
    head: 'Queue',
    kind: 'wide',
    cell: (view) => [queueName(view.name), view.isPaused ? [' ', tag('paused', 'warn')] : null],
  };
  const states = (Object.keys(STATES) as JobState[]).map((state): TableColumn<QueueView> => {
    const to = (queue: string): string => withQuery('/queues', { queue, state });
    return {
      head: STATES[state],
      kind: 'number',
      cell: ({ name: queue, counts }) =>
        counts[state] === 0
          ? h('span.quiet', '0')
          : h('a', { id: `${queue}-${state}`, href: to(queue) }, number(counts[state])),
    };
  });
  const pause: TableColumn<QueueView> = {
    head: '',
    cell({ name: queue, isPaused }) {
      const [way, text] = isPaused ? ['resume', 'Resume'] : ['pause', 'Pause'];
      const label = `${text}: ${queueName(queue)}`;
      return button(text, () => act(`${queue}/${way}`, {}), { class: 'small', 'aria-label': label });
    },
  };
  return { columns: [name, ...states, pause], key: ({ name }: QueueView) => name, label: 'Queues' };
}

const WHEN: Record<JobState, string> = {
  running: 'Began',
  next: 'Came',
  planned: 'Planned',
  failed: 'Failed',
  done: 'Ended',
};

/** What can be done with a job of each state. */
const ACTIONS: Record<JobState, [action: JobAction, text: string][]> = {
  running: [],
  next: [['remove', 'Remove']],
  planned: [
    ['promote', 'Run now'],
    ['remove', 'Remove'],
  ],
  failed: [
    ['retry', 'Run again'],
    ['remove', 'Remove'],
  ],
  done: [['remove', 'Remove']],
};

function jobsCard(queue: string, state: JobState, jobs: readonly JobView[], act: Act): VNode {
  const actions = ({ id, what, isScheduled }: JobView): Child =>
    ACTIONS[state]
      // The schedule would make it again at once.
      .filter(([action]) => action !== 'remove' || !isScheduled || state === 'done' || state === 'failed')
      .map(([action, text]) =>
        button(text, () => act(`${queue}/jobs/${action}`, { id }), {
          key: action,
          class: 'small',
          'aria-label': `${text}: ${what}`,
        }),
      );
  const columns: TableColumn<JobView>[] = [
    {
      head: 'Job',
      kind: 'wide',
      cell: ({ what, rows, error }) => [
        what,
        state === 'running' && rows !== null ? h('span.note', ` ${counted(rows, 'row')} so far`) : null,
        error === null ? null : h('div.note', error),
      ],
    },
    { head: WHEN[state], cell: ({ at }) => h('span.nowrap', timeTag(at, whenText(at))) },
    { head: 'Attempts', kind: 'number', cell: ({ attempts }) => number(attempts) },
    { head: '', cell: (job) => h('div.job-actions', actions(job)) },
  ];
  return card(
    {
      title: `${queueName(queue)}: ${STATES[state].toLowerCase()}`,
      note: `${counted(jobs.length, 'job')} shown`,
    },
    table({ columns, rows: jobs, key: ({ id }) => id, label: 'Jobs', empty: 'No job is in this state now.' }),
  );
}

function whenText(at: string): string {
  const ahead = Date.parse(at) - Date.now();
  return ahead > 0 ? `in ${span(ahead)}` : ago(at);
}
