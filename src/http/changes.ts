import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Change } from '../changes/change.ts';
import type { ChangeQuery, FeedHead } from '../changes/feed.ts';
import type { ChangeReads } from '../changes/together.ts';
import type { RecentPost, RecentPosts } from '../search/browse/browse.ts';
import { webAddress } from '../text/text.ts';
import { numberOf, textIn } from './dashboard/parameters.ts';
import { FEED_PATH } from './server/guard.ts';
import { canWrite, openStream } from './server/replies.ts';

export interface ChangesDeps {
  feed: ChangeReads;
  log: Logger;
  /** How often the mirror is asked for new changes while a client listens. */
  everyMs?: number;
  heartbeatMs?: number;
  /** Listeners at the same time; each costs a read of the feed for every change. */
  listeners?: number;
}

export interface ChangesPage extends FeedHead {
  changes: Change[];
  /** What to ask for next, as `since`. */
  next: string;
  /** Whether there are more changes already. */
  more: boolean;
}

const PAGE_ROWS = 100;
const MOST_ROWS = 1000;

/** `/api/changes`: the change feed in pages, and as a stream of server-sent events. */
export function addChanges(app: FastifyInstance, deps: ChangesDeps): void {
  const { feed } = deps;
  app.get('/api/changes', async ({ query }): Promise<ChangesPage> => {
    const limit = Math.min(numberOf(query, 'limit') ?? PAGE_ROWS, MOST_ROWS);
    const { changes, next, isLast } = feed.after(textIn(query, 'since') ?? '', { ...filterOf(query), limit });
    return { ...feed.head(), changes, next, more: !isLast };
  });
  addStream(app, deps);
}

/** `type` and `board` may stand several times. */
function filterOf(query: unknown): Omit<ChangeQuery, 'limit'> {
  const all = (name: string): string[] | undefined => {
    const given: unknown = Reflect.get(Object(query), name);
    const texts = [given].flat().filter((text) => typeof text === 'string' && text !== '');
    return texts.length === 0 ? undefined : (texts as string[]);
  };
  return { types: all('type'), boards: all('board') };
}

interface Listener {
  raw: ServerResponse;
  query: Omit<ChangeQuery, 'limit'>;
  since: string;
}

/**
 * Each listener has a place of its own in the feed. What it does not read stays in the table and not in memory: nothing more is written
 * to a connection before what was written has left. The id of an event is its position, so a browser that comes back continues from there.
 */
function addStream(app: FastifyInstance, deps: ChangesDeps): void {
  const { feed, log, everyMs = 500, heartbeatMs = 15_000, listeners: most = 16 } = deps;
  const listeners = new Set<Listener>();
  let [seen, quietSince] = [-1, 0];

  const beat = (): void => {
    const version = feed.version();
    const isBehind = [...listeners].some(({ raw }) => raw.writableNeedDrain);
    if (version !== seen || isBehind) for (const listener of listeners) send(listener);
    seen = version;
    if (performance.now() - quietSince < heartbeatMs) return;
    quietSince = performance.now();
    for (const { raw } of listeners)
      if (canWrite(raw) && !raw.writableNeedDrain) raw.write(': still here\n\n');
  };
  const send = (listener: Listener): void => {
    const { raw, query } = listener;
    try {
      for (let isLast = false; !isLast && !raw.writableNeedDrain && canWrite(raw); ) {
        const page = feed.after(listener.since, { ...query, limit: PAGE_ROWS });
        listener.since = page.next;
        isLast = page.isLast;
        for (const change of page.changes) raw.write(eventOf(change));
      }
    } catch (error) {
      log.warn({ event: 'changes.stream.failed' }, `a listener was sent away: ${messageOf(error)}`);
      raw.end(`event: gone\ndata: ${JSON.stringify({ detail: messageOf(error) })}\n\n`);
    }
  };
  const timer = setInterval(() => listeners.size > 0 && beat(), everyMs).unref();

  app.get('/api/changes/stream', async (request, reply) => {
    if (listeners.size >= most)
      throw new AppError('busy', `${most} listeners follow the feed already`, { hint: 'Try again later.' });
    const [query, since] = [filterOf(request.query), feed.resolve(startOf(request))];
    const raw = openStream(reply, 'retry: 2000\n\n');
    if (!raw) return;
    const listener = { raw, query, since };
    listeners.add(listener);
    raw.on('close', () => listeners.delete(listener));
    raw.on('drain', () => send(listener));
    send(listener);
  });
  app.addHook('preClose', async () => {
    clearInterval(timer);
    for (const { raw } of listeners) raw.end();
    listeners.clear();
  });
}

/** A browser that reconnects sends its position. A request without a position gets the changes from now on. */
function startOf({ headers, query }: FastifyRequest): string {
  const last = headers['last-event-id'];
  return (typeof last === 'string' && last !== '' ? last : textIn(query, 'since')) ?? 'now';
}

function eventOf(change: Change): string {
  return `id: ${change.position}\ndata: ${JSON.stringify(change)}\n\n`;
}

interface FeedDeps {
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
      textIn(query, 'board'),
      textIn(query, 'status'),
      textIn(query, 'search'),
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
    entry(post, `urn:feedback-mirror:${mirrorId}:post:${post.id}`, webAddress(post.url, upstream)),
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
