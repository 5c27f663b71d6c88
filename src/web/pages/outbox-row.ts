import { useState } from 'preact/hooks';
import type { CreateOutcomeName } from '../../contract/endpoints.ts';
import type { Boards, OutboxDecision, OutboxDetail } from '../../http/dashboard/outbox.ts';
import type { AttemptRow, EditRow, OutboxRow, OutboxState, PostText } from '../../outbox/decide/types.ts';
import type { ViewedPost } from '../../outbox/store/view.ts';
import { fetchJson, withQuery } from '../api.ts';
import { lasted, number, time, withDates } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { STATES, stateTag } from '../parts/batch.ts';
import { BoardField } from '../parts/board-picker.ts';
import { button, field } from '../parts/controls.ts';
import { openForm } from '../parts/dialog.ts';
import { banner, card, facts, pageHead, timeTag } from '../parts/layout.ts';
import { useOutcome } from '../parts/load.ts';
import { outward } from '../parts/prose.ts';
import { type TableColumn, tableCard } from '../parts/table.ts';
import { pageOf } from '../shell/page.ts';
import { differences } from '../text.ts';

/** One row: what it says, what became of it, and what a person can decide about it. */
export const page = pageOf<OutboxDetail>({
  title: 'Outbox row',
  follows: () => true,
  load: ({ parts: [id] }, signal) => fetchJson(`/data/outbox/${Number(id)}`, { signal }),
  view({ answer, place }) {
    const { said, say } = useOutcome();
    const done: Done = async (sentence) => {
      await place.reload();
      say(banner('good', sentence));
    };
    return [said, h('div.stacked', content(answer, done))];
  },
});

type Done = (sentence: string) => Promise<void>;

function content(detail: OutboxDetail, done: Done): Child[] {
  const { row, attempts } = detail;
  const source = row.line === null ? row.batch : `${row.batch}, line ${row.line}`;
  const batch = h('a', { id: 'batch', href: withQuery('/outbox', { batch: row.batch }) }, source);
  return [
    pageHead(
      row.title || `Row ${row.id}`,
      ['Row ', row.id, ' of ', batch, ', added ', timeTag(row.created_at)],
      stateTag(row.state),
    ),
    doubled(detail),
    main(detail, done),
    attemptsCard(attempts),
    editsCard(detail),
  ];
}

function doubled({ row, posts }: OutboxDetail): Child {
  if (row.duplicate_of === null) return null;
  const others = row.candidates.filter((id) => id !== row.post_id && id !== row.duplicate_of);
  const link = (id: number | null): Child =>
    outward(posts.find((post) => post.id === id)?.url ?? null, `post ${id}`);
  return banner(
    'bad',
    h('b', 'A second post exists: '),
    link(row.duplicate_of),
    others.flatMap((id) => [', and perhaps ', link(id)]),
    ' came from the same row, by an attempt whose answer was lost. Delete it upstream; the mirror follows.',
  );
}

function main(detail: OutboxDetail, done: Done): VNode {
  const { row } = detail;
  const why = row.state === 'confirmed' ? null : reasonOf(detail);
  if (row.state === 'uncertain') return uncertain(detail, done);
  return card(
    { title: STATES[row.state].name },
    why,
    facts([
      ['Title', row.title || '(erased)'],
      ['Text', textAsSent(row) || '–'],
      ['Board', row.board],
      [
        'In the name of',
        row.email === null ? 'you, the owner of the token' : `${row.full_name} (${row.email})`,
      ],
      ...became(detail),
    ]),
    decisions(detail, done),
  );
}

/** In words; what the upstream said itself, where that is more, on demand. */
function reasonOf({ row, reason }: OutboxDetail): Child {
  if (reason === null) return null;
  const raw = row.last_error === reason ? null : row.last_error;
  return [
    h('p', withDates(reason)),
    raw && h('details', h('summary', 'What the service answered'), h('pre.raw', raw)),
  ];
}

