import { decodePost, type Post } from '../src/contract/decode.ts';
import { createRandom, type Random } from '../src/sandbox/random.ts';
import { openSqliteStore } from '../src/store/mirror/sqlite.ts';

/** As many words as a large product's customers use, the n-th most frequent of them 1/n as often as the first. */
export const VOCABULARY = 50_000;
/** Draws from a table instead of a search in the cumulated shares: a hundred million words take seconds. */
const DRAWS = 1 << 22;
const PAGE = 5_000;

export interface Language {
  /** Most frequent first. */
  words: readonly string[];
  /** The place of the next word of a text. */
  draw(random: Random): number;
}

/** Made-up words of two to five syllables; the frequent ones are short. */
export function zipfLanguage(random: Random): Language {
  const words = new Set<string>();
  while (words.size < VOCABULARY) {
    const length = 2 + Math.min(3, Math.floor(Math.log10(words.size + 1)));
    words.add(Array.from({ length }, () => random.pick(SYLLABLES)).join(''));
  }
  const table = drawingTable();
  return { words: [...words], draw: (source) => table[source.int(DRAWS)] ?? 0 };
}

const SYLLABLES = 'ba ce di fo gu ha ki le mo nu pa ra sie tor vun wel xam yot zen qua'.split(' ');

function drawingTable(): Uint16Array {
  const shares = Array.from({ length: VOCABULARY }, (_, rank) => 1 / (rank + 1));
  const whole = shares.reduce((sum, share) => sum + share, 0);
  const table = new Uint16Array(DRAWS);
  let at = 0;
  let cumulated = 0;
  for (const [rank, share] of shares.entries()) {
    cumulated += share;
    const end = Math.round((cumulated / whole) * DRAWS);
    table.fill(rank, at, end);
    at = end;
  }
  return table;
}

/** Titles of 3 to 12 words, contents of 15 to 105. */
export function zipfPost(id: number, { words, draw }: Language, random: Random): Post {
  const text = (length: number): string => Array.from({ length }, () => words[draw(random)] ?? '').join(' ');
  const board = random.int(6);
  const title = text(3 + random.int(10));
  const content = text(15 + random.int(91));
  const decoded = decodePost({
    id,
    title,
    content,
    url: `/b/board-${board}/p/${id}/`,
    creator: PERSON,
    board: { id: board, name: `Board ${board}`, url: `/b/board-${board}/` },
    status: { id: 1, name: 'Open', color: '#336699' },
    votes_count: random.int(500),
    created: new Date(Date.UTC(2020, 0, 1) + id * 60_000).toISOString(),
    comments_count: 0,
  });
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.row;
}

const PERSON = {
  id: 1,
  email: 'someone@example.com',
  name: 'Someone',
  alias: 'someone',
  registered: '2020-01-01T00:00:00.000Z',
  is_admin: false,
  is_team: false,
};

/** A mirror of so many posts, written and indexed by the store itself, as a first sweep would. */
export async function fillMirror(path: string, upstream: string, posts: number): Promise<Language> {
  const random = createRandom(20_261_115);
  const language = zipfLanguage(random);
  const store = openSqliteStore({ path, upstream, holder: 'bench' });
  const pass = await store.beginPass({ resource: 'posts', mode: 'sweep', now: Date.now(), resume: false });
  const rest = { rejects: [], absence: null, keepIds: false, state: null };
  for (let id = 1; id <= posts; id += PAGE) {
    const length = Math.min(PAGE, posts - id + 1);
    const rows = Array.from({ length }, (_, n) => zipfPost(id + n, language, random));
    await store.applyPage({ pass, page: { resource: 'posts', rows }, observedAt: Date.now(), ...rest });
  }
  const end = { outcome: 'complete', error: null, keepState: null, conclude: 'nothing' } as const;
  await store.finishPass({ pass, now: Date.now(), acceptDeletes: false, ...end });
  while (await store.index());
  await store.close();
  return language;
}
