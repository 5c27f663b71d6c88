import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Comment, Post } from '../../src/contract/decode.ts';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import { openMirrorStore } from '../../src/mirror/store/store.ts';
import type { ReportRequest, ReportResult } from '../../src/reports/report.ts';
import { runReport } from '../../src/reports/run.ts';
import { openReportReader } from '../../src/reports/store.ts';
import { folderFor } from '../support/folder.ts';
import { placeNewMirror } from '../support/mirror.ts';
import { aComment, aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';

export const UPSTREAM = 'https://upstream.test/api';
/** Days of the story are counted from 1 January 2026, a Thursday; it is told on the 31st. */
export const NOW = Date.parse('2026-01-31T00:00:00.000Z');
const DAY_MINUTES = 1440;

const person = (id: number, name: string, isTeam: boolean) => ({
  ...wire.user,
  id,
  name,
  email: `${name.toLowerCase()}@example.com`,
  is_admin: false,
  is_team: isTeam,
});
export const ANN = person(1, 'Ann', false);
export const BOB = person(2, 'Bob', false);
export const TESS = person(3, 'Tess', true);
export const CLEO = person(4, 'Cleo', false);

const FEATURES = { id: 1, name: 'Features', url: '/b/features/' };
const BUGS = { id: 2, name: 'Bugs', url: '/b/bugs/' };
const STATUS = {
  open: { id: 1, name: 'Open', color: '#111111' },
  planned: { id: 2, name: 'Planned', color: '#222222' },
  done: { id: 3, name: 'Done', color: '#333333' },
};

type State = { votes: number; status?: keyof typeof STATUS };

function post(id: number, { votes, status = 'open' }: State): Post {
  const fixed = POSTS[id] ?? {};
  return aPost(id, { content: '', ...fixed, votes_count: votes, status: STATUS[status] });
}

const POSTS: Record<number, Record<string, unknown>> = {
  101: {
    title: 'Dark mode for the editor',
    creator: ANN,
    board: FEATURES,
    created: '2025-12-01T00:00:00Z',
    comments_count: 2,
  },
  102: {
    title: '=Export to PDF',
    creator: BOB,
    board: FEATURES,
    created: '2025-12-15T00:00:00Z',
    comments_count: 2,
  },
  103: {
    title: 'Login fails on Sundays',
    creator: ANN,
    board: BUGS,
    created: '2025-12-20T00:00:00Z',
    comments_count: 0,
  },
  104: {
    title: 'Plan of the year',
    creator: TESS,
    board: FEATURES,
    created: '2025-12-21T00:00:00Z',
    comments_count: 0,
  },
  105: {
    title: 'Dark mode in the editor',
    creator: BOB,
    board: FEATURES,
    created: '2026-01-03T00:00:00Z',
    comments_count: 2,
  },
  106: {
    title: 'Crash while saving',
    creator: ANN,
    board: BUGS,
    created: '2025-12-22T00:00:00Z',
    comments_count: 0,
  },
};

function comment(id: number, on: number, creator: typeof ANN, created: string, internal = false): Comment {
  const post = { id: on, title: String(POSTS[on]?.title), url: `/p/${on}/` };
  return aComment(id, { post, creator, created, internal, kind: 'reply', status: null });
}

export const COMMENTS = [
  comment(201, 101, TESS, '2025-12-03T00:00:00Z'),
  comment(202, 101, BOB, '2026-01-05T00:00:00Z'),
  comment(203, 102, TESS, '2025-12-16T00:00:00Z', true),
  comment(204, 105, TESS, '2026-01-03T12:00:00Z'),
  comment(205, 105, TESS, '2026-01-04T00:00:00Z'),
  comment(206, 102, CLEO, '2026-01-20T00:00:00Z'),
];

/** What the posts looked like, by the day of each sweep. 103 is gone on day 20; nothing changes on day 28. */
const [p103, p104, p106] = [
  post(103, { votes: 2 }),
  post(104, { votes: 1, status: 'planned' }),
  post(106, { votes: 4 }),
];
const LAST = [
  post(101, { votes: 20, status: 'done' }),
  post(102, { votes: 8 }),
  p104,
  post(105, { votes: 6, status: 'planned' }),
  p106,
];
const SWEEPS: [day: number, posts: Post[]][] = [
  [0, [post(101, { votes: 10 }), post(102, { votes: 5 }), p103, p104, p106]],
  [3, [post(101, { votes: 12 }), post(102, { votes: 5 }), p103, p104, post(105, { votes: 3 }), p106]],
  [
    10,
    [
      post(101, { votes: 12, status: 'planned' }),
      post(102, { votes: 8 }),
      p103,
      p104,
      post(105, { votes: 6 }),
      p106,
    ],
  ],
  [20, LAST],
  [28, LAST],
];

export interface Story {
  path: string;
  ask(name: string, request?: Partial<ReportRequest>): Promise<ReportResult>;
}

/** The whole story, or its first sweeps only, written through the real store. */
export async function tell(
  t: TestContext,
  { sweeps = SWEEPS.length }: { sweeps?: number } = {},
): Promise<Story> {
  return await write(t, async (store) => {
    for (const [day, posts] of SWEEPS.slice(0, sweeps))
      await sweep(store, 'posts', posts, day * DAY_MINUTES, { acceptDeletes: true });
    if (sweeps > 0) await sweep(store, 'comments', COMMENTS, 28 * DAY_MINUTES);
  });
}

/** A mirror with what the given function puts into it. */
export async function write(t: TestContext, fill: (store: MirrorStore) => Promise<void>): Promise<Story> {
  const folder = folderFor(t, 'reports');
  const options = { path: join(folder, 'mirror.db'), upstream: UPSTREAM };
  placeNewMirror(options.path);
  const store = openMirrorStore({ ...options, holder: 'the story' });
  await fill(store);
  while (await store.index());
  await store.close();
  return {
    path: options.path,
    async ask(name, request = {}) {
      const reader = openReportReader(options);
      try {
        return await runReport(reader, name, { now: NOW, timeZone: 'UTC', ...request });
      } finally {
        await reader.close();
      }
    },
  };
}

/** The rows as lists, in the order of the columns. */
export function table({ columns, rows }: ReportResult): unknown[][] {
  return rows.map((row) => columns.map(({ name }) => row[name]));
}

/** Some columns of the rows. */
export function pick({ rows }: ReportResult, ...names: string[]): unknown[][] {
  return rows.map((row) => names.map((name) => row[name]));
}
