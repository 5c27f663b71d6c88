import { streamOf } from '../plan.ts';

/** Words that no log, no queue and no error may show. */
export const MARKS = { email: 'zq7mail', name: 'Zq7name', title: 'zq7title', content: 'zq7text' } as const;

export interface Wanted {
  board: string;
  title: string;
  content: string;
  email: string | null;
  full_name: string | null;
}

/** What the program was asked to post, and what it said it would: the other half of the upstream's ledger. */
export interface Book {
  /** A post with a title that nobody else has. One in ten is for a board that does not exist. */
  draft(): Wanted;
  accepted(posts: readonly Wanted[], how: string): void;
  /** By title. */
  readonly acknowledged: ReadonlyMap<string, { post: Wanted; how: string }>;
  readonly drafted: ReadonlySet<string>;
}

export const NO_BOARD = 'nowhere';
const BOARDS = ['bugs', 'mobile'];

export function openBook(seed: number): Book {
  const random = streamOf(seed, 'drafts');
  const acknowledged = new Map<string, { post: Wanted; how: string }>();
  const drafted = new Set<string>();
  return {
    acknowledged,
    drafted,
    draft() {
      const n = drafted.size + 1;
      const title = `${MARKS.title} ${n}`;
      drafted.add(title);
      const asUser = random.chance(0.5);
      return {
        board: random.chance(0.1) ? NO_BOARD : random.pick(BOARDS),
        title,
        content: `${MARKS.content} ${n}, line one\nand two`,
        email: asUser ? `${MARKS.email}.${n}@example.com` : null,
        full_name: asUser ? `${MARKS.name} ${n}` : null,
      };
    },
    accepted(posts, how) {
      for (const post of posts) acknowledged.set(post.title, { post, how });
    },
  };
}
