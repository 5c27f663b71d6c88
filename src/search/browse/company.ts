import type { Db } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import { caseFolded } from '../../text/email.ts';
import type { ListedPost } from './post.ts';
import { writtenReader } from './written.ts';

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

/** Live ones of these, those with the most votes first. */
const POSTS = `
  SELECT id FROM posts WHERE id IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL
   ORDER BY votes_count DESC, id LIMIT ${MOST_POSTS}`;

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
  const posts = scalar(db)<[string], number>(POSTS);
  const written = writtenReader(db);
  return (wanted: string): CompanyView | null => {
    const company = companyNamed(names.all(), caseFolded(wanted.trim()));
    const found = company === undefined ? undefined : facts.get(company);
    if (company === undefined || found === undefined) return null;
    const who = people.all(company);
    const { posts: theirs, comments } = written(who.map(({ id }) => id));
    const wrote = new Set(theirs.map(({ id }) => id));
    const listed = rows(posts.all(JSON.stringify([...wrote, ...comments.on])));
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
