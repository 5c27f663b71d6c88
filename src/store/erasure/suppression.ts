import { AppError } from '../../base/errors.ts';
import type { Comment, Post, PostReference, User } from '../../contract/decode.ts';
import type { Db, OpenOptions } from '../db.ts';
import type { PageRows, Reject } from '../mirror/seam.ts';
import { type Hash, keyFileOf, readKey } from './key.ts';
import { type Scrubber, scrubber } from './scrubber.ts';
import { erased } from './words.ts';

/** Keeps people who were erased from coming back with a page. */
export interface Suppression {
  /** The page as it may be stored; the very same one while nobody is on the list. To be called inside the page's transaction. */
  apply<P extends { page: PageRows; rejects: Reject[] }>(write: P): P;
}

export function suppression(db: Db, options: OpenOptions): Suppression {
  const list = suppressionList(db, options);
  const authorOf = db.prepare<[number], number>('SELECT creator_id FROM posts WHERE id = ?').pluck();
  const noteUser = db.prepare(
    'INSERT INTO suppressed_users (user_id, hash) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const eraseReference = db.prepare(`
    UPDATE commented_posts SET title = iif(title = '', '', $erased), url = '', extra = NULL
     WHERE id = $id AND (title NOT IN ('', $erased) OR url <> '' OR extra IS NOT NULL)`);

  return {
    apply(write) {
      const current = list();
      if (!current) return write;
      const { scrub, ids, hashOf } = current;
      const isErased = (user: User): boolean => {
        if (ids.has(user.id)) return true;
        const hash = user.email === null ? undefined : hashOf(user.email);
        if (hash === undefined) return false;
        noteUser.run(user.id, hash);
        ids.add(user.id);
        return true;
      };
      const person = (user: User): User => (isErased(user) ? withoutPerson(user) : scrubUser(scrub, user));
      const post = (row: Post): Post => {
        if (!isErased(row.creator)) return scrubPost(scrub, { ...row, creator: person(row.creator) });
        eraseReference.run({ id: row.id, erased: erased('x') });
        return {
          ...row,
          ...NO_PLACE,
          title: erased(row.title),
          content: erased(row.content),
          creator: person(row.creator),
        };
      };
      const reference = (ref: PostReference): PostReference =>
        ids.has(authorOf.get(ref.id) ?? Number.NaN)
          ? { ...ref, ...NO_PLACE, title: erased(ref.title) }
          : { ...ref, title: scrub.text(ref.title), url: scrub.text(ref.url), extra: scrub.json(ref.extra) };
      const comment = (row: Comment): Comment => {
        const shared = { creator: person(row.creator), post: reference(row.post) };
        return isErased(row.creator)
          ? { ...row, ...shared, content: erased(row.content), extra: null }
          : {
              ...row,
              ...shared,
              content: scrub.text(row.content),
              status: scrub.json(row.status),
              extra: scrub.json(row.extra),
            };
      };
      const page: PageRows =
        write.page.resource === 'posts'
          ? { resource: 'posts', rows: write.page.rows.map(post) }
          : { resource: 'comments', rows: write.page.rows.map(comment) };
      const rejects = write.rejects.map((reject) =>
        isAboutErased(reject.body, current) ? { ...reject, body: erasedBody(reject.id) } : reject,
      );
      return { ...write, page, rejects };
    },
  };
}

const NO_PLACE = { url: '', extra: null };

export function withoutPerson(user: User): User {
  return { ...user, email: null, name: null, alias: null, extra: null };
}

function scrubUser(scrub: Scrubber, user: User): User {
  const { name, alias, extra } = user;
  return {
    ...user,
    name: name === null ? null : scrub.text(name),
    alias: alias === null ? null : scrub.text(alias),
    extra: scrub.json(extra),
  };
}

function scrubPost(scrub: Scrubber, row: Post): Post {
  const { title, content, url, extra } = row;
  return {
    ...row,
    title: scrub.text(title),
    content: scrub.text(content),
    url: scrub.text(url),
    extra: scrub.json(extra),
  };
}

/** What is kept of a row that could not be read: that there is one. */
export function erasedBody(id: number | null): string {
  return id === null ? '{"erased":true}' : `{"erased":true,"id":${id}}`;
}

export interface CurrentList {
  ids: Set<number>;
  /** The hash of an address on the list; undefined for any other. */
  hashOf(email: string): string | undefined;
  scrub: Scrubber;
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

/** Whoever writes for a person who was erased brings new data about them: that is for somebody to decide. */
export const SUPPRESSED =
  'is for a customer who was erased; "feedback-mirror erase --email … --lift" ends that';

export function suppressedPerson(): AppError {
  return new AppError('usage', 'this post is for a customer who was erased; nothing was taken in', {
    hint: 'If they agree to be known again, "feedback-mirror erase --email … --lift" ends it.',
  });
}

/** The list as it stands, or null while it is empty; read again only when some other connection has written. */
export function suppressionList(db: Db, options: OpenOptions): () => CurrentList | null {
  const version = db.prepare<[], number>('PRAGMA data_version').pluck();
  const isUsed = db
    .prepare<[], number>(
      'SELECT EXISTS (SELECT 1 FROM suppressions) OR EXISTS (SELECT 1 FROM suppressed_users)',
    )
    .pluck();
  const hashes = db.prepare<[], string>('SELECT hash FROM suppressions').pluck();
  const users = db.prepare<[], number>('SELECT user_id FROM suppressed_users').pluck();
  let known: { version: number | undefined; list: CurrentList | null } | null = null;
  return () => {
    const current = version.get();
    if (known?.version !== current) {
      const list = isUsed.get()
        ? currentList(readableKey(db, options, hashes.all()), new Set(hashes.all()), users.all())
        : null;
      known = { version: current, list };
    }
    return known?.list ?? null;
  };
}

/** After a new key there may be people known by their number only: those need none. */
function readableKey(db: Db, options: OpenOptions, hashes: readonly string[]): Hash {
  return hashes.length === 0 ? () => '' : readKey(db, keyFileOf(options));
}

/** The same few thousand people write most rows: each address is hashed once. */
const REMEMBERED = 20_000;

function currentList(hash: Hash, hashes: ReadonlySet<string>, users: readonly number[]): CurrentList {
  const verdicts = new Map<string, string | undefined>();
  const hashOf = (email: string): string | undefined => {
    if (verdicts.has(email)) return verdicts.get(email);
    const made = hash(email);
    if (verdicts.size >= REMEMBERED) verdicts.clear();
    verdicts.set(email, hashes.has(made) ? made : undefined);
    return verdicts.get(email);
  };
  return { ids: new Set(users), hashOf, scrub: scrubber((email) => hashOf(email) !== undefined) };
}
