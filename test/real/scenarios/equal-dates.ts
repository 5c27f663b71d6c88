import { inMirror } from '../../chaos/invariants/file.ts';
import { falselyDeleted, shares, sweepsOf, sweepsUntilFound } from '../judge.ts';
import type { Program } from '../program.ts';
import type { Notes } from '../report.ts';
import { type Service, TOKEN } from '../stack.ts';
import { deletePost } from '../traffic.ts';
import type { Context, Scenario } from './scenario.ts';

const POSTS = 800;
const SAME_DATE = 500;
/** Sweeps that deletions get to be found. */
const SWEEPS = 10;

/** Posts of a data migration share one `created`, and the list is ordered by it alone: every page sorts them in another way. */
export const equalDates: Scenario = {
  name: 'equal dates',
  async run({ deploy, open, notes }: Context) {
    const service = await deploy({ seed: { posts: POSTS, comments: 0, sameDate: SAME_DATE } });
    const program = open(service);
    const shown = await idsShown(service);
    notes.check('the list leaves out rows (else this scenario proves nothing)', shown < POSTS);
    notes.figure('posts, with one date, shown by the list', `${POSTS}, ${SAME_DATE}, ${shown}`);
    await firstSweep(program, notes);
    await newPosts(service, program, notes);
    await deletions(service, program, notes);
  },
};

/** Read without the program: how many posts the pages show, each counted once. */
async function idsShown({ url }: Service): Promise<number> {
  const ids = new Set<number>();
  let next: string | null = `${url}/api/v1/posts/?token=${TOKEN}`;
  while (next !== null) {
    const answer: Response = await fetch(next);
    const page = (await answer.json()) as { next: string | null; results: { id: number }[] };
    for (const { id } of page.results) ids.add(id);
    next = page.next;
  }
  return ids.size;
}

async function firstSweep(program: Program, notes: Notes): Promise<void> {
  const { code } = await program.run('sync', 'posts');
  const outcome = sweepsOf(program.mirror).at(-1)?.outcome;
  notes.figure('the sweep ends as', `${outcome}, exit ${code}`);
  notes.check(
    'a sweep that left out rows ends as incomplete, exit 5',
    outcome === 'incomplete' && code === 5,
    `${outcome}, exit ${code}`,
  );
}

/** A head pass needs no order of the other rows. */
async function newPosts({ url }: Service, program: Program, notes: Notes): Promise<void> {
  const wereKnown = liveRows(program.mirror);
  for (const title of ['One', 'Two', 'Three'])
    await fetch(`${url}/api/v1/posts/create/?token=${TOKEN}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ board: 'features', title, content: 'After the first sweep' }),
    });
  await program.run('sync', 'posts', '--head');
  const found = liveRows(program.mirror) - wereKnown;
  notes.check('a head pass finds three new posts', found === 3, `${found} found`);
}

/** Ten of the posts with one date and ten others are deleted. */
async function deletions(service: Service, program: Program, notes: Notes): Promise<void> {
  const first = (POSTS - SAME_DATE) / 2;
  const among = await deleteAll(
    service,
    Array.from({ length: 10 }, (_, n) => first + 20 + n * 45),
  );
  const others = await deleteAll(
    service,
    Array.from({ length: 10 }, (_, n) => 3 + n * 14),
  );
  const wereKnown = liveRows(program.mirror);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    await program.run('sync', 'posts');
    // PostgreSQL moves the rows that change, and with them the order of equal dates.
    await service.db.query('UPDATE feedback_post SET votes_count = votes_count + 1 WHERE id % 40 = $1', [
      sweep,
    ]);
  }
  notes.figure(
    `posts in the mirror after 1 sweep and a head pass, after ${SWEEPS} sweeps more while 20 posts get votes before each`,
    `${wereKnown}, ${liveRows(program.mirror)}`,
  );
  const after = [1, 2, 3, 5, 7, SWEEPS];
  for (const [where, list] of [
    ['with the same date', among],
    ['with dates of their own', others],
  ] as const) {
    const found = sweepsUntilFound(program.mirror, list);
    notes.figure(
      `deletions ${where} in the mirror after ${after.join(' / ')} sweeps`,
      `${shares(found, after)} of ${found.length}`,
    );
  }
  const wrong = falselyDeleted(program.mirror, [...among, ...others]);
  notes.check(`no living row was deleted in ${SWEEPS} sweeps`, wrong === 0, `${wrong} rows`);
}

function liveRows(mirror: string): number {
  return inMirror(
    mirror,
    (db) => db.prepare<[], number>('SELECT count(*) FROM live_posts').pluck().get() ?? 0,
  );
}

async function deleteAll({ db }: Service, ids: readonly number[]) {
  return (await Promise.all(ids.map((id) => deletePost(db, id)))).flat();
}
