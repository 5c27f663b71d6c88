import type { Random } from '../../../src/sandbox/random.ts';
import type { World } from '../../laboratory/server.ts';
import { type Event, happen } from '../../mirror/upheaval.ts';
import type { Fixture } from '../fixture.ts';
import { streamOf } from '../plan.ts';

const GENTLE: Event['what'][] = [
  'post',
  'post',
  'comment',
  'comment',
  'vote',
  'vote',
  'status',
  'uncomment',
  'like',
];

/** More posts of others than this, and more of them are deleted than written. */
const MOST_STRANGERS = 400;

/** People use the upstream meanwhile: posts, votes, comments, statuses, edits and deletions, some every second. */
export function startUpstreamLife({
  sandbox,
  options,
  tally,
}: Pick<Fixture, 'sandbox' | 'tally'> & { options: { seed: number } }): () => void {
  const random = streamOf(options.seed, 'upstream life');
  let [steps, isCrowded] = [0, false];
  const step = (): void => {
    // To count them takes as long as to read the whole list.
    if (steps++ % 40 === 0) isCrowded = strangers(sandbox.world).length > MOST_STRANGERS;
    const what = random.chance(isCrowded ? 0.4 : 0.12) ? upset(sandbox.world, random) : random.pick(GENTLE);
    if (what !== 'delete' && what !== 'edit') happen(sandbox.world, { what, at: random.int(100_000) });
    tally.fired(`load: upstream ${what}`);
  };
  const timer = setInterval(step, 250);
  return () => clearInterval(timer);
}

/**
 * Posts that we sent are left as they are: one that somebody deletes or rewrites before its sender has found it cannot be told from one
 * that never arrived, and would rightly be sent again.
 */
function upset(world: World, random: Random): 'delete' | 'edit' {
  const what = random.pick(['delete', 'edit'] as const);
  const { id } = random.pick(strangers(world));
  if (what === 'delete') world.deletePost(id);
  else world.editPost(id, { title: `edited ${random.int(1000)}`, content: `new text ${random.int(1000)}` });
  return what;
}

/** By the ledger: the words of ours may have been rewritten. */
function strangers(world: World): ReturnType<World['posts']> {
  const ours = new Set(world.ledger().map(({ post_id }) => post_id));
  return world.posts().filter(({ id }) => !ours.has(id));
}
