import { useEffect, useRef, useState } from 'preact/hooks';
import type { CommentsAnswer, PostAnswer } from '../../http/dashboard/posts.ts';
import type { PostChange, ShownComment, State, TextEdit } from '../../search/browse/post.ts';
import { fetchJson, withQuery } from '../api.ts';
import { counted, date, number, span, time } from '../format.ts';
import { type Child, h, type Props, type VNode } from '../h.ts';
import { timeChart } from '../parts/chart.ts';
import { button } from '../parts/controls.ts';
import {
  banner,
  card,
  facts,
  failure,
  pageHead,
  swatched,
  type Tone,
  tag,
  timeTag,
} from '../parts/layout.ts';
import { outward, prose } from '../parts/prose.ts';
import { SimilarCard } from '../parts/similar.ts';
import { pageOf } from '../shell/page.ts';
import { differences } from '../text.ts';

/** One post with all that is known of it: what it says, what was said to it, and how it came to be what it is. */
export const page = pageOf<PostAnswer>({
  title: ({ post }) => post.title,
  follows: () => true,
  load: ({ parts: [id] }, signal) => fetchJson(`/data/posts/${id}`, { signal }),
  view: ({ answer }) => content(answer),
});

function content(answer: PostAnswer): Child[] {
  const { post, original } = answer;
  return [
    h('p.crumbs', h('a', { id: 'all-posts', href: '/posts' }, 'Posts'), ` / ${post.id}`),
    pageHead(
      post.title || '(no title)',
      lead(answer),
      original === null ? null : h('span.original', outward(original, 'Open the original')),
    ),
    post.deleted === null
      ? null
      : banner(
          'warn',
          h('b', 'Deleted. '),
          `The mirror noticed on ${time(post.deleted)} that the upstream no longer has this post.`,
        ),
    h(
      'div.grid',
      card({ title: 'Description', size: 'two-thirds' }, description(answer)),
      detailsCard(answer),
      votesCard(answer),
      statusCard(answer),
      askersCard(answer),
      h(CommentsCard, answer),
      post.erased === null ? h(SimilarCard, { post: post.id }) : null,
      editsCard(answer),
    ),
  ];
}

function description({ post }: PostAnswer): VNode {
  if (post.erased !== null) return h('p.quiet', 'Its text was erased.');
  return post.content === '' ? h('p.quiet', 'It has a title only.') : prose(post.content);
}

function lead({ post }: PostAnswer): Child {
  const { status, statusColor, votes, comments, board } = post;
  return h(
    'span.post-facts',
    swatched(status, statusColor),
    h('span', board),
    h('span', counted(votes, 'vote')),
    h('span', counted(comments, 'comment')),
  );
}

function detailsCard({ post }: PostAnswer): VNode {
  const { creator, creatorId, creatorIsTeam, board, boardSlug, created, firstSeen } = post;
  const details: [string, Child][] = [
    [
      'Written by',
      [
        h('a', { id: 'by-creator', href: `/people/${creatorId}` }, creator ?? `user ${creatorId}`),
        creatorIsTeam ? [' ', tag('team')] : null,
      ],
    ],
    ['Board', h('a', { id: 'on-board', href: withQuery('/posts', { board: boardSlug }) }, board)],
    ['Written', timeTag(created)],
    ['Mirrored since', timeTag(firstSeen)],
  ];
  return card({ title: 'Details', size: 'third' }, facts(details));
}

/** Whom to ask back, and whom to tell. */
function askersCard({ askers }: PostAnswer): VNode {
  const people = askers.map(({ id, name, email, comments, isAuthor }) =>
    h(
      'li',
      { key: id },
      h('a', { id: `asker-${id}`, dir: 'auto', href: `/people/${id}` }, name ?? `user ${id}`),
      email === null ? null : h('span.note', ` ${email}`),
      isAuthor ? [' ', tag('wrote it')] : null,
      comments > 0 ? h('span.note', ` ${counted(comments, 'comment')}`) : null,
    ),
  );
  return card(
    { title: 'Who asked', note: counted(askers.length, 'person', 'people') },
    h('ul.plain.askers', people),
  );
}

function votesCard({ states, isCut, post }: PostAnswer): VNode {
  const moves = states.filter(({ votes }, i) => i === 0 || votes !== states[i - 1]?.votes);
  const [first] = states;
  const note = isCut ? 'the latest changes' : first ? `watched since ${date(first.at)}` : null;
  if (moves.length < 2)
    return card(
      { title: 'Votes over time', note, size: 'half' },
      h('p.empty', `${counted(post.votes, 'vote')}, and no change since the mirror watches.`),
    );
  const now = { ...(states.at(-1) ?? moves[0]), at: new Date().toISOString() };
  const points = post.deleted === null ? [...moves, now] : moves;
  return card(
    { title: 'Votes over time', note, size: 'half' },
    timeChart({
      title: `Votes of post ${number(post.id)}`,
      unit: 'votes',
      times: points.map(({ at }) => at ?? ''),
      series: [{ label: 'Votes', kind: 'steps', values: points.map(({ votes }) => votes ?? null) }],
    }),
  );
}

