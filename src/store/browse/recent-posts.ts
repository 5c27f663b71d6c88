import type { OpenOptions } from '../db.ts';
import { matchText, readTerms } from '../index/terms.ts';
import { openMirrorReadOnly } from '../open.ts';
import { LINES, type PostLine } from './post.ts';

export interface RecentPost extends Pick<PostLine, 'id' | 'title' | 'url' | 'board' | 'status' | 'created'> {
  content: string;
  votes_count: number;
  /** When it was last seen to change in anything that its history tells about. */
  changed: string;
}

interface RecentFilter {
  /** By name or short name. */
  board: string | null;
  status: string | null;
  search: string | null;
  limit: number;
}

export type RecentPosts = ReturnType<typeof openRecentPosts>;

/** The newest live posts, for programs that read feeds. */
export function openRecentPosts(options: OpenOptions) {
  const db = openMirrorReadOnly(options);
  const recent = db.prepare<Omit<RecentFilter, 'search'> & { match: string | null }, RecentPost>(`
    SELECT p.id, p.title, p.content, p.url, b.name AS board, s.name AS status, p.votes_count, p.created, p.version_at AS changed
      FROM ${LINES}
     WHERE p.deleted_at IS NULL
       AND ($board IS NULL OR b.name = $board COLLATE NOCASE OR b.slug = $board COLLATE NOCASE)
       AND ($status IS NULL OR s.name = $status COLLATE NOCASE)
       AND ($match IS NULL OR p.id IN (SELECT rowid FROM posts_text WHERE posts_text MATCH $match))
     ORDER BY p.created DESC, p.id DESC LIMIT $limit`);
  return {
    read({ search, ...filter }: RecentFilter): RecentPost[] {
      const match = search === null ? null : matchText(readTerms(search));
      return search !== null && match === null ? [] : recent.all({ ...filter, match });
    },
    close: (): void => void db.close(),
  };
}
