import fc from 'fast-check';
import type { World } from '../laboratory/server.ts';

/** Something that happens upstream between two requests. `at` picks a row by its place among those alive. */
export interface Event {
  what: 'post' | 'delete' | 'edit' | 'vote' | 'status' | 'move' | 'rename' | 'comment' | 'uncomment' | 'like';
  at: number;
}

/** What shifts rows from page to page comes most often: that is where mirrors go wrong. */
const WHAT = {
  post: 3,
  delete: 4,
  uncomment: 3,
  comment: 2,
  vote: 2,
  like: 1,
  edit: 1,
  status: 1,
  move: 1,
  rename: 1,
} satisfies Record<Event['what'], number>;

const kinds = Object.entries(WHAT).flatMap(([what, weight]) =>
  Array<Event['what']>(weight).fill(what as Event['what']),
);

export const events = fc.array(fc.record({ what: fc.constantFrom(...kinds), at: fc.nat(1000) }), {
  maxLength: 3,
});

/** Lets one thing happen; nothing where there is nothing for it to happen to. */
export function happen(world: World, { what, at }: Event): void {
  if (what === 'post') {
    world.addPost({ votes: at % 4 });
    return;
  }
  const post = pick(world.posts(), at);
  const comment = pick(world.comments(), at);
  if (post) toPost(world, what, post.id, at);
  if (comment) toComment(world, what, comment.id, at);
}

function toPost(world: World, what: Event['what'], id: number, at: number): void {
  if (what === 'delete') world.deletePost(id);
  if (what === 'edit')
    world.editPost(id, { title: `edited ${at}`, content: `new text ${at}`, extra: { mark: at } });
  if (what === 'vote') world.vote(id, (at % 5) - 1);
  if (what === 'status') world.setStatus(id, pick(world.statuses(), at)?.id ?? 1);
  if (what === 'move') world.editPost(id, { board: pick(world.boards(), at)?.slug ?? '' });
  if (what === 'rename') world.editUser(world.post(id).creator.id, { name: `renamed ${at}` });
  if (what === 'comment') world.addComment({ post: id });
}

function toComment(world: World, what: Event['what'], id: number, at: number): void {
  if (what === 'uncomment') world.deleteComment(id);
  if (what === 'like') world.editComment(id, { likes: at % 7 });
}

function pick<T>(rows: T[], at: number): T | undefined {
  return rows[at % Math.max(rows.length, 1)];
}
