import type { Comment, Post } from '../../src/contract/decode.ts';
import type { RejectedRow } from '../../src/mirror/decide/types.ts';
import { leading } from '../outbox/bench.ts';
import { aComment, aPost, minute, range } from '../support/rows.ts';
import { apply, begin, finish, sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';
import type { ErasureBench } from './bench.ts';

export const EMAIL = 'Zoë.Quandt@Planted.example';
/** Everything that was ever seen of the person, and must not be found afterwards. */
export const PLANTED = [
  ...[EMAIL, 'zoe-before@planted.example', 'Zoë Quandtflüchtig', 'Zoë Mädchennamig', 'zqalias'],
  ...['zqbadge', 'zqtitle', 'zqcontent', 'zqcomment', 'zqurl', 'zqfield', 'zqoverflow', 'zqbroken', 'zqcut'],
  ...['zqoutbox', 'zqfullname', 'zqunsent', 'zqrefused', 'zqreason', 'zqexplained', 'zqunclear', 'zqmended'],
];

const person = (version: number) => ({
  ...wire.user,
  id: 500,
  email: version < 2 ? 'zoe-before@planted.example' : EMAIL,
  name: version < 2 ? 'Zoë Mädchennamig' : 'Zoë Quandtflüchtig',
  alias: 'zqalias',
  badge: 'zqbadge',
});

const other = (id: number) => ({
  ...wire.user,
  id: 600 + (id % 40),
  email: `o${id % 40}@example.com`,
  name: `Other ${id % 40}`,
});

const isPersons = (id: number): boolean => id % 7 === 0;

/** Texts grow and shrink from one version to the next: rows move between pages, and leave copies there. */
function long(word: string, id: number, version: number): string {
  return `${word}${id}v${version} `.repeat(1 + ((id * 31 + version * 17) % 60));
}

export function upstreamPosts(version: number): Post[] {
  return range(1, 600).map((id) =>
    isPersons(id)
      ? aPost(id, {
          creator: person(version),
          title: `zqtitle${id} v${version}`,
          content:
            id % 70 === 0 ? long('zqoverflow', id, version).repeat(20) : long('zqcontent', id, version),
          url: `/b/ideas/zqurl${id}`,
          mood: `zqfield${id}`,
        })
      : aPost(id, {
          creator: other(id),
          title: `Title ${id}`,
          content: long('plain', id, version),
          votes_count: version,
        }),
  );
}

export function upstreamComments(version: number): Comment[] {
  const post = (id: number) => ({
    id,
    title: isPersons(id) ? `zqtitle${id} v${version}` : `Title ${id}`,
    url: isPersons(id) ? `/b/ideas/zqurl${id}` : '/p',
  });
  return range(1, 400).map((id) =>
    id % 9 === 0
      ? aComment(id, {
          creator: person(version),
          post: post(id),
          content: long('zqcomment', id, version),
          pinned: 'zqfield',
        })
      : aComment(id, {
          creator: other(id),
          post: post(id),
          content: id === 5 ? `Ask ${EMAIL.toLowerCase()}, or mail joe@x.org` : `Comment ${id}`,
        }),
  );
}

export const REJECTS: RejectedRow[] = [
  {
    id: 9001,
    reason: 'title is missing',
    body: JSON.stringify({ id: 9001, content: 'zqbroken', creator: { id: 500 } }),
  },
  { id: null, reason: 'the value is cut', body: `{"content":"zqcut","creator":{"email":"${EMAIL}","na` },
  { id: 9003, reason: 'title is missing', body: '{"id":9003,"creator":{"id":501}}' },
];

export async function sweepUpstream({ store }: ErasureBench, version: number, at: number): Promise<void> {
  for (const resource of ['posts', 'comments'] as const) {
    const rows = resource === 'posts' ? upstreamPosts(version) : upstreamComments(version);
    const pass = await begin(store, resource, at, { resume: false });
    // In an order that makes pages split in the middle.
    const shuffled = rows.toSorted((a, b) => ((a.id * 137) % 601) - ((b.id * 137) % 601));
    for (let i = 0; i < shuffled.length; i += 50) await apply(store, pass, shuffled.slice(i, i + 50), at);
    await finish(store, pass, at);
    // Rows that this version no longer has are missing from two whole sweeps.
    await sweep(store, resource, rows, at);
    const broken = await begin(store, resource, at, { resume: false });
    await apply(store, broken, rows, at, { rejects: resource === 'posts' ? REJECTS : [] });
    await finish(store, broken, at);
  }
  while (await store.index());
}

/** Rows of the person in every state that has an end, one that was never sent, and one nobody knows about. */
export async function fillOutbox(bench: ErasureBench): Promise<Record<string, number>> {
  const as = { email: EMAIL.toUpperCase(), full_name: 'zqfullname' };
  const [confirmed = 0, ready = 0, rejected = 0, unclear = 0, mention = 0, foreign = 0] = await bench.accept(
    { ...as, title: 'zqoutbox one' },
    { ...as, title: 'zqunsent', source_key: `key:${EMAIL}` },
    { ...as, title: 'zqrefused' },
    { ...as, title: 'zqunclear' },
    { title: 'For a customer', content: `${EMAIL} wants it` },
    { title: 'Of somebody else', email: 'o1@example.com' },
  );
  const now = minute(3);
  const end = async (
    id: number,
    to: 'confirmed' | 'rejected' | 'ambiguous',
    error: string | null,
    postId?: number,
  ) => {
    await bench.outbox.claim({
      id,
      transition: { from: ['ready'], to: 'sending' },
      now,
      deadline: now + 1,
      listedMaxId: null,
    });
    const change = {
      now,
      error,
      ...(postId === undefined ? {} : { postId, url: '/zqurl' }),
      notBefore: to === 'ambiguous' ? now + 1 : null,
    };
    await bench.outbox.endAttempt({
      id,
      n: 1,
      outcome: to === 'ambiguous' ? 'unknown' : to,
      httpStatus: 200,
      error,
      transition: leading('sending', to),
      change,
    });
  };
  await end(confirmed, 'confirmed', 'zqexplained', 7);
  await end(rejected, 'rejected', 'zqreason');
  await end(unclear, 'ambiguous', 'zqreason');
  await end(mention, 'rejected', `no customer ${EMAIL}`);
  const mended = { board: 'bugs', title: 'For a customer', content: '', email: null, full_name: null };
  for (const [id, post] of [
    [rejected, { ...mended, ...as, title: 'zqmended' }],
    [mention, mended],
  ] as const)
    bench.outbox.edit({ id, from: ['rejected'], post, content_hash: `mended ${id}`, now });
  return { confirmed, ready, rejected, unclear, mention, foreign };
}
