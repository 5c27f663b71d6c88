import type { Change, Edit, State } from '../../../store/browse-post.ts';
import type { PostAnswer } from '../../dashboard/posts.ts';
import { type Child, h } from '../dom.ts';
import { counted, span, time } from '../format.ts';
import { card, swatched } from '../parts.ts';
import { differences } from './text-diff.ts';

interface Stage {
  at: string;
  what: Child;
}

/** When it came into each status, was moved to another board, was deleted and came back. */
export function statusCard({ states }: PostAnswer): HTMLElement {
  const stages = states.flatMap((state, i) => stagesAt(state, states[i - 1]));
  const ends = [...stages.slice(1).map(({ at }) => Date.parse(at)), Date.now()];
  const rows = stages.map(({ at, what }, i) =>
    h(
      'li',
      {},
      h('div', {}, what),
      h(
        'span',
        { class: 'quiet' },
        h('time', { datetime: at }, i === 0 ? `seen ${time(at)}` : time(at)),
        `, for ${span((ends[i] ?? Date.now()) - Date.parse(at))}`,
      ),
    ),
  );
  return card(
    { title: 'Status over time', size: 'half' },
    h('ol', { class: 'timeline', 'aria-label': 'Status over time' }, ...rows.reverse()),
  );
}

function stagesAt(state: State, before: State | undefined): Stage[] {
  const stages: Stage[] = [];
  const add = (what: Child): void => {
    stages.push({ at: state.at, what });
  };
  if (!before || before.status !== state.status)
    add(swatched(state.status ?? 'A status no longer known', state.statusColor));
  if (before && before.board !== state.board) add(['Moved to ', h('b', {}, state.board ?? 'another board')]);
  if (before && before.deleted !== state.deleted) add(state.deleted ? 'Deleted' : 'Came back');
  return stages;
}

/** What was changed in its texts, with what went crossed out and what came marked. */
export function editsCard({ edits, post }: PostAnswer): HTMLElement | null {
  if (edits.length === 0 || post.erased !== null) return null;
  return card(
    { title: 'History of edits', note: counted(edits.length, 'edit') },
    h('ol', { class: 'timeline', 'aria-label': 'History of edits' }, ...edits.map(editRow)),
  );
}

function editRow({ at, title, content }: Edit): HTMLElement {
  return h(
    'li',
    {},
    h('time', { class: 'quiet', datetime: at }, time(at)),
    title && h('p', { class: 'text diff' }, h('b', {}, 'Title: '), diff(title)),
    content && h('p', { class: 'text diff' }, diff(content)),
  );
}

function diff({ from, to }: Change): Child {
  return differences(from, to).map(({ kind, text }) =>
    kind === 'same' ? text : h(kind === 'gone' ? 'del' : 'ins', {}, text),
  );
}
