import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { CompanyView } from '../../search/browse/company.ts';
import { type CustomerFile, ROLES, readCustomers } from '../../segments/file.ts';
import type { ImportedCustomers, SegmentChoices, SegmentStore, SegmentsState } from '../../segments/store.ts';
import type { ToldStore } from '../../segments/told.ts';
import { required, textIn } from './parameters.ts';
import type { DashboardReads } from './reading-pool.ts';

export interface SegmentsDeps {
  segments: SegmentStore;
  toldPeople: ToldStore;
  reads: DashboardReads;
  clock: Clock;
}

export type SegmentsAnswer = SegmentsState;

/** What came of a file; `imported` is null for a dry run. */
export interface ImportedAnswer extends Pick<CustomerFile, 'columns' | 'unread' | 'notes'> {
  customers: number;
  imported: ImportedCustomers | null;
}

export type CompanyAnswer = CompanyView;

/** `/data/segments`: the customers that were imported, a new file in their place, and a company with all that its people asked. */
export function addSegments(
  app: FastifyInstance,
  { segments, toldPeople, reads, clock }: SegmentsDeps,
): void {
  app.get('/data/segments', async (): Promise<SegmentsAnswer> => segments.state());
  app.get('/data/segments/choices', async (): Promise<SegmentChoices> => segments.choices());
  app.post('/data/segments', async ({ body }): Promise<ImportedAnswer> => {
    const columns = Object.fromEntries(
      ROLES.flatMap((role) => {
        const name = textIn(body, role);
        return name === null ? [] : [[role, name]];
      }),
    );
    const file = readCustomers(required(textIn(body, 'csv'), 'csv'), columns);
    if (file.customers.length === 0)
      throw new AppError('usage', 'the file has no customer that could be read');
    const isDry = textIn(body, 'dry') === '1';
    const imported = isDry ? null : segments.import(file, textIn(body, 'by') ?? 'dashboard', clock.now());
    return { ...file, customers: file.customers.length, imported };
  });
  app.post('/data/segments/remove', async () => ({ removed: segments.remove() }));
  // The rows of the report `shipped` that a person has sent their message to.
  app.post('/data/shipped/told', async ({ body }) => {
    return { marked: toldPeople.mark(toldIn(body), textIn(body, 'by') ?? 'dashboard', clock.now()) };
  });
  app.get('/data/companies', async ({ query }, reply) => {
    const name = required(textIn(query, 'name'), 'name');
    const found: CompanyAnswer | null = await reads.ask('company', name);
    return found ?? reply.code(404).send({ detail: `No imported customer has the company "${name}".` });
  });
}

const isId = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;

function toldIn(body: unknown): { user: number; posts: number[] }[] {
  const people: unknown = Reflect.get(Object(body), 'people');
  if (!Array.isArray(people)) throw new AppError('usage', '"people" must be a list');
  return people.map((one: unknown) => {
    const user: unknown = Reflect.get(Object(one), 'user');
    const posts: unknown = Reflect.get(Object(one), 'posts');
    if (isId(user) && Array.isArray(posts) && posts.every(isId)) return { user, posts };
    throw new AppError('usage', 'each of "people" needs the number of a user, and a list of posts');
  });
}