const FIELD_NAMES: Record<keyof PostText, string> = {
  title: 'Title',
  content: 'Text',
  board: 'Board',
  email: "Customer's e-mail",
  full_name: "Customer's name",
};

/** What the row said before each time a person changed it. */
function editsCard({ row, edits }: OutboxDetail): Child {
  if (edits.length === 0) return null;
  const after = (i: number): PostText => edits[i + 1]?.before ?? row;
  const changed = ({ before }: EditRow, i: number): Child => {
    const fields = Object.keys(FIELD_NAMES) as (keyof PostText)[];
    return fields
      .filter((name) => before[name] !== after(i)[name])
      .map((name) =>
        h(
          'div',
          `${FIELD_NAMES[name]}: `,
          h('del', before[name] || '–'),
          ' → ',
          h('ins', after(i)[name] || '–'),
        ),
      );
  };
  return tableCard(
    { title: 'Changes by people', note: 'What it said before is kept' },
    {
      columns: [
        { head: 'When', cell: ({ edit }) => h('span.nowrap', timeTag(edit.edited_at)) },
        { head: 'What', cell: ({ edit, i }) => changed(edit, i) },
      ],
      rows: edits.map((edit, i) => ({ edit, i })),
    },
  );
}

/** Other words for the row, which is sent with them. */
async function openEditor({ row }: OutboxDetail, done: Done): Promise<void> {
  const { boards } = await fetchJson<Boards>('/data/outbox/boards');
  const isKnown = boards.some(({ slug }) => slug === row.board);
  const input = (name: keyof PostText, type = 'text'): VNode =>
    h('input', { name, type, autocomplete: 'off', dir: 'auto', defaultValue: row[name] ?? '' });
  openForm({
    title: `Change row ${row.id}`,
    content: [
      isKnown ? null : h('p.note', `The mirror knows no board “${row.board}”.`),
      h(BoardField, { id: 'edit-board', label: 'Board', boards, chosen: row.board }),
      field('Title', input('title')),
      field('Text', h('textarea', { name: 'content', rows: 5, dir: 'auto', defaultValue: row.content })),
      h(
        'div.pair',
        field("Customer's e-mail", input('email', 'email')),
        field("Customer's name", input('full_name')),
      ),
      row.state === 'uncertain'
        ? banner(
            'warn',
            'Only send it when you are sure that it was never created: else it will be there twice.',
          )
        : null,
      h('p.note', 'It is sent with these words. What it said before is kept.'),
    ],
    action: 'Save and send',
    async run(fields) {
      const body = { ...Object.fromEntries(fields), retry: true };
      await fetchJson(`/data/outbox/${row.id}/edit`, { body });
      await done('It is changed, queued, and will be sent in its turn.');
    },
  });
}

/** The mirror has a new post with the next head pass; until then the upstream's own page is what a link can lead to. */
function became({ row, posts, original }: OutboxDetail): [string, Child][] {
  if (row.post_id === null) return [];
  const isMirrored = posts.some((post) => post.id === row.post_id);
  const link = isMirrored
    ? h('a', { id: 'post', href: `/posts/${row.post_id}` }, `Post ${row.post_id}`)
    : `Post ${row.post_id}, which the mirror has not read yet`;
  const found: [string, Child][] = row.matched === null ? [] : [['Matched', row.matched]];
  return [['Created as', [link, ' ', original && outward(original, '(open the original)')]], ...found];
}

function uncertain(detail: OutboxDetail, done: Done): VNode {
  const { row, posts } = detail;
  const candidates = posts.filter((post) => row.candidates.includes(post.id));
  return card(
    { title: 'Was this post created?', note: detail.reason && withDates(detail.reason) },
    compare(row, candidates, (post: ViewedPost) => thisPost(detail, post, done)),
    candidates.length > 0
      ? null
      : h('p.note', 'No post in the mirror looks like it. It may appear with the next sweep.'),
    decisions(detail, done),
  );
}

