import type { BatchState, DecidedBatch } from '../../http/dashboard/batches.ts';
import type { OutboxState, StateCounts } from '../../outbox/decide/types.ts';
import type { BoardToMend } from '../../outbox/store/batches.ts';
import type { KnownBoard } from '../../text/boards.ts';
import { fetchJson, withQuery } from '../api.ts';
import { counted, estimateText, number, percent, time } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { BoardField } from './board-picker.ts';
import { button } from './controls.ts';
import { openForm } from './dialog.ts';
import { banner, card, type Tone, tag } from './layout.ts';
import { tableCard } from './table.ts';

interface Words {
  name: string;
  tone: Tone | null;
  /** What it means for the rows in it, as a sentence. */
  meaning: string;
}

/** In the order in which people want to see them: what waits for them first. */
export const STATES: Record<OutboxState, Words> = {
  uncertain: {
    name: 'Needs a decision',
    tone: 'warn',
    meaning: 'The service cannot tell whether these posts were created. They wait for your decision.',
  },
  proposed: {
    name: 'Proposed',
    tone: 'warn',
    meaning: 'An agent proposes these posts. Nothing is sent before you approve it.',
  },
  ready: { name: 'Queued', tone: null, meaning: 'These wait for their turn to be sent.' },
  sending: { name: 'Sending', tone: null, meaning: 'These are being sent now.' },
  ambiguous: {
    name: 'Checking',
    tone: 'warn',
    meaning: 'The answer was lost. The upstream is checked for these posts before anything is sent again.',
  },
  confirmed: { name: 'Sent', tone: 'good', meaning: 'These are posts upstream now.' },
  rejected: { name: 'Rejected', tone: 'bad', meaning: 'The upstream refused these, and each row says why.' },
  cancelled: { name: 'Cancelled', tone: null, meaning: 'A person decided not to send these.' },
};

export function stateTag(state: OutboxState): VNode {
  const { name, tone } = STATES[state];
  return tag(name, tone);
}

export function sum(counts: StateCounts): number {
  return Object.values(counts).reduce((total, n) => total + n, 0);
}

interface BatchView {
  state: BatchState;
  boards: KnownBoard[];
  /** Draws how it stands after a decision, and says what was done. */
  done(sentence: string): Promise<void>;
}

/** An import as a whole: how far it is, how long it takes, and everything a person can decide about it. */
export function batchCards(view: BatchView): Child[] {
  const { state } = view;
  const { batch, counts } = state;
  const all = sum(counts);
  return [
    standing(state),
    card(
      { title: 'This import', note: batch },
      meter(counts, all),
      h('p', progressWords(state)),
      h('div.actions', decisions(view)),
      taken(state),
      h('p.note', 'As CSV, to be looked at or imported again: ', downloads(state)),
    ),
    mending(view),
  ];
}

/** What stops it, or that it is over. */
function standing({ counts, told }: BatchState): Child {
  const { ready, sending, ambiguous, rejected, uncertain } = counts;
  if (told?.cancelled_at && ready > 0)
    return banner(
      'warn',
      `Cancelled, but ${counted(ready, 'row still waits', 'rows still wait')}. Nothing of it is sent.`,
    );
  if (told?.paused_at && ready > 0)
    return banner(
      'warn',
      `Paused since ${time(told.paused_at)}. Nothing more of it is sent until you resume it.`,
    );
  if (ready + sending + ambiguous > 0) return null;
  if (rejected + uncertain === 0) return banner('good', 'Everything is done.');
  const open = rejected + uncertain;
  return banner('warn', `Nothing more happens by itself; ${counted(open, 'row needs', 'rows need')} you.`);
}

function progressWords({ counts, estimate, customers, told }: BatchState): Child[] {
  const done = `${number(counts.confirmed)} of ${number(sum(counts) - counts.cancelled)} sent. `;
  const pace = told?.per_minute ? `At most ${number(told.per_minute)} a minute. ` : '';
  const left = estimate ? `Left: ${estimateText(estimate)}. ` : '';
  const people = `${customers.isMore ? 'More than ' : ''}${counted(customers.people, 'customer')}`;
  const tells =
    customers.people === 0 ? '' : `${people} may be told by the service about posts in their name.`;
  return [done, estimate ? '' : pace, left, tells];
}

/** Rows that are done, by how they ended. */
function meter(counts: StateCounts, all: number): VNode {
  const done = all - counts.ready - counts.sending - counts.ambiguous;
  const parts = (Object.entries(counts) as [OutboxState, number][]).flatMap(([state, n]) => {
    if (n === 0 || state === 'ready' || state === 'sending') return [];
    const { tone } = STATES[state];
    return h('span.meter-part', { 'data-tone': tone, style: { '--share': `${(100 * n) / all}%` } });
  });
  return h(
    'div.meter',
    {
      role: 'progressbar',
      'aria-label': 'Rows that are done',
      'aria-valuemin': 0,
      'aria-valuemax': all,
      'aria-valuenow': done,
      'aria-valuetext': `${number(done)} of ${number(all)}, ${percent(done / all)}`,
    },
    parts,
  );
}