/** The comments, the oldest first; more of them at the touch of a button. */
function CommentsCard({ post, comments, nextComments }: PostAnswer): VNode {
  const [more, setMore] = useState<Pick<CommentsAnswer, 'rows' | 'next'>>({ rows: [], next: nextComments });
  const [problem, setProblem] = useState<unknown>(null);
  // The first of the comments that were loaded last has the focus: the person reads on there.
  const first = useRef<HTMLLIElement>(null);
  const [firstId, setFirstId] = useState<number>();
  useEffect(() => first.current?.focus({ preventScroll: true }), [firstId]);
  const load = async (): Promise<void> => {
    try {
      const path = withQuery(`/data/posts/${post.id}/comments`, { cursor: more.next });
      const found = await fetchJson<CommentsAnswer>(path);
      setFirstId(found.rows[0]?.id);
      setMore({ rows: [...more.rows, ...found.rows], next: found.next });
      setProblem(null);
    } catch (error) {
      setProblem(error);
    }
  };
  const rows = [...comments.rows, ...more.rows];
  return card(
    { title: 'Comments', note: comments.total > 0 ? counted(comments.total, 'comment') : null },
    rows.length > 0
      ? h(
          'ol.comments',
          { 'aria-label': 'Comments' },
          rows.map((row) => comment(row, row.id === firstId ? { ref: first, tabIndex: -1 } : {})),
        )
      : h('p.empty', 'No comments yet.'),
    h(
      'div',
      { 'aria-live': 'polite' },
      problem === null ? null : failure(problem),
      more.next === null ? null : button(problem === null ? 'More comments' : 'Try again', () => void load()),
    ),
  );
}

function comment(given: ShownComment, attributes: Props<'li'>): VNode {
  const { creator, creatorId, isTeam, internal, highlighted, kind, created, content, likes, status } = given;
  const tags: [boolean, string, Tone | null][] = [
    [isTeam === 1, 'team', null],
    [internal === 1, 'internal', 'warn'],
    [highlighted === 1, 'highlighted', 'good'],
    [kind !== 'reply' && status === null, kind.replaceAll('_', ' '), null],
  ];
  return h(
    'li',
    { key: given.id, class: internal === 1 ? 'internal' : null, ...attributes },
    h(
      'p.comment-head',
      h('b', { dir: 'auto' }, h('a', { href: `/people/${creatorId}` }, creator ?? `user ${creatorId}`)),
      tags.map(([is, text, tone]) => is && tag(text, tone)),
      h('span.quiet', timeTag(created)),
      likes > 0 ? h('span.quiet', counted(likes, 'like')) : null,
    ),
    statusOf(status),
    content === '' ? null : prose(content),
  );
}

/** The API leaves open what it attaches to a change of status: a name is shown, whatever else it is. */
function statusOf(status: string | null): Child {
  if (status === null) return null;
  const value: unknown = JSON.parse(status);
  const of = (name: string): unknown => Reflect.get(Object(value), name);
  const name = typeof value === 'string' ? value : of('name');
  const color = of('color');
  return h(
    'p.comment-status',
    'Changed the status',
    typeof name === 'string' ? [' to ', swatched(name, typeof color === 'string' ? color : null)] : null,
  );
}

interface Stage {
  at: string;
  what: Child;
}

/** When it came into each status, was moved to another board, was deleted and came back. */
function statusCard({ states }: PostAnswer): VNode {
  const stages = states.flatMap((state, i) => stagesAt(state, states[i - 1]));
  const ends = [...stages.slice(1).map(({ at }) => Date.parse(at)), Date.now()];
  const rows = stages.map(({ at, what }, i) =>
    h(
      'li',
      h('div', what),
      h(
        'span.quiet',
        timeTag(at, i === 0 ? `seen ${time(at)}` : time(at)),
        `, for ${span((ends[i] ?? Date.now()) - Date.parse(at))}`,
      ),
    ),
  );
  return card(
    { title: 'Status over time', size: 'half' },
    h('ol.timeline', { 'aria-label': 'Status over time' }, ...rows.reverse()),
  );
}

function stagesAt(state: State, before: State | undefined): Stage[] {
  const stages: Stage[] = [];
  const add = (what: Child): void => {
    stages.push({ at: state.at, what });
  };
  if (!before || before.status !== state.status)
    add(swatched(state.status ?? 'A status no longer known', state.statusColor));
  if (before && before.board !== state.board) add(['Moved to ', h('b', state.board ?? 'another board')]);
  if (before && before.deleted !== state.deleted) add(state.deleted ? 'Deleted' : 'Came back');
  return stages;
}

/** What was changed in its texts, with what went crossed out and what came marked. */
function editsCard({ edits, post }: PostAnswer): VNode | null {
  if (edits.length === 0 || post.erased !== null) return null;
  return card(
    { title: 'History of edits', note: counted(edits.length, 'edit') },
    h('ol.timeline', { 'aria-label': 'History of edits' }, ...edits.map(editRow)),
  );
}

function editRow({ at, title, content }: TextEdit): VNode {
  return h(
    'li',
    h('span.quiet', timeTag(at)),
    title && h('p.text.diff', { dir: 'auto' }, h('b', 'Title: '), diff(title)),
    content && h('p.text.diff', { dir: 'auto' }, diff(content)),
  );
}

function diff({ from, to }: PostChange): Child {
  return differences(from, to).map(({ kind, text }) =>
    kind === 'same' ? text : h(kind === 'gone' ? 'del' : 'ins', text),
  );
}
