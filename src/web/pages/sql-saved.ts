import type { Saved } from '../../http/dashboard/sql.ts';
import type { SavedQuery } from '../../store/saved-queries.ts';
import { fetchJson } from '../api.ts';
import { fill, h } from '../dom.ts';
import { card, field, openForm } from '../parts.ts';

export interface SavedPart {
  element: HTMLElement;
  /** Asks for a name and keeps the statement; one that was taken from the list can be changed in place. */
  save(sql: string): void;
}

/** Statements to take: those that people keep, for everybody, and a few to begin with. */
export async function savedPart(take: (sql: string) => void, signal: AbortSignal): Promise<SavedPart> {
  const kept = h('div');
  let taken: SavedQuery | null = null;
  const refresh = async (): Promise<void> => {
    const { queries } = await fetchJson<Saved>('/data/queries', { signal });
    fill(kept, keptList(queries));
  };
  const keptList = (queries: SavedQuery[]): HTMLElement =>
    queries.length === 0
      ? h('p.note', 'Nothing is saved yet. Write a statement, then choose Save.')
      : h('ul.plain', ...queries.map(keptItem));
  const keptItem = (query: SavedQuery): HTMLElement =>
    h(
      'li.kept',
      taker(query.name, () => {
        taken = query;
        take(query.sql);
      }),
      small('Rename', query.name, () => rename(query, refresh)),
      small('Delete', query.name, () => remove(query, refresh)),
    );
  const examples = EXAMPLES.map(({ name, sql }) =>
    h(
      'li',
      taker(name, () => {
        taken = null;
        take(sql);
      }),
    ),
  );
  await refresh();
  return {
    element: card(
      { title: 'Saved', note: 'Shared by everyone who uses this mirror' },
      kept,
      h('h3', 'Examples'),
      h('ul.plain', ...examples),
    ),
    save: (sql) =>
      save(taken, sql, async (query) => {
        taken = query;
        await refresh();
      }),
  };
}

function taker(name: string, onClick: () => void): HTMLElement {
  return h('button', { type: 'button', class: 'link', on: { click: onClick } }, name);
}

function small(what: string, name: string, onClick: () => void): HTMLElement {
  return h(
    'button',
    { type: 'button', class: 'link quiet', 'aria-label': `${what} ${name}`, on: { click: onClick } },
    what,
  );
}

function rename({ id, name }: SavedQuery, done: () => Promise<void>): void {
  nameDialog('Rename', name, 'Rename', async (next) => {
    await fetchJson(`/data/queries/${id}`, { body: { name: next } });
    await done();
  });
}

function remove({ id, name }: SavedQuery, done: () => Promise<void>): void {
  openForm({
    title: 'Delete this query?',
    content: [`“${name}” will be gone for everyone who uses this mirror.`],
    action: 'Delete',
    isDangerous: true,
    async run() {
      await fetchJson(`/data/queries/${id}/delete`, { body: {} });
      await done();
    },
  });
}

function save(taken: SavedQuery | null, sql: string, done: (query: SavedQuery) => Promise<void>): void {
  nameDialog('Save this statement', taken?.name ?? '', 'Save', async (name) => {
    const isSame = taken?.name === name;
    const path = isSame ? `/data/queries/${taken?.id}` : '/data/queries';
    await done(await fetchJson<SavedQuery>(path, { body: { name, sql } }));
  });
}

function nameDialog(title: string, name: string, action: string, run: (name: string) => Promise<void>): void {
  const input = h('input', { id: 'query-name', name: 'name', value: name, required: true, maxlength: 100 });
  openForm({ title, content: [field('Name', input)], action, run: () => run(input.value.trim()) });
  input.select();
}

/** Statements to begin with; each shows something the tables can tell. */
export const EXAMPLES: readonly { name: string; sql: string }[] = [
  {
    name: 'Posts and votes by board',
    sql: `SELECT board, count(*) AS posts, sum(votes_count) AS votes
  FROM live_posts
 GROUP BY board
 ORDER BY votes DESC`,
  },
  {
    name: 'New posts by month',
    sql: `SELECT strftime('%Y-%m', created) AS month, count(*) AS posts
  FROM live_posts
 GROUP BY month
 ORDER BY month`,
  },
  {
    name: 'What people wait for: many votes, no comment',
    sql: `SELECT id AS post_id, title, board, status, votes_count
  FROM live_posts
 WHERE comments_count = 0
 ORDER BY votes_count DESC
 LIMIT 50`,
  },
  {
    name: 'Posts whose votes moved this week',
    sql: `SELECT p.id AS post_id, p.title, p.votes_count - min(h.votes_count) AS gained, p.votes_count AS votes
  FROM post_history h
  JOIN live_posts p ON p.id = h.post_id
 WHERE h.observed_at >= date('now', '-7 days')
 GROUP BY p.id
HAVING gained > 0
 ORDER BY gained DESC
 LIMIT 50`,
  },
  {
    name: 'What each pass over the upstream did',
    sql: `SELECT started_at, resource, mode, outcome, rows, inserted, updated, deleted
  FROM sync_runs
 ORDER BY id DESC
 LIMIT 100`,
  },
];
