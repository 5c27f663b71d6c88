import { calendarOf } from './moment.ts';
import type { ReportReader } from './store.ts';
import { firstReplies, placesOf } from './tally.ts';

/** In the order in which the overview needs them. */
const POSTS = [
  'id',
  'created',
  'board',
  'votes',
  'version',
  'gone',
  'status',
  'comments',
  'creator',
] as const;
const VERSIONS = ['post', 'at', 'votes', 'board', 'status'] as const;
const COMMENTS = ['post', 'created', 'creator', 'gone', 'reply'] as const;

/**
 * Reads and works out what most reports begin with, and keeps it. Of a million posts that takes a third of a second, which a browser needs
 * to load a page. A step takes some milliseconds, and what is asked meanwhile comes after one.
 */
export async function* readAhead(reader: ReportReader): AsyncGenerator<void> {
  yield void calendarOf('UTC');
  for (const name of POSTS) yield void (await reader.columns({ posts: [name] }));
  for (const name of VERSIONS) yield void (await reader.columns({ versions: [name] }));
  for (const name of COMMENTS) yield void (await reader.columns({ comments: [name] }));
  const { posts, comments, versions, team } = await reader.columns({
    posts: ['id'],
    comments: COMMENTS,
    versions: ['post'],
  });
  yield void placesOf(posts.id);
  yield void placesOf(versions.post);
  yield void firstReplies(posts, comments, team);
}
