import type { FastifyInstance } from 'fastify';
import type { RecentPost, RecentPosts } from '../store/browse/browse.ts';
import { textOf } from './dashboard/parameters.ts';
import { originalOf } from './dashboard/posts.ts';
import { FEED_PATH } from './guard.ts';

export interface FeedDeps {
  posts: RecentPosts;
  /** Where the upstream's own pages are; null where it has none. */
  upstream: string | null;
  /** Keeps the entries of two mirrors apart in one reader. */
  mirrorId: string;
}

const ENTRIES = 50;

/** `/feeds/posts.atom`: the newest posts for feed readers, without the people who wrote them. */
export function addFeeds(app: FastifyInstance, { posts, upstream, mirrorId }: FeedDeps): void {
  app.get(`${FEED_PATH}posts.atom`, async ({ query }, reply) => {
    const [board, status, search] = [
      textOf(query, 'board'),
      textOf(query, 'status'),
      textOf(query, 'search'),
    ];
    const found = posts.read({ board, status, search, limit: ENTRIES });
    const title = ['Posts', board && `on ${board}`, status && `in ${status}`, search && `with ${search}`];
    return reply
      .type('application/atom+xml; charset=utf-8')
      .send(atom(title.filter(Boolean).join(' '), found, { upstream, mirrorId }));
  });
}

function atom(
  title: string,
  posts: readonly RecentPost[],
  { upstream, mirrorId }: Omit<FeedDeps, 'posts'>,
): string {
  const updated = posts.reduce(
    (last, { changed }) => (changed > last ? changed : last),
    '1970-01-01T00:00:00.000Z',
  );
  const entries = posts.map((post) =>
    entry(post, `urn:feedback-mirror:${mirrorId}:post:${post.id}`, originalOf(post.url, upstream)),
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>urn:feedback-mirror:${mirrorId}:posts:${encodeURIComponent(title)}</id>
<title>${xml(title)}</title>
<updated>${updated}</updated>
<author><name>Feedback Mirror</name></author>
${entries.join('\n')}
</feed>
`;
}

function entry(
  { title, content, board, status, votes_count, created, changed }: RecentPost,
  id: string,
  link: string | null,
): string {
  return `<entry>
<id>${id}</id>
<title>${xml(title)}</title>
<published>${created}</published>
<updated>${changed}</updated>
<category term="${xml(board)}"/>
${link === null ? '' : `<link href="${xml(link)}"/>\n`}<content type="text">${xml(`${content}\n\n${status}, ${votes_count} votes`)}</content>
</entry>`;
}

/** Characters that XML cannot hold are left out: one of them makes a reader refuse the whole feed. */
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function xml(text: string): string {
  return text.replace(NOT_XML, '').replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}
