import type { Db } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import { caseFolded } from '../../text/email.ts';
import type { ListedPost } from './post.ts';

/** A company of the customers file with all that its people asked for. The API does not say what they voted for. */
export interface CompanyView {
  company: string;
  plans: string[];
  /** The sum of its rows; null where none has a number. */
  value: number | null;
  valueName: string | null;
  customers: number;
  people: { id: number; name: string | null; email: string | null }[];
  /** Posts that they wrote or commented on, those with the most votes first. */
  posts: (ListedPost & { how: 'wrote' | 'commented' })[];
}

const MOST_POSTS = 500;

const FACTS = `
  SELECT count(*) AS customers, sum(value) AS value, max(value_name) AS valueName, json_group_array(DISTINCT plan) AS plans
    FROM segments WHERE company = ?`;

const PEOPLE = `
  SELECT u.id, u.name, u.email FROM segments s JOIN people_segments l ON l.segment_id = s.id JOIN users u ON u.id = l.user_id
   WHERE s.company = ? ORDER BY u.id`;

const POSTS = `
  WITH people AS MATERIALIZED (SELECT value AS id FROM json_each(?)),
       asked AS (
         SELECT id AS post, 0 AS n FROM posts WHERE creator_id IN (SELECT id FROM people)
          UNION ALL SELECT post_id, 1 FROM comments WHERE creator_id IN (SELECT id FROM people) AND deleted_at IS NULL)
  SELECT p.id, min(a.n) AS n FROM asked a JOIN posts p ON p.id = a.post WHERE p.deleted_at IS NULL
   GROUP BY p.id ORDER BY p.votes_count DESC, p.id LIMIT ${MOST_POSTS}`;

interface Facts {
  customers: number;
  value: number | null;
  valueName: string | null;
  plans: string;
}

/** By the name of the company or its beginning, however it is spelt; null where no customer, or several, are meant. */
export function companyReader(db: Db, rows: (ids: readonly number[]) => ListedPost[]) {
  const names = scalar(db)<[], string>('SELECT DISTINCT company FROM segments WHERE company IS NOT NULL');
  const facts = db.prepare<[string], Facts>(FACTS);
  const people = db.prepare<[string], CompanyView['people'][number]>(PEOPLE);
  const posts = db.prepare<[string], { id: number; n: number }>(POSTS);
  return (wanted: string): CompanyView | null => {
    const company = companyNamed(names.all(), caseFolded(wanted.trim()));
    const found = company === undefined ? undefined : facts.get(company);
    if (company === undefined || found === undefined) return null;
    const who = people.all(company);
    const asked = posts.all(JSON.stringify(who.map(({ id }) => id)));
    const wrote = new Set(asked.filter(({ n }) => n === 0).map(({ id }) => id));
    const listed = rows(asked.map(({ id }) => id));
    const { plans, ...sums } = found;
    return {
      company,
      ...sums,
      plans: (JSON.parse(plans) as (string | null)[]).filter((plan) => plan !== null),
      people: who,
      posts: listed.map((post) => ({ ...post, how: wrote.has(post.id) ? 'wrote' : 'commented' })),
    };
  };
}

function companyNamed(names: readonly string[], wanted: string): string | undefined {
  const whole = names.find((name) => caseFolded(name) === wanted);
  const [only, another] = names.filter((name) => caseFolded(name).startsWith(wanted));
  return whole ?? (another === undefined ? only : undefined);
}
