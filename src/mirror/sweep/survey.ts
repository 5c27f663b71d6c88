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
  let [rows, isWhole] = [0, true];
  for await (const page of walk(client, resource, { signal })) {
    rows += page.rows.length + page.rejects.length;
    for (const row of page.rows) onRow(row);
    isWhole = page.next === null;
    if (clock.monotonic() > until) break;
  }
  return { rows, isWhole };
}