/** What an attempt came to, in the words of the outbox. */
const OUTCOMES: Record<CreateOutcomeName, string> = {
  confirmed: 'Sent',
  rejected: 'Rejected',
  unknown: 'No clear answer',
  unauthorised: 'Not permitted',
  throttled: 'Asked to wait',
  'not-sent': 'Not sent',
};

const ATTEMPTS: TableColumn<AttemptRow>[] = [
  { head: 'No.', cell: ({ n }) => number(n) },
  { head: 'Started', cell: ({ started_at }) => h('span.nowrap', timeTag(started_at)) },
  { head: 'Took', cell: ({ started_at, ended_at }) => lasted(started_at, ended_at) },
  { head: 'Outcome', cell: ({ outcome }) => (outcome === null ? 'In progress' : OUTCOMES[outcome]) },
  { head: 'HTTP', cell: ({ http_status }) => http_status ?? '–' },
  { head: 'Error', cell: ({ error }) => (error === null ? '–' : withDates(error)) },
];

function attemptsCard(rows: readonly AttemptRow[]): VNode {
  return tableCard(
    { title: 'Attempts', note: 'Every request that was made for it' },
    { columns: ATTEMPTS, rows, empty: 'It has not been sent yet.' },
  );
}

/** Our row and the posts it may be, side by side; where a post differs from the row, it is marked. */
function compare(row: OutboxRow, posts: readonly ViewedPost[], action: (post: ViewedPost) => Child): VNode {
  return h('div.compare', own(row), ...posts.map((post) => candidate(row, post, action(post))));
}

/** With the line of its reference mark. */
function textAsSent({ content, mark }: OutboxRow): string {
  return [content, mark].filter(Boolean).join('\n\n');
}

function own(row: OutboxRow): VNode {
  return h(
    'article.own',
    { 'aria-label': 'Our row' },
    h('h3', 'What we sent'),
    facts([
      ['Title', row.title],
      ['Text', textAsSent(row) || '–'],
      ['Board', row.board],
      ['By', row.email ?? 'you, the owner of the token'],
      ['First sent', row.attempts > 0 ? time(row.first_sent_at) : '–'],
    ]),
  );
}

function candidate(row: OutboxRow, post: ViewedPost, action: Child): VNode {
  const by = post.creator_email ?? post.creator_name ?? 'somebody';
  const isOther = row.email !== null && row.email.toLowerCase() !== by.toLowerCase();
  return h(
    'article',
    { 'aria-label': `Post ${post.id}` },
    h('h3', outward(post.url, `Post ${post.id}`), post.deleted ? ' (deleted upstream)' : null),
    facts([
      ['Title', markDifference(post.title, row.title)],
      ['Text', post.content === '' ? '–' : markDifference(post.content, textAsSent(row))],
      ['Board', markDifference(post.board, row.board)],
      ['By', isOther ? h('mark', by) : by],
      ['Created', time(post.created)],
    ]),
    action ? h('div.actions', action) : null,
  );
}

/** A text with the words marked that another one does not have there. */
function markDifference(text: string, other: string): Child {
  return differences(other, text)
    .filter(({ kind }) => kind !== 'gone')
    .map(({ kind, text: piece }) => (kind === 'new' ? h('mark', piece) : piece));
}

interface Choice {
  label: string;
  text: string;
  isDangerous?: boolean;
  done: string;
}

const APPROVE: Choice = {
  label: 'Approve',
  text: 'An agent wrote it. It is sent as it stands here, in its turn.',
  done: 'It is queued and will be sent in its turn.',
};

const RETRY: Choice = {
  label: 'Send again',
  text: 'The row is queued, and is sent in its turn.',
  done: 'It is queued and will be sent in its turn.',
};

const CANCEL: Choice = {
  label: 'Cancel',
  text: 'It will not be sent. The row stays here, and can be sent later.',
  isDangerous: true,
  done: 'It is cancelled.',
};

