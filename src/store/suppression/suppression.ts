import type { Comment, Post, PostReference, User } from '../../contract/decode.ts';
import type { Db, OpenOptions } from '../db.ts';
import type { PageRows, Reject } from '../mirror/types.ts';
import { scalar } from '../sql.ts';
import { type CurrentList, suppressionList } from './list.ts';
import { ERASED, erased } from './words.ts';

/**
 * Keeps people who were erased from coming back: the page as it may be stored, and the very same one while nobody is on the list. To
 * be called inside the page's transaction.
 */
export function suppression(db: Db, options: OpenOptions) {
  const list = suppressionList(db, options);
  const censors = censorMaker(db);
  return <P extends { page: PageRows; rejects: Reject[] }>(write: P): P => {
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
  const authorOf = scalar(db)<[number], number>('SELECT creator_id FROM posts WHERE id = ?');
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
      ids.has(authorOf.get(post.id) ?? Number.NaN)
        ? { ...post, ...NO_PLACE, title: erased(post.title) }
        : scrub.row(post, ['title', 'url'], ['extra']);
    const scrubUser = (user: User): User => scrub.row(user, ['name', 'alias'], ['extra']);
    return {
      post(row) {
        const { title, content, creator } = row;
        const board = scrub.row(row.board, ['name', 'url'], ['extra']);
        const status = scrub.row(row.status, ['name', 'color'], ['extra']);
        if (!isErased(creator)) {
          const scrubbed = scrub.row(row, ['title', 'content', 'url'], ['extra']);
          return { ...scrubbed, board, status, creator: scrubUser(creator) };
        }
        eraseReference.run({ id: row.id, erased: ERASED });
        const words = { title: erased(title), content: erased(content) };
        return { ...row, ...NO_PLACE, ...words, board, status, creator: withoutPerson(creator) };
      },
      comment(row) {
        const { content, creator } = row;
        const post = reference(row.post);
        if (isErased(creator))
          return { ...row, post, content: erased(content), extra: null, creator: withoutPerson(creator) };
        const scrubbed = scrub.row(row, ['content'], ['status', 'extra']);
        return { ...scrubbed, post, creator: scrubUser(creator) };
      },
    };
  };
}

const NO_PLACE = { url: '', extra: null };

function withoutPerson(user: User): User {
  return { ...user, email: null, name: null, alias: null, extra: null };
}

/** What is kept of a row that could not be read: that there is one. */
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
