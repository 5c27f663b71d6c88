import type { Random } from '../../../src/sandbox/random.ts';
import { drawTopic, writeContent, writeTitle } from '../../../src/sandbox/writing.ts';
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
export interface Drafts {
  /** A post with a title that nobody else has. One in ten is for a board that does not exist. */
  draft(): Wanted;
  accepted(posts: readonly Wanted[], how: string): void;
  /** By title. */
  readonly acknowledged: ReadonlyMap<string, { post: Wanted; how: string }>;
}

export const NO_BOARD = 'nowhere';
/** The upstream takes ids too: 2 is `bugs`. */
const BOARDS = ['bugs', 'mobile', '2'];

/** Something for every kind of rewriting to change. */
const ODDITIES = [
  '🎉 hurray 👍🏽',
  'café – naïve “words”',
  `"it's" -- so...`,
  'R&D <b>bold</b> <script>alert(1)</script>',
  'see https://example.com/a/very/long/path/to/a/page?with=query',
  '**bold** and `code` and [a link](https://example.com/x)',
  'damn slow, ask @ada',
  'ﬁne² e\u0301 zero\u200bwidth',
] as const;

export function openDrafts(seed: number): Drafts {
  const random = streamOf(seed, 'drafts');
  const acknowledged = new Map<string, { post: Wanted; how: string }>();
  let count = 0;
  return {
    acknowledged,
    draft: () => draft(++count, random),
    accepted(posts, how) {
      for (const post of posts) acknowledged.set(post.title, { post, how });
    },
  };
}

function draft(n: number, random: Random): Wanted {
  const about = drawTopic(random);
  const asUser = random.chance(0.5);
  // Longer than the 255 characters at which services cut a title.
  const length = random.chance(0.1) ? ` ${writeContent(random, about)}`.replace(/\s+/g, ' ').repeat(4) : '';
  return {
    board: random.chance(0.1) ? NO_BOARD : random.pick(BOARDS),
    title: `${MARKS.title}${n} ${writeTitle(random, about)} ${random.pick(ODDITIES)}${length}.`,
    content: `${writeContent(random, about)}\n\n${random.pick(ODDITIES)}\n${MARKS.content} ${n}`,
    email: asUser ? `${MARKS.email}.${n}${random.chance(0.3) ? '+tag' : ''}@example.com` : null,
    full_name: asUser ? `${MARKS.name} ${n}` : null,
  };
}
