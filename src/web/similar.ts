import type { NotSameAnswer, SimilarAnswer } from '../http/dashboard/posts.ts';
import type { SimilarPost } from '../store/search/similar.ts';
import { fetchJson } from './api.ts';
import { type Child, fill, h } from './dom.ts';
import { counted } from './format.ts';
import { attempt, button, card, liveRegion, swatched, tag } from './parts.ts';

/** What is less alike than this would only be in the way. */
const WORTH_SHOWING = 0.3;

/** On the page of a post: posts that may ask for the same, each of which a person can say is the same, or is not after all. */
export function similarCard(post: number, signal: AbortSignal): HTMLElement {
  const [list, news] = [h('div'), liveRegion()];
  const note = h(
    'p.note',
    'Posts marked as the same stay apart upstream; reports can count their votes together.',
  );
  const load = async (): Promise<void> => {
    const { posts } = await fetchJson<SimilarAnswer>(`/data/posts/${post}/similar`, { signal });
    const alike = posts.filter(({ likeness, isSame }) => isSame || likeness >= WORTH_SHOWING);
    fill(list, alike.length > 0 ? [lines(alike, marking), note] : h('p.empty', 'No post is like it.'));
  };
  const mark = async (id: number, others: readonly number[]): Promise<void> => {
    for (const other of others) await fetchJson(`/data/posts/${id}/same`, { body: { other }, signal });
    await load();
    fill(news, h('p.note', `Post ${id} is marked as the same.`));
  };
  /** The other post goes; whatever else is the same as this one stays. */
  const part = async (id: number): Promise<void> => {
    const path = `/data/posts/${id}/not-same`;
    const { takenBack } = await fetchJson<NotSameAnswer>(path, { body: { other: post }, signal });
    await load();
    const others = takenBack.filter((other) => other !== post).map((other) => `post ${other}`);
    const also = others.length > 0 ? ` Its marks with ${others.join(', ')} are taken back.` : '';
    const undo = button('Undo', () => void attempt(news, () => mark(id, takenBack), signal), {
      class: 'link',
    });
    fill(news, h('p.note', `Post ${id} is no longer marked as the same.${also} `, undo));
  };
  const say = async ({ id, isSame }: SimilarPost): Promise<void> => {
    await (isSame ? part(id) : mark(id, [post]));
    list.querySelector<HTMLElement>(`#same-${id}`)?.focus();
  };
  const marking = (other: SimilarPost): Child =>
    button(
      other.isSame ? 'Not the same' : 'Mark as the same',
      () => void attempt(news, () => say(other), signal),
      {
        id: `same-${other.id}`,
        'aria-label': `${other.isSame ? 'Not the same' : 'Mark as the same'}: ${other.title}`,
      },
    );
  void attempt(news, load, signal);
  return card({ title: 'Similar posts' }, list, news);
}

/** Long enough for a pause in typing: each question reads the whole text. */
const TYPING_MS = 350;

/** In a form: posts like the one that is being written, as it is written. */
export function similarWhileTyping(title: HTMLInputElement, content: HTMLTextAreaElement): HTMLElement {
  const box = h('div.similar-box', { 'aria-live': 'polite' });
  let [asking, typing] = [new AbortController(), undefined as ReturnType<typeof setTimeout> | undefined];
  const ask = async (): Promise<void> => {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    const body = { title: title.value, content: content.value };
    if (body.title.trim().length < 4) return fill(box);
    // Whoever writes can do without it: what fails is asked again with the next letter.
    const answer = await fetchJson<SimilarAnswer>('/data/similar', { body, signal }).catch(() => null);
    if (signal.aborted || !answer) return;
    const alike = answer.posts.filter(({ likeness }) => likeness >= WORTH_SHOWING).slice(0, 4);
    fill(box, alike.length > 0 ? [h('p.note', 'Is it one of these already?'), lines(alike)] : null);
  };
  for (const field of [title, content])
    field.addEventListener('input', () => {
      clearTimeout(typing);
      typing = setTimeout(() => void ask(), TYPING_MS);
    });
  return box;
}

function lines(posts: readonly SimilarPost[], tool?: (post: SimilarPost) => Child): HTMLElement {
  return h('ul.similar', { 'aria-label': 'Similar posts' }, ...posts.map((post) => line(post, tool)));
}

function line(post: SimilarPost, tool?: (post: SimilarPost) => Child): HTMLElement {
  const { id, title, status, statusColor, board, votes, likeness, isSame } = post;
  const percent = `${Math.round(100 * likeness)} % alike`;
  return h(
    'li',
    h(
      'div',
      // A form that is being filled in stays open behind the post.
      h('a', { dir: 'auto', href: `/posts/${id}`, target: tool ? null : '_blank' }, title || '(no title)'),
      h(
        'p.post-facts',
        isSame ? tag('the same', 'good') : h('span', percent),
        swatched(status, statusColor),
        h('span', board),
        h('span', counted(votes, 'vote')),
      ),
    ),
    tool?.(post),
  );
}
