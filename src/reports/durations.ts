import type { Packed } from '../mirror/index/columns.ts';
import { setOf } from '../mirror/index/select.ts';
import { REPLY_COLUMNS } from './lists.ts';
import type { ReportRows } from './report.ts';
import type { KnownStatus, ReportReader } from './store.ts';
import { LEAST_POSTS, survivalOf, type Times } from './survival.ts';
import {
  asOfNow,
  firstReplies,
  flagged,
  numberLists,
  placesById,
  placesOf,
  quantile,
  secondOf,
  selected,
  type TallyQuestion,
  weekFinder,
} from './tally.ts';
import { countIfRead } from './watching.ts';

/** Reports about how long something takes. What has not ended yet counts as lasting at least as long as the mirror saw it. */

/** Times in groups, such as one a week. */
function timesIn(count: number) {
  const [entered, left, ended] = [numberLists(count), numberLists(count), numberLists(count)];
  return {
    add(group: number, age: number, leftAt: number, isEnded: boolean): void {
      entered.add(group, age);
      left.add(group, leftAt);
      ended.add(group, isEnded ? 1 : 0);
    },
    of: (group: number): Times => ({
      entered: entered.of(group),
      left: left.of(group),
      ended: Uint8Array.from(ended.of(group)),
    }),
  };
}

function withSeconds({ median, atLeast, p90 }: ReturnType<typeof survivalOf>) {
  const whole = (seconds: number | null): number | null => (seconds === null ? null : Math.round(seconds));
  return { median: whole(median), at_least: whole(atLeast), p90: whole(p90) };
}

/** Posts of customers by the week they arrived in, or by board, and the first reply to each. */
export async function firstReply(reader: ReportReader, asked: TallyQuestion): Promise<ReportRows> {
  const { weeks, now, byBoard, board } = asked;
  const facts = await reader.columns({
    posts: ['id', 'created', 'board', 'status', 'creator', 'gone'],
    comments: REPLY_COLUMNS,
  });
  const { posts, comments, team, boards } = facts;
  const replies = firstReplies(posts, comments, team);
  const [wanted, isTeam] = [selected(posts, asked), setOf(team)];
  const shown = board === null ? boards : boards.filter(({ id }) => id === board);
  const boardAt = placesById(shown);
  const weekAt = weekFinder(weeks);
  const size = byBoard ? shown.length + 1 : weeks.length + 1;
  const [arrived, answered, times] = [new Int32Array(size), new Int32Array(size), timesIn(size)];
  const looked = Math.min(now, asked.lastComments ?? now);
  for (let n = 0; n < wanted.length; n++) {
    const i = wanted[n] ?? 0;
    if (isTeam(posts.creator[i] ?? 0)) continue;
    const [at, replied] = [posts.created[i] ?? 0, replies[i] ?? 0];
    const isAnswered = replied !== Number.POSITIVE_INFINITY;
    const own = byBoard ? boardAt(posts.board[i] ?? 0) : weekAt(at);
    if (own < 0) continue;
    // A reply can be older than its post where two posts were made one.
    const left = Math.max(0, secondOf(isAnswered ? replied : looked) - secondOf(at));
    for (const group of [own, size - 1]) {
      arrived[group] = (arrived[group] ?? 0) + 1;
      if (isAnswered) answered[group] = (answered[group] ?? 0) + 1;
      if (isAnswered || looked > at) times.add(group, 0, left, isAnswered);
    }
  }
  const row = (group: number) => {
    const [all, some] = [arrived[group] ?? 0, answered[group] ?? 0];
    return {
      posts: all,
      answered: some,
      share: all === 0 ? null : some / all,
      ...withSeconds(survivalOf(times.of(group))),
    };
  };
  if (byBoard) {
    const lines = shown.map(({ name }, i) => ({ board: name, ...row(i) })).filter((line) => line.posts !== 0);
    return {
      rows: lines.length > 1 ? [...lines, { board: 'all boards', ...row(size - 1) }] : lines,
      notes: [],
    };
  }
  const usual = usualWait(times.of(size - 1));
  const rows = weeks.map(({ date, begins, ends, partial }, week) => {
    const isYoung = arrived[week] !== 0 && usual !== null && Date.parse(ends) + usual * 1000 > looked;
    const remarks = [partial, isYoung ? 'not finished' : null].filter((part) => part !== null);
    const figures = row(week);
    const posts = countIfRead(asked.last ?? asked.observed, begins, figures.posts);
    return { week: date, ...figures, posts, partial: remarks.join(', ') || null };
  });
  const isMarked = rows.some(({ partial }) => partial?.includes('not finished'));
  return { rows, notes: isMarked ? [YOUNG] : [] };
}

const YOUNG =
  'A week is not finished while its posts are younger than the time in which nine of ten replies came: its share can still grow.';

/** The time in which nine of ten of the replies that came had come. */
function usualWait({ left, ended }: Times): number | null {
  return quantile(
    left.filter((_, i) => ended[i] === 1),
    0.9,
  );
}

