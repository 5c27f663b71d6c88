import type { Resource } from '../../../contract/resources.ts';
import type { Pulse } from '../../dashboard/shapes.ts';
import type { SyncList, SyncState } from '../../dashboard/sync.ts';
import { ask } from '../api.ts';
import { type Child, fill, h } from '../dom.ts';
import { ago, counted, number, span } from '../format.ts';
import { banner, button, card } from '../parts.ts';
import { facts } from './outbox-compare.ts';

/** A card for each list: how many rows, how fresh, what runs; and the buttons for a pass at once. */
export function listCards(
  { lists, now }: SyncState,
  pulse: Pulse | null,
  news: HTMLElement,
  say: (sentence: string) => void,
): Child[] {
  const run = async (resource: Resource, mode: 'head' | 'sweep'): Promise<void> => {
    try {
      await ask(`/data/sync/${resource}/run`, { body: { mode } });
      say(`A ${mode} of the ${resource} was asked for; it begins in a moment.`);
    } catch (error) {
      fill(news, banner('bad', error instanceof Error ? error.message : String(error)));
    }
  };
  return [
    h(
      'div',
      { class: 'grid' },
      ...lists.map((list) =>
        card(
          { title: NAMES[list.resource], size: 'half', note: runningText(list, pulse, now) },
          h(
            'div',
            { class: 'figures' },
            figure(number(list.live), 'live'),
            figure(number(list.deleted), 'deleted, kept as history'),
          ),
          facts([
            ['Last sweep', ago(list.lastSweepAt)],
            ['Next sweep', list.sweepDueAt > now ? `in ${span(list.sweepDueAt - now)}` : 'due now'],
            ['Last head', ago(list.lastHeadAt)],
            ['Not shown upstream', suspects(list)],
            ['Deletions', ruleText(list)],
            ...(list.unfinished && !list.running
              ? [['Interrupted', 'the next sweep goes on where it stopped'] as [string, Child]]
              : []),
          ]),
          h(
            'div',
            { class: 'actions' },
            runButton(list.resource, 'head', 'Look for new rows', run),
            runButton(list.resource, 'sweep', 'Read the whole list', run),
          ),
        ),
      ),
    ),
  ];
}

export const NAMES: Record<Resource, string> = { posts: 'Posts', comments: 'Comments' };

function figure(value: string, name: string): HTMLElement {
  return h('div', { class: 'figure' }, h('b', {}, value), h('span', {}, name));
}

function suspects({ suspects: n }: SyncList): string {
  return n === 0 ? 'nothing' : `${counted(n, 'row')} that did not show up; deleted once that is certain`;
}

const RULES: Record<NonNullable<SyncList['rule']>, string> = {
  proof: 'proven by gaps in the order',
  'three sweeps': 'after three sweeps without the row',
  none: 'none can be concluded',
};

function ruleText({ rule, ruleWhy }: SyncList): string {
  return rule === null ? 'known after the first sweep' : `${RULES[rule]}: ${ruleWhy}`;
}

function runningText({ resource, running }: SyncList, pulse: Pulse | null, now: number): Child {
  if (!running) return null;
  const seen = pulse?.running.find((pass) => pass.resource === resource && pass.mode === running.mode);
  const far = seen ? `, ${counted(seen.pages, 'page')}, ${counted(seen.rows, 'row')}` : '';
  return h(
    'span',
    { class: 'tag', 'data-tone': 'good' },
    `${running.mode} for ${span(now - running.since)}${far}`,
  );
}

function runButton(
  resource: Resource,
  mode: 'head' | 'sweep',
  text: string,
  run: (resource: Resource, mode: 'head' | 'sweep') => Promise<void>,
): HTMLElement {
  const element = button(text, () => void run(resource, mode));
  element.id = `${mode}-${resource}`;
  element.setAttribute('aria-label', `${text}: ${resource}`);
  return element;
}
