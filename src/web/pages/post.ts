import type { CommentsAnswer, PostAnswer } from '../../http/dashboard/posts.ts';
import type { Change, Edit, ShownComment, State } from '../../store/browse/post.ts';
import { fetchJson, withQuery } from '../api.ts';
import { timeChart } from '../chart.ts';
import { type Child, fill, h } from '../dom.ts';
import { counted, date, number, span, time } from '../format.ts';
import { keepDrawn, type Page, type PageContext } from '../page.ts';
import {
  banner,
  button,
  card,
  facts,
  failure,
  liveRegion,
  outward,
  pageHead,
  prose,
  swatched,
  type Tone,
  tag,
  timeTag,
} from '../parts.ts';
import { similarCard } from '../similar.ts';
import { differences } from '../text.ts';

/** One post with all that is known of it: what it says, what was said to it, and how it came to be what it is. */
export const page: Page = {
  title: 'Post',
  async show(context) {
    const [id = ''] = context.parts;
    const load = (): Promise<PostAnswer> => fetchJson(`/data/posts/${id}`, { signal: context.signal });
    const body = h('div');
    await keepDrawn(context, body, load, (answer, signal) => {
      document.title = `${answer.post.title} · Feedback Mirror`;
      return content(answer, context, signal);
    });
    context.root.append(body);
  },
};

function content(answer: PostAnswer, context: PageContext, signal: AbortSignal): Child[] {
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
      card(
        { title: 'Description', size: 'two-thirds' },
        post.erased === null
          ? post.content === ''
            ? h('p.quiet', 'It has a title only.')
            : prose(post.content)
          : h('p.quiet', 'Its text was erased.'),
      ),
      detailsCard(answer),
      votesCard(answer, signal),
      statusCard(answer),
      commentsCard(answer, context),
      post.erased === null ? similarCard(post.id, signal) : null,
      editsCard(answer),
    ),
  ];
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

function detailsCard({ post }: PostAnswer): HTMLElement {
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
    ['In the mirror since', timeTag(firstSeen)],
  ];
  return card({ title: 'Details', size: 'third' }, facts(details));
}

function votesCard({ states, isCut, post }: PostAnswer, signal: AbortSignal): HTMLElement {
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
    timeChart(
      {
        title: `Votes of post ${number(post.id)}`,
        unit: 'votes',
        times: points.map(({ at }) => at ?? ''),
        series: [{ label: 'votes', kind: 'steps', values: points.map(({ votes }) => votes ?? null) }],
      },
      signal,
    ),
  );
}

/** The comments, the oldest first; more of them at the touch of a button. */
function commentsCard({ post, comments, nextComments }: PostAnswer, { signal }: PageContext): HTMLElement {
  const list = h('ol.comments', { 'aria-label': 'Comments' }, ...comments.rows.map(comment));
  const rest = liveRegion();
  const offer = (next: string | null): void => {
    const more = next === null ? null : button('More comments', () => void load(next));
    fill(rest, more);
  };
  const load = async (cursor: string): Promise<void> => {
    try {
      const path = withQuery(`/data/posts/${post.id}/comments`, { cursor });
      const { rows, next } = await fetchJson<CommentsAnswer>(path, { signal });
      list.dataset.more = '';
      const first = comment(rows[0]);
      list.append(first, ...rows.slice(1).map(comment));
      first.tabIndex = -1;
      first.focus({ preventScroll: true });
      offer(next);
    } catch (error) {
      if (signal.aborted) return;
      fill(
        rest,
        failure(error),
        button('Try again', () => void load(cursor)),
      );
    }
  };
  offer(nextComments);
  return card(
    { title: 'Comments', note: comments.total > 0 ? counted(comments.total, 'comment') : null },
    comments.rows.length > 0 ? list : h('p.empty', 'No comments yet.'),
    rest,
  );
}

function comment(given: ShownComment | undefined): HTMLElement {
  if (!given) return h('li');
  const { creator, isTeam, internal, highlighted, kind, created, content, likes, status } = given;
  const tags: [boolean, string, Tone | null][] = [
    [isTeam === 1, 'team', null],
    [internal === 1, 'internal', 'warn'],
    [highlighted === 1, 'highlighted', 'good'],
    [kind !== 'reply' && status === null, kind.replaceAll('_', ' '), null],
  ];
  return h(
    'li',
    { class: internal === 1 ? 'internal' : null },
    h(
      'p.comment-head',
      h('b', { dir: 'auto' }, creator ?? 'Somebody'),
      ...tags.map(([is, text, tone]) => is && tag(text, tone)),
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
function statusCard({ states }: PostAnswer): HTMLElement {
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
function editsCard({ edits, post }: PostAnswer): HTMLElement | null {
  if (edits.length === 0 || post.erased !== null) return null;
  return card(
    { title: 'History of edits', note: counted(edits.length, 'edit') },
    h('ol.timeline', { 'aria-label': 'History of edits' }, ...edits.map(editRow)),
  );
}

function editRow({ at, title, content }: Edit): HTMLElement {
  return h(
    'li',
    h('span.quiet', timeTag(at)),
    title && h('p.text.diff', { dir: 'auto' }, h('b', 'Title: '), diff(title)),
    content && h('p.text.diff', { dir: 'auto' }, diff(content)),
  );
}

function diff({ from, to }: Change): Child {
  return differences(from, to).map(({ kind, text }) =>
    kind === 'same' ? text : h(kind === 'gone' ? 'del' : 'ins', {}, text),
  );
}