/** The same decision in the words that suit the state. */
const CHOICES: Record<'approve' | 'retry' | 'cancel', Partial<Record<OutboxState, Choice>>> = {
  approve: {},
  retry: {
    uncertain: {
      ...RETRY,
      label: 'It was never created: send again',
      text: 'Only do this when you are sure that none of the posts upstream is this one: else it will be there twice.',
    },
  },
  cancel: {
    uncertain: {
      ...CANCEL,
      text: 'It will not be sent again. If it was created after all, the post upstream stays as it is.',
    },
  },
};

/** The decisions there are about a row, each asked once more before it is taken. */
function decisions(detail: OutboxDetail, done: Done): Child {
  const { row, can } = detail;
  if (row.erased_at !== null) return h('p.note', 'Its text was erased: it cannot be sent again.');
  const choose = (decision: keyof typeof CHOICES, usual: Choice): Child => {
    if (!can[decision]) return null;
    const choice = CHOICES[decision][row.state] ?? usual;
    const look = choice.isDangerous ? 'danger' : null;
    return button(choice.label, () => askFirst(row.id, decision, choice, done), {
      id: decision,
      class: look,
    });
  };
  return [
    can.resolve ? h(ByNumber, { id: row.id, done }) : null,
    h(
      'div.actions',
      can.edit ? button('Change and send', () => void openEditor(detail, done), { id: 'edit' }) : null,
      choose('approve', APPROVE),
      choose('retry', RETRY),
      choose('cancel', CANCEL),
    ),
  ];
}

function askFirst(id: number, decision: OutboxDecision, choice: Choice, done: Done, body: object = {}): void {
  openForm({
    title: choice.label,
    content: choice.text,
    action: choice.label,
    isDangerous: choice.isDangerous ?? false,
    async run() {
      await fetchJson(`/data/outbox/${id}/${decision}`, { body });
      await done(choice.done);
    },
  });
}

/** The button under a candidate; one that is another row's outcome already cannot be this one's too. */
function thisPost({ row, can }: OutboxDetail, post: ViewedPost, done: Done): Child {
  if (!can.resolve) return null;
  if (post.confirms !== null && post.confirms !== row.id)
    return h(
      'p.note',
      'It is the outcome of ',
      h('a', { href: `/outbox/${post.confirms}` }, `row ${post.confirms}`),
      '.',
    );
  const attributes = { class: 'main', id: `is-${post.id}`, 'aria-label': `It is this post: ${post.id}` };
  const choose = button('It is this post', () => resolveAs(row.id, post.id, done), attributes);
  return row.baseline.includes(post.id) ? [h('p.note', 'It was turned down before.'), choose] : choose;
}

function resolveAs(id: number, post: number, done: Done): void {
  const choice = {
    label: `It is post ${post}`,
    text: 'The row is confirmed by that post, and nothing more is sent.',
    done: `The row is confirmed by post ${post}.`,
  };
  askFirst(id, 'resolve', choice, done, { post });
}

/** For a post that somebody found upstream and the mirror did not think of. */
function ByNumber({ id, done }: { id: number; done: Done }): VNode {
  const [number, setNumber] = useState('');
  const [trouble, setTrouble] = useState<Child>(null);
  const choose = (): void => {
    const post = Number(number);
    if (number !== '' && Number.isSafeInteger(post) && post >= 0) resolveAs(id, post, done);
    else setTrouble(banner('warn', 'Give the number of the post, such as 1234.'));
  };
  const input = h('input', {
    id: 'post-number',
    inputMode: 'numeric',
    autocomplete: 'off',
    size: 12,
    value: number,
    onInput: ({ currentTarget }) => setNumber(currentTarget.value),
  });
  return h(
    'details.below',
    h('summary', 'It is another post'),
    h(
      'div.filters',
      field('Number of the post', input),
      button('It is that post', choose, { id: 'is-other' }),
    ),
    trouble,
  );
}
