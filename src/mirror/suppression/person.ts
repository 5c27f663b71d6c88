import type { Db } from '../../db/open.ts';
import { chunkEnd, scalar } from '../../db/sql.ts';
import { TRANSITIONS, whereAndTo } from '../../outbox/decide/states.ts';
import { type ChangeType, changeLog } from '../log/change-log.ts';
import { type PostWords, type RowErasers, rowErasers } from './rows.ts';

import { erasedBody, isAboutErased } from './suppression.ts';
import { type Scrubber, scrubber } from './words.ts';

/** One person or several. */
export interface Person {
  /** Whether an address is theirs, in any spelling. */
  isMeant(email: string): boolean;
  users: number[];
}

export interface ErasedCounts {
  users: number;
  posts: number;
  comments: number;
  quarantine: number;
  outbox: number;
  /** Rows of the outbox that had not been sent. */
  cancelled: number;
  /** Rows of the outbox that may have left a post. */
  unclear: number;
  /** Rows of the customers file. */
  segments: number;
  /** Rows of others that named the address. */
  mentions: number;
}

/** Where the walk through the tables has come to. */
export interface ErasureWalk {
  place: number;
  after: number;
}

export interface ErasureStep {
  next: ErasureWalk | null;
  counts: Partial<ErasedCounts>;
  /** The person's rows of the outbox that are on their way out just now, and were not touched. */
  underWay: number[];
  /** Unsettled rows of other people in the outbox that contain the address. With other words they would be other posts. */
  unsettled: number[];
}

/** Rows looked at in one transaction: another writer waits less than a tenth of a second. A long text takes 10 µs, one with escapes 100. */
const CHUNK = 1000;

/** Goes through every table in which a person can stand, a piece at a time; running it again finds only what is left. */
export function personEraser(db: Db): (person: Person, walk: ErasureWalk, at: string) => ErasureStep {
  // The person asked for; the SQL functions below belong to the connection, not to a statement.
  let isMeant: Person['isMeant'] = () => false;
  let isUser = isOneOf({ users: [] });
  const scrub = scrubber(
    (email) => isMeant(email),
    (id) => isUser(id),
  );
  const flag = (is: boolean): number => (is ? 1 : 0);
  db.function('is_meant', (email) => flag(typeof email === 'string' && isMeant(email)));
  for (const kind of ['text', 'json', 'link'] as const)
    db.function(`${kind}_names_person`, (text) =>
      flag(typeof text === 'string' && scrub[kind](text) !== text),
    );

  const rows = rowErasers(db);
  const works = [
    postWork(db, rows, scrub),
    commentWork(db, rows),
    outboxWork(db, rows, scrub),
    quarantineWork(db, scrub),
    segmentWork(db),
  ];
  const all: Work[] = [...works, ...PLACES.map((place) => placeWork(db, place, rows, scrub))];
  return (person, { place, after }, at) => {
    isMeant = person.isMeant;
    isUser = isOneOf(person);
    rows.refresh();
    const work = all[place];
    const end = work?.end.get(after, CHUNK) ?? null;
    const nothing = { counts: {}, underWay: [], unsettled: [] };
    if (!work || end === null)
      return { ...nothing, next: place + 1 < all.length ? { place: place + 1, after: -1 } : null };
    return { ...nothing, next: { place, after: end }, ...work.run({ person, after, end, at }) };
  };
}

interface Piece {
  person: Person;
  after: number;
  end: number;
  at: string;
}

interface Work {
  /** The last key of the next piece. */
  end: ReturnType<typeof chunkEnd>;
  run(piece: Piece): Pick<ErasureStep, 'counts'> & Partial<Pick<ErasureStep, 'underWay' | 'unsettled'>>;
}

const names = (column: string, kind: 'text' | 'json' | 'link' = 'text'): string =>
  `${kind}_names_person(${column})`;

const RANGE = 'BETWEEN $after + 1 AND $end';

function isOneOf({ users }: Pick<Person, 'users'>): (user: number) => boolean {
  const ids = new Set(users);
  return (user) => ids.has(user);
}

/** Rows that are a person's, or were. */
function theirRows(db: Db, subject: 'post' | 'comment') {
  const isTheirs = 'creator_id IN (SELECT value FROM json_each($users))';
  const found = scalar(db)<{ after: number; end: number; users: string }, number>(`
    SELECT id FROM ${subject}s r WHERE id ${RANGE}
       AND (r.${isTheirs} OR EXISTS (SELECT 1 FROM ${subject}_versions v WHERE v.${subject}_id = r.id AND v.${isTheirs}))`);
  return ({ users }: Person, after: number, end: number): number[] =>
    found.all({ after, end, users: JSON.stringify(users) });
}