function decisions(view: BatchView): Child[] {
  const { counts, told } = view.state;
  const [waits, isHeld] = [counts.ready > 0, Boolean(told?.paused_at && !told.cancelled_at)];
  const resume = (): void => void decide(view, RESUME).catch(() => undefined);
  const pause = (): void => ask(view, PAUSE);
  const cancel = (): void => ask(view, cancelOf(counts));
  const again = (state: 'rejected' | 'cancelled'): Child => {
    if (counts[state] === 0) return null;
    const rows = counted(counts[state], `${STATES[state].name.toLowerCase()} row`);
    return button(`Send ${rows} again`, () => ask(view, sendAgain(state, rows)), { id: `again-${state}` });
  };
  return [
    waits && isHeld && button('Resume', resume, { id: 'resume', class: 'main' }),
    waits && !told?.paused_at && !told?.cancelled_at && button('Pause', pause, { id: 'pause' }),
    waits && button('Cancel the rest', cancel, { id: 'cancel-rest', class: 'danger' }),
    again('rejected'),
    again('cancelled'),
  ];
}

interface Decision {
  path: string;
  body?: object;
  label: string;
  text: string;
  isDangerous?: boolean;
  done(rows: number): string;
}

const PAUSE: Decision = {
  path: 'pause',
  label: 'Pause',
  text: 'Nothing more of this import is sent until you resume it. A post that is being sent just now is finished.',
  done: () => 'The import is paused.',
};

const RESUME: Decision = { path: 'resume', label: 'Resume', text: '', done: () => 'The import continues.' };

function cancelOf({ ready, confirmed }: StateCounts): Decision {
  const stays =
    confirmed === 0
      ? ''
      : ` The ${counted(confirmed, 'post')} that were sent stay: the API cannot take them back.`;
  return {
    path: 'cancel',
    label: `Cancel ${counted(ready, 'row')}`,
    text: `They are not sent. They stay in the outbox, and can be sent later.${stays}`,
    isDangerous: true,
    done: (rows) => `${counted(rows, 'row')} cancelled.`,
  };
}

function sendAgain(state: 'rejected' | 'cancelled', rows: string): Decision {
  return {
    path: 'retry',
    body: { state },
    label: `Send ${rows} again`,
    text:
      state === 'rejected'
        ? 'As they are. Rows that the upstream refuses for their words come back.'
        : 'They are queued behind what waits already.',
    done: (n) => `${counted(n, 'row')} queued.`,
  };
}

function ask(view: BatchView, decision: Decision): void {
  openForm({
    title: decision.label,
    content: decision.text,
    action: decision.label,
    isDangerous: decision.isDangerous ?? false,
    run: () => decide(view, decision),
  });
}

async function decide({ state, done }: BatchView, { path, body = {}, done: words }: Decision): Promise<void> {
  const { rows } = await fetchJson<DecidedBatch>(`${pathOf(state)}/${path}`, { body });
  await done(words(rows));
}

function pathOf({ batch }: BatchState): string {
  return `/data/batches/${encodeURIComponent(batch)}`;
}

function taken({ batch, counts: { confirmed } }: BatchState): Child {
  if (confirmed === 0) return null;
  const href = withQuery('/outbox', { batch, state: 'confirmed' });
  return h(
    'p.note',
    'Posts that were sent cannot be taken back through this API. ',
    h('a', { id: 'sent-posts', href }, `The ${counted(confirmed, 'post')} with their links`),
    confirmed === 1 ? ': it can be deleted there.' : ': they can be deleted there.',
  );
}

function downloads(state: BatchState): Child[] {
  const filled = (Object.keys(STATES) as OutboxState[]).filter((each) => state.counts[each] > 0);
  const links: [string, string][] = [
    ['all', `${pathOf(state)}/rows.csv`],
    ...filled.map((each): [string, string] => [
      `${STATES[each].name} (${number(state.counts[each])})`,
      withQuery(`${pathOf(state)}/rows.csv`, { state: each }),
    ]),
  ];
  return links.flatMap(([text, href], i) => [i === 0 ? null : ', ', h('a', { href, download: '' }, text)]);
}

/** Rows that were refused may be so for their board; why is told in words of the service alone, so that a person decides. */
function mending(view: BatchView): Child {
  const { toMend } = view.state;
  if (toMend.length === 0) return null;
  return tableCard<BoardToMend>(
    {
      title: 'Rows to correct, by board',
      note: 'where the board is wrong; all else on the page of each row',
    },
    {
      columns: [
        { head: 'Board', cell: ({ board }) => board },
        { head: 'Rows', kind: 'number', cell: ({ rows }) => number(rows) },
        {
          head: '',
          cell: (group) =>
            button('Move to another board', () => moveRows(view, group), {
              'aria-label': `Move to another board: the rows of ${group.board}`,
            }),
        },
      ],
      rows: toMend,
      key: ({ board }) => board,
    },
  );
}

function moveRows(view: BatchView, { board, rows }: BoardToMend): void {
  const { boards, state, done } = view;
  const what = counted(rows, 'row');
  openForm({
    title: `Move ${what} of “${board}”`,
    content: [
      h(BoardField, { id: 'to-board', label: 'The new board', boards }),
      h('p.note', 'They are sent again with it. What they said before is kept.'),
    ],
    action: `Move and send ${what}`,
    async run(fields) {
      const body = { from: board, to: fields.get('board') };
      const moved = await fetchJson<DecidedBatch>(`${pathOf(state)}/boards`, { body });
      await done(`${counted(moved.rows, 'row')} moved and queued.`);
    },
  });
}
