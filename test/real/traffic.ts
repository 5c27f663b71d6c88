import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { createRandom, type Random } from '../../src/sandbox/random.ts';
import type { Deletion } from './judge.ts';
import { type Service, TOKEN } from './stack.ts';

/** What people do to the service meanwhile. */
export interface Traffic {
  readonly deletions: readonly Deletion[];
  /** By kind. */
  readonly done: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Posts come through the API. Its other changes have no endpoint there: people make them on web pages, and so they come as SQL. */
export function startTraffic(service: Service, seed: number, perSecond: number): Traffic {
  const random = createRandom(seed);
  const deletions: Deletion[] = [];
  const done = new Map<string, number>();
  const people = new AbortController();
  const actions = actionsOn(service, random, deletions);
  const work = async (): Promise<void> => {
    while (!people.signal.aborted) {
      const [name, action] = random.pick(actions);
      await action();
      done.set(name, (done.get(name) ?? 0) + 1);
      await delay((2000 / perSecond) * random.next(), undefined, { signal: people.signal }).catch(
        () => undefined,
      );
    }
  };
  const working = work();
  // A failure is thrown by `stop`.
  working.catch(() => undefined);
  return {
    deletions,
    done,
    async stop() {
      people.abort();
      await working;
    },
  };
}

type Action = [name: string, act: () => Promise<void>];

function actionsOn({ url, db }: Service, random: Random, deletions: Deletion[]): Action[] {
  const change = (table: string, set: string): (() => Promise<void>) => {
    return async () =>
      void (await db.query(`UPDATE feedback_${table} SET ${set} WHERE id = $1`, [
        await anyId(db, table, random),
      ]));
  };
  let posts = 0;
  const post = async (): Promise<void> => {
    const n = ++posts;
    const person = `visitor.${random.int(40)}`;
    const body = {
      board: 'features',
      title: `Visitor's wish ${n}`,
      content: 'Please.',
      email: `${person}@example.org`,
      full_name: person,
    };
    await create(url, body);
  };
  const comment = async (): Promise<void> => {
    const values = [await anyId(db, 'post', random), await anyId(db, 'user', random)];
    await db.query(
      `INSERT INTO feedback_comment (post_id, creator_id, content, kind, likes_count, highlighted, internal, created)
                    VALUES ($1, $2, 'Me too', 'reply', 0, false, false, now())`,
      values,
    );
  };
  return [
    ['post', post],
    ['post', post],
    ['comment', comment],
    ['comment', comment],
    ['vote', change('post', 'votes_count = votes_count + 1')],
    ['vote', change('post', 'votes_count = votes_count + 1')],
    ['edit', change('post', `title = left('Edited: ' || title, 250)`)],
    ['status', change('post', 'status_id = (SELECT max(id) FROM feedback_status)')],
    ['like', change('comment', 'likes_count = likes_count + 1')],
    [
      'delete post',
      async () => void deletions.push(...(await deletePost(db, await anyId(db, 'post', random)))),
    ],
    [
      'delete comment',
      async () =>
        void deletions.push(...(await deleteRows(db, 'comment', 'id', await anyId(db, 'comment', random)))),
    ],
  ];
}

/** As somebody else's client would call it. */
export async function create(url: string, body: Record<string, string>): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` };
  const answer = await fetch(`${url}/api/v1/posts/create/as-user/`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  await answer.arrayBuffer();
}

async function anyId(db: pg.Pool, table: string, random: Random): Promise<number> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM feedback_${table} ORDER BY id OFFSET floor($1::float8 * (SELECT count(*) FROM feedback_${table})) LIMIT 1`,
    [random.next()],
  );
  return Number(rows[0]?.id);
}

/** With its comments, as Django deletes. */
export async function deletePost(db: pg.Pool, id: number): Promise<Deletion[]> {
  const comments = await deleteRows(db, 'comment', 'post_id', id);
  return [...comments, ...(await deleteRows(db, 'post', 'id', id))];
}

async function deleteRows(
  db: pg.Pool,
  table: 'post' | 'comment',
  column: string,
  id: number,
): Promise<Deletion[]> {
  const { rows } = await db.query<{ id: string }>(
    `DELETE FROM feedback_${table} WHERE ${column} = $1 RETURNING id`,
    [id],
  );
  return rows.map((row) => ({ resource: `${table}s`, id: Number(row.id), at: Date.now() }));
}