function postWork(db: Db, rows: RowErasers, scrub: Scrubber): Work {
  const own = theirRows(db, 'post');
  const naming = db.prepare<{ after: number; end: number }, { id: number } & PostWords>(`
    SELECT id, title, content, url, extra FROM posts WHERE id ${RANGE}
      AND (${names('title')} OR ${names('content')} OR ${names('url')} OR ${names('extra', 'json')})`);
  return {
    end: chunkEnd(db, 'posts'),
    run({ person, after, end, at }) {
      const ids = own(person, after, end).filter((id) => rows.post(id, at, isOneOf(person)));
      const others = naming.all({ after, end });
      for (const { id, ...words } of others)
        rows.rewritePost(id, scrub.row(words, ['title', 'content', 'url'], ['extra']), at);
      return { counts: { posts: ids.length, mentions: others.length } };
    },
  };
}

function commentWork(db: Db, rows: RowErasers): Work {
  const own = theirRows(db, 'comment');
  return {
    end: chunkEnd(db, 'comments'),
    run({ person, after, end, at }) {
      const ids = own(person, after, end).filter((id) => rows.comment(id, at, isOneOf(person)));
      return { counts: { comments: ids.length } };
    },
  };
}

interface OutboxText {
  id: number;
  state: string;
  title: string;
  content: string;
  url: string | null;
  last_error: string | null;
  source_key: string;
  is_own: number;
}

/** Unsettled rows of other people stay unchanged until they are settled: with other words they would be other posts. */
function outboxWork(db: Db, rows: RowErasers, scrub: Scrubber): Work {
  const found = db.prepare<{ after: number; end: number }, OutboxText>(`
    SELECT id, state, title, content, url, last_error, source_key, email IS NOT NULL AND is_meant(email) AS is_own
      FROM outbox o WHERE id ${RANGE} AND (
        (email IS NOT NULL AND is_meant(email)) OR ${names('title')} OR ${names('content')} OR ${names('url')}
        OR ${names('last_error')} OR ${names('source_key')}
        OR EXISTS (SELECT 1 FROM outbox_attempts a WHERE a.outbox_id = o.id AND ${names('a.error')}))`);
  const changes = changeLog(db);
  const rewrite = db.prepare(`
    UPDATE outbox SET title = $title, content = $content, url = $url, last_error = $last_error, erased_at = $at, changed_at = $at
     WHERE id = $id`);
  const { set } = whereAndTo(TRANSITIONS.cancel);
  // What an agent proposed would be sent in other words than the person was asked about.
  const drop = db.prepare(`UPDATE outbox SET ${set} WHERE id = ? AND state = 'proposed'`);
  const forgetErrors = db.prepare(`
    UPDATE outbox_attempts SET error = NULL WHERE outbox_id = ? AND error IS NOT NULL`);
  // The words of a row before a person edited it are in no post. They are erased in every state of the row.
  const forgetEdits = scalar(db)<{ after: number; end: number }, number>(`
    DELETE FROM outbox_edits WHERE outbox_id ${RANGE}
       AND ((before ->> 'email' IS NOT NULL AND is_meant(before ->> 'email')) OR ${names('before', 'json')})
    RETURNING outbox_id`);
  const forgetKey = db.prepare("UPDATE outbox SET source_key = 'erased:' || id WHERE id = ?");
  return {
    end: chunkEnd(db, 'outbox'),
    run({ after, end, at }) {
      const counts = { outbox: 0, cancelled: 0, unclear: 0, mentions: 0 };
      const [underWay, unsettled]: [number[], number[]] = [[], []];
      for (const id of new Set(forgetEdits.all({ after, end }))) changes.add('outbox.erased', at, id);
      for (const row of found.all({ after, end })) {
        const { id, state, source_key, is_own } = row;
        if (is_own === 1 && state === 'sending') underWay.push(id);
        else if (is_own === 1) {
          rows.outbox(id, at);
          counts.outbox++;
          if (state === 'ready' || state === 'proposed') counts.cancelled++;
          if (state === 'ambiguous' || state === 'uncertain') counts.unclear++;
        } else if (['ready', 'sending', 'ambiguous'].includes(state)) unsettled.push(id);
        else {
          const { title, content, url, last_error } = scrub.row(row, [
            'title',
            'content',
            'url',
            'last_error',
          ]);
          rewrite.run({ id, at, title, content, url, last_error });
          drop.run(id);
          forgetErrors.run(id);
          changes.add('outbox.erased', at, id);
          counts.mentions++;
        }
        const isLeft = underWay.includes(id) || unsettled.includes(id);
        if (!isLeft && scrub.text(source_key) !== source_key) {
          forgetKey.run(id);
          changes.add('outbox.erased', at, id);
        }
      }
      return { counts, underWay, unsettled };
    },
  };
}

