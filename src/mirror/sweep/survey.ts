import type { Client } from '../../api/client.ts';
import type { Clock } from '../../base/clock.ts';
import type { Comment, Post } from '../../contract/decode.ts';
import type { Resource } from '../../contract/endpoints.ts';
import { walk } from './pages.ts';

/** What the first look at a service shows, before anything is copied. */
export interface Survey {
  posts: ListSurvey;
  comments: ListSurvey;
  /** Names of the boards of the posts that were read, the one with the most posts first. */
  boards: string[];
}

export interface ListSurvey {
  rows: number;
  /** False where the look ended before the list did. */
  isWhole: boolean;
  /** A clause: by what the list is sorted. */
  order: string;
}

/** A look, not a sweep: the person waits for it. */
const LOOK_MS = 10_000;

export async function survey(client: Client, clock: Clock, signal: AbortSignal): Promise<Survey> {
  const boards = new Map<string, number>();
  const count = (row: Post | Comment): void => {
    if ('board' in row) boards.set(row.board.name, (boards.get(row.board.name) ?? 0) + 1);
  };
  const posts = await look(client, 'posts', clock, signal, count);
  const comments = await look(client, 'comments', clock, signal);
  const names = [...boards].sort(([, a], [, b]) => b - a).map(([name]) => name);
  return { posts, comments, boards: names };
}

async function look(
  client: Client,
  resource: Resource,
  clock: Clock,
  signal: AbortSignal,
  onRow: (row: Post | Comment) => void = () => undefined,
): Promise<ListSurvey> {
  const until = clock.monotonic() + LOOK_MS;
  const order = orderWatch();
  let [rows, isWhole] = [0, true];
  for await (const page of walk(client, resource, { signal })) {
    rows += page.rows.length + page.rejects.length;
    for (const row of page.rows) {
      order.add(row);
      onRow(row);
    }
    isWhole = page.next === null;
    if (clock.monotonic() > until) break;
  }
  return { rows, isWhole, order: rows < 2 ? 'too few to show an order' : order.text() };
}

type Row = Pick<Post | Comment, 'id' | 'created'>;

/** What the rows seen so far are sorted by, as a person would say it. */
function orderWatch() {
  const keys = {
    'creation time': ({ created }: Row): number => Date.parse(created),
    id: ({ id }: Row): number => id,
  };
  const names = Object.keys(keys) as (keyof typeof keys)[];
  const steps = new Map(names.map((name) => [name, { rises: false, falls: false }]));
  let before: Row | null = null;
  return {
    add(row: Row): void {
      for (const [name, seen] of steps) {
        const step = before === null ? 0 : keys[name](row) - keys[name](before);
        if (step > 0) seen.rises = true;
        if (step < 0) seen.falls = true;
      }
      before = row;
    },
    text(): string {
      for (const [name, { rises, falls }] of steps)
        if (rises !== falls) return `by ${name}, ${falls ? 'newest' : 'oldest'} first`;
      return 'in no strict order';
    },
  };
}