/** How long posts stay in each status, or in each by board. */
export async function timeInStatus(reader: ReportReader, asked: TallyQuestion): Promise<ReportRows> {
  const { since, until, observed, last, board, byBoard } = asked;
  const facts = await reader.columns({
    posts: ['id', 'created', 'board', 'status', 'version', 'gone'],
    versions: ['post', 'at', 'status'],
  });
  const { posts, statuses, boards } = facts;
  const known: { id: number; name: string | null }[] = byBoard
    ? boards.filter(({ id }) => board === null || id === board)
    : [{ id: -1, name: null }];
  const boardAt = byBoard ? placesById(known) : () => 0;
  const statusAt = placesById(statuses);
  const size = known.length * statuses.length;
  const cellOf = (post: number, status: number): number =>
    boardAt(posts.board[post] ?? 0) * statuses.length + statusAt(status);
  const there = selected(posts, asOfNow(asked));
  const isThere = flagged(posts.rows, there);
  const [nowIn, ended, times] = [new Int32Array(size), new Int32Array(size), timesIn(size)];
  for (let n = 0; n < there.length; n++) {
    const i = there[n] ?? 0;
    const cell = cellOf(i, posts.status[i] ?? 0);
    if (cell >= 0) nowIn[cell] = (nowIn[cell] ?? 0) + 1;
  }
  const first = observed === null || last === null ? null : firstStatus(facts, isThere, observed);
  if (first !== null && observed !== null && last !== null) {
    const window = { begins: Math.max(since, observed), ends: Math.min(until, last, asked.now) };
    walkStays(facts, isThere, (post, status, began, left) => {
      const isSeen = began >= observed || status === first.status;
      // Not seen to begin: counted as if it had begun with the first look, it lasted at least so long.
      const start = isSeen ? began : observed;
      const [enters, leaves] = [Math.max(start, window.begins), Math.min(left, window.ends)];
      if (leaves < enters || start > window.ends) return;
      const isEnd = left <= window.ends && left < until;
      const cell = cellOf(post, status);
      // One that ended as the period began was not watched in it.
      if (leaves === enters && enters > start) return;
      if (isEnd) ended[cell] = (ended[cell] ?? 0) + 1;
      times.add(cell, (enters - start) / 1000, (leaves - start) / 1000, isEnd && isSeen);
    });
  }
  const rows = known
    .flatMap(({ name }, at) =>
      statuses.map((status, i) => ({ board: name, ...stayRow(at * statuses.length + i, status) })),
    )
    .filter((row) => row.posts + row.now_in_it > 0);
  return { rows, notes: first?.status == null ? [] : [firstNote(statuses, first.status)] };

  function stayRow(cell: number, { name }: KnownStatus) {
    const survival = survivalOf(times.of(cell));
    return {
      status: name,
      posts: survival.posts,
      ...withSeconds(survival),
      ended: ended[cell] ?? 0,
      now_in_it: nowIn[cell] ?? 0,
    };
  }
}

function firstNote(statuses: readonly KnownStatus[], id: number): string {
  const name = statuses.find((status) => status.id === id)?.name ?? String(id);
  return `New posts begin as ${name}: a post that was ${name} when the mirror first saw it counts as ${name} since it was made.`;
}

/**
 * A stay of a post in a status. It began when it was seen to begin; for the first status that is known, the day the post was made.
 * It left at infinity where it is not over.
 */
type TellStay = (post: number, status: number, began: number, left: number) => void;

type Posts = Packed<'id' | 'created' | 'status' | 'version'>;
type Versions = Packed<'post' | 'at' | 'status'>;
interface Facts {
  posts: Posts;
  versions: Versions;
}

/** No status has this number. */
const NONE = -1;

/** Every stay of the wanted posts in a status, in the order of time for each post. The versions of a post are side by side. */
function walkStays({ posts, versions }: Facts, isWanted: (post: number) => boolean, tell: TellStay): void {
  const { created, status, version } = posts;
  const isTold = new Uint8Array(posts.rows);
  const placeOf = placesOf(posts.id);
  let [last, place, current, began] = [-1, -1, NONE, 0];
  const step = (next: number, at: number): void => {
    if (current !== NONE && current !== next) {
      tell(place, current, began, at);
      began = at;
    }
    current = next;
  };
  const end = (): void => {
    step(status[place] ?? 0, version[place] ?? 0);
    tell(place, current, began, Number.POSITIVE_INFINITY);
    isTold[place] = 1;
  };
  for (let v = 0; v < versions.rows; v++) {
    const id = versions.post[v] ?? 0;
    if (id !== last) {
      if (place >= 0) end();
      const found = placeOf(id);
      [last, place, current] = [id, found >= 0 && isWanted(found) ? found : -1, NONE];
      began = created[place] ?? 0;
    }
    if (place >= 0) step(versions.status[v] ?? 0, versions.at[v] ?? 0);
  }
  if (place >= 0) end();
  for (let i = 0; i < posts.rows; i++)
    if (isTold[i] === 0 && isWanted(i)) tell(i, status[i] ?? 0, created[i] ?? 0, Number.POSITIVE_INFINITY);
}

/** The status in which most of the posts made while the mirror watched were first seen; null where too few were made, or none is usual. */
function firstStatus(
  facts: Facts,
  isWanted: (post: number) => boolean,
  observed: number,
): { status: number | null } {
  const { posts, versions } = facts;
  const placeOf = placesOf(posts.id);
  const counts = new Map<number, number>();
  const isSeen = new Uint8Array(posts.rows);
  let made = 0;
  const see = (post: number, status: number): void => {
    if (post < 0 || isSeen[post] === 1 || (posts.created[post] ?? 0) < observed || !isWanted(post)) return;
    isSeen[post] = 1;
    made++;
    counts.set(status, (counts.get(status) ?? 0) + 1);
  };
  for (let v = 0; v < versions.rows; v++) see(placeOf(versions.post[v] ?? 0), versions.status[v] ?? 0);
  for (let i = 0; i < posts.rows; i++) see(i, posts.status[i] ?? 0);
  const [most] = [...counts].sort((a, b) => b[1] - a[1]);
  return { status: made >= LEAST_POSTS && most && most[1] * 2 > made ? most[0] : null };
}