function quarantineWork(db: Db, scrub: Scrubber): Work {
  const bodies = db.prepare<{ after: number; end: number }, { id: number; body: string }>(`
    SELECT id, body FROM quarantine WHERE id ${RANGE}`);
  // Two rows may have become the same one.
  const rewrite = db.prepare('UPDATE OR REPLACE quarantine SET body = ? WHERE id = ?');
  return {
    end: chunkEnd(db, 'quarantine'),
    run({ person, after, end }) {
      const ids = new Set(person.users);
      const about = bodies.all({ after, end }).filter(({ body }) => isAboutErased(body, { ids, scrub }));
      for (const { id, body } of about) rewrite.run(erasedBody(idIn(body)), id);
      return { counts: { quarantine: about.length } };
    },
  };
}

/** What the customers file says of the person goes with them. A row for a whole domain is about a company, and stays. */
function segmentWork(db: Db): Work {
  const remove = db.prepare<{ after: number; end: number }>(
    `DELETE FROM segments WHERE id ${RANGE} AND email IS NOT NULL AND is_meant(email)`,
  );
  return {
    end: chunkEnd(db, 'segments'),
    run: ({ after, end }) => ({ counts: { segments: remove.run({ after, end }).changes } }),
  };
}

/** As the reader of pages found it: the same broken row gets the same body again. */
function idIn(body: string): number | null {
  try {
    const id: unknown = Reflect.get(Object(JSON.parse(body)), 'id');
    return Number.isSafeInteger(id) ? (id as number) : null;
  } catch {
    return null;
  }
}

function placeWork(db: Db, place: Place, rows: RowErasers, scrub: Scrubber): Work {
  const { table, key, words, json, links, dated, told } = place;
  const columns = [...words, ...json, ...links];
  const conditions = [
    ...words.map((column) => names(column)),
    ...json.map((column) => names(column, 'json')),
    ...links.map((column) => names(column, 'link')),
  ];
  const found = db.prepare<{ after: number; end: number }, Record<string, string | number | null>>(`
    SELECT ${key} AS place_key, ${told?.[1] ?? 'NULL'} AS told_of, ${columns.join(', ')} FROM ${table} WHERE ${key} ${RANGE} AND (${conditions.join(' OR ')})`);
  const set = [...columns.map((column) => `${column} = $${column}`), ...(dated ? [`${dated} = $at`] : [])];
  const rewrite = db.prepare(`UPDATE ${table} SET ${set.join(', ')} WHERE ${key} = $place_key`);
  const changes = changeLog(db);
  return {
    end: chunkEnd(db, table, key),
    run({ after, end, at }) {
      const hits = found.all({ after, end });
      for (const row of hits) {
        const { told_of, ...values } = scrub.row(row, words, json, links);
        rewrite.run(dated === null ? values : { ...values, at });
        if (told) changes.add(told[0], at, Number(told_of));
        if (table === 'comments')
          rows.reindexComment(Number(row.place_key), String(row.content), String(values.content));
      }
      return { counts: { mentions: hits.length } };
    },
  };
}

/** A table with texts of other people, which may contain a person's address. */
interface Place {
  table: string;
  key: string;
  words: readonly string[];
  json: readonly string[];
  links: readonly string[];
  /** The column that says when the row was last changed; null where none does. */
  dated: 'changed_at' | 'erased_at' | null;
  /** What tells consumers of the change feed, and the column with the id of the row it is about. */
  told?: readonly [type: ChangeType, of: string];
}

function place(table: string, words: string[], json: string[], more: Partial<Place> = {}): Place {
  return { table, key: 'id', words, json, links: [], dated: 'changed_at', ...more };
}

const VERSION = { key: 'n', dated: 'erased_at' } as const;

/** Besides posts, the outbox and the quarantine, which have rules of their own. */
const PLACES: readonly Place[] = [
  place('segments', ['company', 'plan'], ['extra'], { dated: null }),
  place('comments', ['content'], ['extra', 'status'], { told: ['comment.erased', 'id'] }),
  place('comment_versions', ['content'], ['status'], { ...VERSION, told: ['comment.erased', 'comment_id'] }),
  place('post_versions', ['title', 'content'], [], { ...VERSION, told: ['post.erased', 'post_id'] }),
  place('commented_posts', ['title', 'url'], ['extra'], { told: ['post.erased', 'id'] }),
  place('users', ['name', 'alias'], ['extra'], { told: ['user.erased', 'id'] }),
  place('boards', ['name', 'url', 'slug'], ['extra'], { told: ['board.erased', 'id'] }),
  place('statuses', ['name', 'color'], ['extra'], { told: ['status.erased', 'id'] }),
  place('saved_queries', ['name', 'sql'], []),
  place('saved_views', ['name'], [], { links: ['address'] }),
  place('sync_runs', ['error'], [], { dated: null }),
  place('changes', [], ['detail'], { key: 'n', dated: null }),
];
