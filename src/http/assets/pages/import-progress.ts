import type { OutboxState } from '../../../store/outbox/types.ts';
import type { Committed } from '../../dashboard/imports-shapes.ts';
import { withQuery } from '../api.ts';
import { type Child, h } from '../dom.ts';
import { counted, number, percent } from '../format.ts';
import { banner, card } from '../parts.ts';
import { STATES } from './outbox-words.ts';

/** How the rows of an import get on; drawn anew with every move. */
export function showProgress(path: string, { batch, batches, tally, counts }: Committed): Child[] {
  const states = Object.entries(counts) as [OutboxState, number][];
  const all = states.reduce((sum, [, n]) => sum + n, 0);
  const open = counts.ready + counts.sending + counts.ambiguous;
  return [
    open === 0 ? outcome(counts) : null,
    card(
      { title: 'Imported', note: batch },
      h(
        'p',
        {},
        `${counted(tally.accepted, 'row')} put into the outbox, ${number(tally.already)} there before, ` +
          `${number(tally.refused)} refused.`,
      ),
      all === 0 ? null : meter(states, all, open),
      all === 0 ? null : legend(states, batches),
      h(
        'div',
        { class: 'actions' },
        h('a', { class: 'button main', id: 'rows', href: withQuery('/outbox', { batch }) }, 'See the rows'),
        h('a', { class: 'button', id: 'results', href: `${path}/results`, download: '' }, 'Results as CSV'),
        h('a', { class: 'button', id: 'other-file', href: '/outbox/import' }, 'Import another file'),
      ),
    ),
  ];
}

function outcome(counts: Committed['counts']): HTMLElement {
  const open = counts.rejected + counts.uncertain;
  if (open === 0) return banner('good', 'Everything is done.');
  return banner('warn', `Nothing more happens by itself; ${counted(open, 'row')} need you.`);
}

function meter(states: [OutboxState, number][], all: number, open: number): HTMLElement {
  const parts = states.flatMap(([state, n]) => {
    const { tone } = STATES[state];
    if (n === 0 || state === 'ready' || state === 'sending') return [];
    return h('span', {
      class: 'meter-part',
      'data-tone': tone,
      vars: { '--share': `${(100 * n) / all}%` },
    });
  });
  return h(
    'div',
    {
      class: 'meter',
      role: 'progressbar',
      'aria-label': 'Rows that are done',
      'aria-valuemin': 0,
      'aria-valuemax': all,
      'aria-valuenow': all - open,
      'aria-valuetext': `${number(all - open)} of ${number(all)}, ${percent((all - open) / all)}`,
    },
    ...parts,
  );
}

function legend(states: [OutboxState, number][], batches: string[]): HTMLElement {
  const [only] = batches.length === 1 ? batches : [null];
  return h(
    'ul',
    { class: 'chips', 'aria-label': 'Rows by state' },
    ...states
      .filter(([, n]) => n > 0)
      .map(([state, n]) =>
        h(
          'li',
          {},
          h(
            'a',
            { id: `state-${state}`, href: withQuery('/outbox', { state, batch: only ?? null }) },
            STATES[state].name,
            h('span', {}, number(n)),
          ),
        ),
      ),
  );
}
