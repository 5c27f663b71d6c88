import { iso } from '../base/clock.ts';
import { setOf } from '../mirror/index/select.ts';
import { counted } from '../text/text.ts';
import { titlesOf } from './lists.ts';
import type { ReportRows, Row } from './report.ts';
import type { ReportReader } from './store.ts';
import { selection, type TallyQuestion } from './tally.ts';

const POSTS = ['id', 'created', 'board', 'status', 'gone', 'version'] as const;

/** When each post last went from a status that does not deliver to one that does. */
const ENTERED = `
  WITH seen AS (
    SELECT h.post_id, h.observed_at, h.status_id IN (SELECT value FROM json_each($delivered)) AS is_delivered,
           lag(h.status_id IN (SELECT value FROM json_each($delivered)))
             OVER (PARTITION BY h.post_id ORDER BY h.observed_at) AS was_delivered
      FROM (SELECT post_id, observed_at, status_id FROM post_versions WHERE post_id IN (SELECT value FROM json_each($ids))
            UNION ALL SELECT id, version_at, status_id FROM posts WHERE id IN (SELECT value FROM json_each($ids))) h)
  SELECT post_id AS post, max(observed_at) AS at FROM seen
   WHERE is_delivered = 1 AND was_delivered = 0 GROUP BY post_id HAVING max(observed_at) >= $since AND max(observed_at) < $until
   ORDER BY 2, 1`;

/** Those who wrote or commented on them, but the team, and when they were last told of the post. */
const PEOPLE = `
  WITH wanted AS MATERIALIZED (SELECT value AS id FROM json_each($ids)),
       asked AS (
         SELECT id AS post, creator_id AS user FROM posts WHERE id IN (SELECT id FROM wanted)
          UNION SELECT post_id, creator_id FROM comments
                 WHERE post_id IN (SELECT id FROM wanted) AND NOT internal AND deleted_at IS NULL)
  SELECT a.post, a.user, u.name, u.email, s.company, s.plan, s.value, t.told_at AS told
    FROM asked a JOIN users u ON u.id = a.user
    LEFT JOIN people_segments l ON l.user_id = a.user LEFT JOIN segments s ON s.id = l.segment_id
    LEFT JOIN told_people t ON t.post_id = a.post AND t.user_id = a.user
   WHERE NOT u.is_team AND NOT u.is_admin ORDER BY a.user, a.post`;

/** A person who asked for one post that was delivered. */
interface Asker {
  post: number;
  user: number;
  name: string | null;
  email: string | null;
  company: string | null;
  plan: string | null;
  value: number | null;
  told: string | null;
}

/** People who asked for posts that were delivered in the period, once a person, without those who were told since. */
export async function shipped(reader: ReportReader, asked: TallyQuestion): Promise<ReportRows> {
  const entered = await deliveredIn(reader, asked);
  const ids = JSON.stringify([...entered.keys()]);
  const rows = (await reader.rows(PEOPLE, { ids })) as unknown as Asker[];
  const isMeant = asked.people === null ? () => true : setOf(asked.people);
  const meant = rows.filter(({ user }) => isMeant(user));
  const isToTell = ({ told, post }: Asker): boolean => told === null || told < (entered.get(post) ?? '');
  const open = meant.filter((one) => isToTell(one) && one.email !== null);
  const titles = await titlesOf(reader, [...entered.keys()]);
  const people = [...Map.groupBy(open, ({ user }) => user)].map(([user, own]) =>
    personRow(user, own, entered, (id) => String(titles.get(id)?.title ?? '')),
  );
  people.sort((a, b) => Number(b.amount ?? -1) - Number(a.amount ?? -1) || Number(a.user) - Number(b.user));
  return { rows: people, notes: notesOn({ entered, meant, open, isToTell }) };
}

function personRow(
  user: number,
  own: readonly Asker[],
  entered: ReadonlyMap<number, string>,
  titleOf: (id: number) => string,
): Row {
  const [{ name = null, email = null, company = null, plan = null, value = null } = {}] = own;
  const posts = own.map(({ post }) => post);
  const last =
    posts
      .map((post) => entered.get(post) ?? '')
      .sort()
      .at(-1) ?? null;
  return {
    user,
    email,
    customer: name,
    company,
    plan,
    amount: value,
    delivered_at: last,
    posts: posts.length,
    titles: posts.map(titleOf).join('; '),
    post_ids: posts.join(' '),
  };
}

type Delivery = Pick<TallyQuestion, 'now' | 'since' | 'until' | 'board' | 'statuses' | 'delivered'>;

/** Posts that became delivered in the period, and when, the earliest first. */
export async function deliveredIn(reader: ReportReader, asked: Delivery): Promise<Map<number, string>> {
  const { posts } = await reader.columns({ posts: POSTS });
  const { since, until, now } = asked;
  const isSelected = selection(posts, { ...asked, since: Number.NEGATIVE_INFINITY, until: now });
  const isDelivered = setOf(asked.delivered);
  const candidates: number[] = [];
  for (let i = 0; i < posts.rows; i++)
    if (isSelected(i) && isDelivered(posts.status[i] ?? 0) && (posts.version[i] ?? 0) >= since)
      candidates.push(posts.id[i] ?? 0);
  const bound = {
    ids: JSON.stringify(candidates),
    delivered: JSON.stringify(asked.delivered),
    since: iso(Math.max(since, 0)),
    until: iso(until),
  };
  const rows = await reader.rows(ENTERED, bound);
  return new Map(rows.map(({ post, at }) => [Number(post), String(at)]));
}

interface Told {
  entered: ReadonlyMap<number, string>;
  meant: readonly Asker[];
  open: readonly Asker[];
  isToTell(one: Asker): boolean;
}

function notesOn({ entered, meant, open, isToTell }: Told): string[] {
  const people = (some: readonly Asker[]): number => new Set(some.map(({ user }) => user)).size;
  const toldBefore = people(meant.filter((one) => !isToTell(one)));
  const silent = people(meant.filter(({ email }) => email === null));
  const lonely = [...entered.keys()].filter((post) => !open.some((one) => one.post === post));
  const notes = [`${counted(entered.size, 'post')} became delivered in the period, as the mirror saw it.`];
  if (toldBefore > 0)
    notes.push(`Left out: ${counted(toldBefore, 'person who was', 'people who were')} told already.`);
  if (silent > 0)
    notes.push(`Left out: ${counted(silent, 'person', 'people')} whose address the service does not show.`);
  if (lonely.length > 0) notes.push(`Nobody is left to tell of ${lonely.map((id) => `#${id}`).join(', ')}.`);
  return notes;
}
