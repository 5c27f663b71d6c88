import type { Comment, Post, PostReference, User } from '../../contract/decode.ts';
import type { Db, OpenOptions } from '../../db/open.ts';
import { hasReusedNumber, type RowIdentity } from '../../db/reused.ts';
import { scalar } from '../../db/sql.ts';
import type { PageRows, RejectedRow } from '../decide/types.ts';
import { type CurrentList, suppressionList } from './list.ts';
import { ERASED, erasedText } from './words.ts';

/**
 * Keeps people who were erased from coming back: the page as it may be stored, and the very same one while the list is empty. To
 * be called inside the page's transaction.
 */
export function suppression(db: Db, options: OpenOptions) {
  const list = suppressionList(db, options);
  const censors = censorMaker(db);
  return <P extends { page: PageRows; rejects: RejectedRow[] }>(write: P): P => {
    const current = list();
    if (!current) return write;
    const censor = censors(current);
    const page: PageRows =
      write.page.resource === 'posts'
        ? { resource: 'posts', rows: write.page.rows.map(censor.post) }
        : { resource: 'comments', rows: write.page.rows.map(censor.comment) };
    const rejects = write.rejects.map((reject) =>
      isAboutErased(reject.body, current) ? { ...reject, body: erasedBody(reject.id) } : reject,
    );
    return { ...write, page, rejects };
  };
}

interface Censor {
  post(row: Post): Post;
  comment(row: Comment): Comment;
}

function censorMaker(db: Db): (current: CurrentList) => Censor {
  const posts = heldRows<Post, 'title' | 'content'>(db, 'post', ['title', 'content']);
  const comments = heldRows<Comment, 'content'>(db, 'comment', ['content']);
  const isTitleHeld = scalar(db)<[number], number>(`
    SELECT 1 FROM posts r WHERE id = ? AND (${LISTED} OR title = '${ERASED}' AND ${wasListed('post')})`);
  const noteUser = db.prepare(`
    INSERT INTO suppressed_users (user_id, hash) VALUES (?, ?) ON CONFLICT DO NOTHING`);
  // A comment may have brought the post's title before anybody knew whose it is.
  const eraseReference = db.prepare(`
    UPDATE commented_posts SET title = iif(title = '', '', $erased), url = '', extra = NULL
     WHERE id = $id AND (title NOT IN ('', $erased) OR url <> '' OR extra IS NOT NULL)`);

  return ({ scrub, ids, hashOf }) => {
    const isErased = (user: User): boolean => {
      if (ids.has(user.id)) return true;
      const hash = user.email === null ? undefined : hashOf(user.email);
      if (hash === undefined) return false;
      noteUser.run(user.id, hash);
      ids.add(user.id);
      return true;
    };
    const reference = (post: PostReference): PostReference =>
      isTitleHeld.get(post.id) === 1
        ? { ...post, ...NO_PLACE, title: erasedText(post.title) }
        : scrub.row(post, ['title', 'url'], ['extra']);
    const scrubUser = (user: User): User => scrub.row(user, ['name', 'alias'], ['extra']);
    return {
      post(row) {
        const { title, content, creator } = row;
        const isOwn = isErased(creator);
        const held = isOwn ? { title: erasedText(title), content: erasedText(content) } : posts(row);
        if (held) eraseReference.run({ id: row.id, erased: ERASED });
        const left = held ? { ...row, ...NO_PLACE, ...held } : row;
        return {
          ...scrub.row(left, ['title', 'content', 'url'], ['extra']),
          board: scrub.row(row.board, ['name', 'url'], ['extra']),
          status: scrub.row(row.status, ['name', 'color'], ['extra']),
          creator: isOwn ? withoutPerson(creator) : scrubUser(creator),
        };
      },
      comment(row) {
        const { content, creator } = row;
        const isOwn = isErased(creator);
        const held = isOwn ? { content: erasedText(content) } : comments(row);
        const left = held ? { ...row, ...held, extra: null } : row;
        return {
          ...scrub.row(left, ['content'], ['status', 'extra']),
          post: reference(row.post),
          creator: isOwn ? withoutPerson(creator) : scrubUser(creator),
        };
      },
    };
  };
}

const LISTED = 'creator_id IN (SELECT user_id FROM suppressed_users)';
const wasListed = (subject: 'post' | 'comment'): string =>
  `EXISTS (SELECT 1 FROM ${subject}_versions v WHERE v.${subject}_id = r.id AND v.${LISTED})`;

/**
 * The texts of a row whose words were erased and which the service then gave to somebody else. The old words cannot be told from new ones,
 * so all of them are left out. Undefined for any other row.
 */
function heldRows<T extends Post | Comment, K extends keyof T & string>(
  db: Db,
  subject: 'post' | 'comment',
  names: readonly K[],
): (row: T) => Record<K, string> | undefined {
  const find = db.prepare<[number], RowIdentity & Record<K, string>>(`
    SELECT ${names.join(', ')}, creator_id AS creatorId, coalesce(created_raw, created) AS created, first_seen_at AS firstSeenAt
      FROM ${subject}s r WHERE id = ? AND '${ERASED}' IN (${names.join(', ')}) AND (${LISTED} OR ${wasListed(subject)})`);
  return (row) => {
    const stored = find.get(row.id);
    if (!stored || hasReusedNumber(stored, row)) return undefined;
    const texts = names.map((name) => [
      name,
      stored[name] === ERASED ? erasedText(String(row[name])) : row[name],
    ]);
    return Object.fromEntries(texts) as Record<K, string>;
  };
}

const NO_PLACE = { url: '', extra: null };

function withoutPerson(user: User): User {
  return { ...user, email: null, name: null, alias: null, extra: null };
}

/** The text that is kept of a row that could not be read. */
export function erasedBody(id: number | null): string {
  return id === null ? '{"erased":true}' : `{"erased":true,"id":${id}}`;
}

/** A row that does not decode may still name its author; one that was cut off in the middle only shows addresses. */
export function isAboutErased(body: string, { ids, scrub }: Pick<CurrentList, 'ids' | 'scrub'>): boolean {
  if (scrub.text(body) !== body) return true;
  try {
    const creator: unknown = Reflect.get(Object(JSON.parse(body)), 'creator');
    return ids.has(Number(Reflect.get(Object(creator), 'id')));
  } catch {
    return false;
  }
}
