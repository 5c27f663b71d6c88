import { iso } from '../base/clock.ts';
import type { Db, StoreOptions } from '../db/open.ts';
import { immediate, scalar } from '../db/sql.ts';
import { openMirror } from '../mirror/file/open.ts';
import { suppressionList } from '../mirror/suppression/list.ts';
import { emailKey } from '../text/email.ts';
import type { Customer, CustomerFile } from './file.ts';

/** What an import of a customers file changed. */
export interface ImportedCustomers {
  customers: number;
  /** People of the mirror who belong to one of them. */
  people: number;
  added: number;
  removed: number;
  /** Rows of people who were erased: they stay out. */
  erased: number;
}

export interface ListedSegment {
  plan: string | null;
  customers: number;
  people: number;
  value: number | null;
}

interface ListedCompany extends ListedSegment {
  company: string;
}

export interface SegmentsState {
  customers: number;
  people: number;
  importedAt: string | null;
  importedBy: string | null;
  valueName: string | null;
  /** By plan, the plan with the greatest value first. */
  plans: ListedSegment[];
  /** So many companies there are, and those with the greatest value. */
  companyCount: number;
  companies: ListedCompany[];
}

/** What people choose customers by: columns of their file, the usual one first, and filters such as `plan=Pro`. */
export interface SegmentChoices {
  columns: string[];
  filters: string[];
}

export type SegmentStore = ReturnType<typeof openSegmentStore>;

/** The customers that a person imported. Each import takes the place of the one before. */
export function openSegmentStore(options: StoreOptions) {
  const db = openMirror(options);
  db.pragma('cache_size = -500');
  const erasedPeople = suppressionList(db, options);
  const keys = scalar(db)<[], string>("SELECT coalesce(email, '@' || domain) FROM segments");
  const clear = db.prepare('DELETE FROM segments');
  const insert = db.prepare(`
    INSERT INTO segments (email, domain, company, plan, value, value_name, extra, imported_at, imported_by)
    VALUES ($email, $domain, $company, $plan, $value, $valueName, $extra, $at, $by)`);
  return {
    import: immediate(
      db,
      ({ customers, columns }: CustomerFile, by: string, now: number): ImportedCustomers => {
        const list = erasedPeople();
        const known = new Set(keys.all());
        const kept = customers.filter(({ email }) => email === null || list?.hashOf(email) === undefined);
        const next = new Set(kept.map(keyOf));
        clear.run();
        const facts = { at: iso(now), by, valueName: columns.value };
        for (const customer of kept) insert.run({ ...customer, ...facts, extra: jsonOf(customer.extra) });
        return {
          customers: kept.length,
          people: linkPeople(db),
          added: kept.filter((customer) => !known.has(keyOf(customer))).length,
          removed: [...known].filter((key) => !next.has(key)).length,
          erased: customers.length - kept.length,
        };
      },
    ),
    remove: immediate(db, (): number => clear.run().changes),
    state: (): SegmentsState => segmentsState(db),
    choices: (): SegmentChoices => segmentChoices(db),
    close: (): void => void db.close(),
  };
}

function keyOf({ email, domain }: Customer): string {
  return email ?? `@${domain}`;
}

function jsonOf(extra: Record<string, string>): string | null {
  return Object.keys(extra).length === 0 ? null : JSON.stringify(extra);
}

/** Everybody of the mirror by address, and then by domain. The triggers of the table `users` do the same for those who come later. */
function linkPeople(db: Db): number {
  const rows = db.prepare<[], { id: number; email: string | null; domain: string | null }>(
    'SELECT id, email, domain FROM segments',
  );
  const ids = new Map(rows.all().map(({ id, email, domain }) => [email ?? `@${domain}`, id]));
  const users = db.prepare<[], { id: number; email: string }>(
    'SELECT id, email FROM users WHERE email IS NOT NULL',
  );
  const link = db.prepare('INSERT INTO people_segments (user_id, segment_id) VALUES (?, ?)');
  let people = 0;
  for (const { id, email } of users.all()) {
    const key = emailKey(email);
    const segment = ids.get(key) ?? ids.get(key.slice(key.indexOf('@')));
    if (segment === undefined) continue;
    link.run(id, segment);
    people++;
  }
  return people;
}

const MOST_COMPANIES = 200;

/** Customers, people of the mirror and value of each group; a company with several plans shows one of them. */
const groupsBy = (columns: string, by: 'plan' | 'company'): string => `
  WITH linked AS (SELECT segment_id, count(*) AS people FROM people_segments GROUP BY 1)
  SELECT ${columns}, count(*) AS customers, coalesce(sum(l.people), 0) AS people, sum(value) AS value
    FROM segments s LEFT JOIN linked l ON l.segment_id = s.id GROUP BY ${by} ORDER BY value DESC NULLS LAST, customers DESC, ${by}`;
const PLANS = groupsBy('plan', 'plan');
const COMPANIES = `SELECT * FROM (${groupsBy('company, max(plan) AS plan', 'company')}) WHERE company IS NOT NULL LIMIT ${MOST_COMPANIES}`;

/** What is known of customers, for people who look. */
export function segmentsState(db: Db): SegmentsState {
  const row = db
    .prepare<[], Omit<SegmentsState, 'plans' | 'companies'>>(`
      SELECT count(*) AS customers, (SELECT count(*) FROM people_segments) AS people, max(imported_at) AS importedAt,
             max(imported_by) AS importedBy, max(value_name) AS valueName, count(DISTINCT company) AS companyCount FROM segments`)
    .get() as Omit<SegmentsState, 'plans' | 'companies'>;
  return {
    ...row,
    plans: db.prepare<[], ListedSegment>(PLANS).all(),
    companies: db.prepare<[], ListedCompany>(COMPANIES).all(),
  };
}

/** Suggestions come from so many rows of the file, and no column suggests more than so many values. */
const READ_ROWS = 2000;
const MOST_VALUES = 12;

const VALUES = `
  WITH some AS (SELECT plan, company, value, extra FROM segments ORDER BY value DESC NULLS LAST, id LIMIT ${READ_ROWS}),
       cells (name, cell) AS (
         SELECT 'plan', plan FROM some WHERE plan IS NOT NULL
          UNION ALL SELECT 'company', company FROM some WHERE company IS NOT NULL
          UNION ALL SELECT j.key, j.value FROM some JOIN json_each(some.extra) j)
  SELECT name, cell, count(*) OVER (PARTITION BY name) AS different FROM cells GROUP BY name, cell ORDER BY count(*) DESC, cell`;

function segmentChoices(db: Db): SegmentChoices {
  const rows = db.prepare<[], { name: string; cell: string; different: number }>(VALUES).all();
  const found = new Set(rows.map(({ name }) => name));
  const own = ['plan', 'company'].filter((name) => found.delete(name));
  const columns = [...own, ...[...found].sort()];
  const few = rows.filter(({ name, different }) => different <= MOST_VALUES || name === 'company');
  const filters = columns.flatMap((column) =>
    few
      .filter(({ name }) => name === column)
      .slice(0, MOST_VALUES)
      .map(({ name, cell }) => `${name}=${cell}`),
  );
  return { columns, filters };
}
