import { iso } from '../base/clock.ts';
import type { Packed } from '../mirror/index/columns.ts';
import { rowsFrom, rowsWhere, setOf } from '../mirror/index/select.ts';
import { counted } from '../text/text.ts';
import { postFactsOf } from './lists.ts';
import type { ReportRows, Row } from './report.ts';
import type { ReportReader } from './store.ts';
import { flagged, placesOf, selected, type TallyQuestion } from './tally.ts';

const POSTS = ['id', 'created', 'board', 'status', 'gone', 'version'] as const;

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
  const titles = await postFactsOf(reader, [...entered.keys()]);
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
  const { posts, versions } = await reader.columns({ posts: POSTS, versions: ['post', 'at', 'status'] });
  const { since, until, now } = asked;
  const always = { since: Number.NEGATIVE_INFINITY, until: now };
  const isDelivered = setOf(asked.delivered);
  const changed = rowsWhere(rowsFrom(posts.version, since), (i) => isDelivered(posts.status[i] ?? 0));
  const isCandidate = flagged(posts.rows, selected(posts, { ...asked, ...always }, changed));
  const entered: { post: number; at: number }[] = [];
  for (const [place, at] of lastEntries(posts, versions, isCandidate, isDelivered))
    if (at >= since && at < until) entered.push({ post: posts.id[place] ?? 0, at });
  entered.sort((a, b) => a.at - b.at || a.post - b.post);
  return new Map(entered.map(({ post, at }) => [post, iso(at)]));
}

/** When each post last went from a status that does not deliver to one that does. The versions of a post are side by side. */
function lastEntries(
  posts: Packed<'id' | 'status' | 'version'>,
  versions: Packed<'post' | 'at' | 'status'>,
  isCandidate: (place: number) => boolean,
  isDelivered: (status: number) => boolean,
): Map<number, number> {
  const entered = new Map<number, number>();
  const placeOf = placesOf(posts.id);
  let [last, place, was] = [-1, -1, true];
  const step = (status: number, at: number): void => {
    const is = isDelivered(status);
    if (is && !was) entered.set(place, at);
    was = is;
  };
  const end = (): void => {
    if (place >= 0) step(posts.status[place] ?? 0, posts.version[place] ?? 0);
  };
  for (let v = 0; v < versions.rows; v++) {
    const id = versions.post[v] ?? 0;
    if (id !== last) {
      end();
      const found = placeOf(id);
      [last, place, was] = [id, found >= 0 && isCandidate(found) ? found : -1, true];
    }
    if (place >= 0) step(versions.status[v] ?? 0, versions.at[v] ?? 0);
  }
  end();
  return entered;
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
  const heard = new Set(open.map(({ post }) => post));
  const lonely = [...entered.keys()].filter((post) => !heard.has(post));
  const notes = [`${counted(entered.size, 'post')} became delivered in the period, as the mirror saw it.`];
  if (toldBefore > 0)
    notes.push(`Left out: ${counted(toldBefore, 'person who was', 'people who were')} told already.`);
  if (silent > 0)
    notes.push(`Left out: ${counted(silent, 'person', 'people')} whose address the service does not show.`);
  if (lonely.length > 0) {
    const named = lonely.slice(0, MOST_NAMED).map((id) => `#${id}`);
    const more = lonely.length - named.length;
    const those = more > 0 ? `${named.join(', ')} and ${counted(more, 'more post')}` : named.join(', ');
    notes.push(`Nobody is left to tell of ${those}.`);
  }
  return notes;
}

/** So many posts of a note are named. */
const MOST_NAMED = 10;
