import { useEffect, useState } from 'preact/hooks';
import type { NotSameAnswer, SimilarAnswer } from '../../http/dashboard/posts.ts';
import type { SimilarPost } from '../../search/similar.ts';
import { fetchJson } from '../api.ts';
import { counted, percent } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { button } from './controls.ts';
import { card, swatched, tag } from './layout.ts';
import { useAnswer, useOutcome } from './load.ts';

/** Posts that are less alike are not shown. */
const WORTH_SHOWING = 0.3;

/** On the page of a post: posts that may ask for the same, each of which a person can say is the same, or is not after all. */
export function SimilarCard({ post }: { post: number }): VNode {
  const { answer, reload } = useAnswer<SimilarAnswer>(`/data/posts/${post}/similar`);
  const { said, say, attempt } = useOutcome();
  const mark = async (id: number, others: readonly number[]): Promise<void> => {
    for (const other of others) await fetchJson(`/data/posts/${id}/same`, { body: { other } });
    await reload();
    say(h('p.note', `Post ${id} is marked as the same.`));
  };
  /** Takes the other post out of the group. The other members stay. */
  const part = async (id: number): Promise<void> => {
    const { takenBack } = await fetchJson<NotSameAnswer>(`/data/posts/${id}/not-same`, {
      body: { other: post },
    });
    await reload();
    const others = takenBack.filter((other) => other !== post).map((other) => `post ${other}`);
    const also = others.length > 0 ? ` Its marks with ${others.join(', ')} are taken back.` : '';
    const undo = button('Undo', () => void attempt(() => mark(id, takenBack)), { class: 'link' });
    say(h('p.note', `Post ${id} is no longer marked as the same.${also} `, undo));
  };
  const marking = ({ id, isSame, title }: SimilarPost): Child => {
    const text = isSame ? 'Not the same' : 'Mark as the same';
    return button(text, () => void attempt(() => (isSame ? part(id) : mark(id, [post]))), {
      id: `same-${id}`,
      class: 'small',
      'aria-label': `${text}: ${title}`,
    });
  };
  const alike = answer?.posts.filter(({ likeness, isSame }) => isSame || likeness >= WORTH_SHOWING) ?? [];
  const note = 'Posts marked as the same stay apart upstream; reports can count their votes together.';
  return card(
    { title: 'Similar posts' },
    alike.length > 0 && [lines(alike, marking), h('p.note', note)],
    answer && alike.length === 0 && h('p.empty', 'No post is like it.'),
    said,
  );
}

/** Long enough for a pause in typing: each question reads the whole text. */
const TYPING_MS = 350;

/** In a form: posts like the one that is being written, as it is written. */
export function SimilarWhileTyping({ title, content }: { title: string; content: string }): VNode {
  const [alike, setAlike] = useState<readonly SimilarPost[]>([]);
  useEffect(() => {
    if (title.trim().length < 4) return setAlike([]);
    const leave = new AbortController();
    const timer = setTimeout(async () => {
      const call = { body: { title, content }, signal: leave.signal };
      // The form works without it: what fails is asked again with the next letter.
      const answer = await fetchJson<SimilarAnswer>('/data/similar', call).catch(() => null);
      if (answer) setAlike(answer.posts.filter(({ likeness }) => likeness >= WORTH_SHOWING).slice(0, 4));
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      leave.abort();
    };
  }, [title, content]);
  return h(
    'div.similar-box',
    { 'aria-live': 'polite' },
    alike.length > 0 && [h('p.note', 'Is it one of these already?'), lines(alike)],
  );
}

function lines(posts: readonly SimilarPost[], tool?: (post: SimilarPost) => Child): VNode {
  return h(
    'ul.similar',
    { 'aria-label': 'Similar posts' },
    posts.map((post) => line(post, tool)),
  );
}

function line(post: SimilarPost, tool?: (post: SimilarPost) => Child): VNode {
  const { id, title, status, statusColor, board, votes, likeness, isSame } = post;
  return h(
    'li',
    { key: id },
    h(
      'div',
      // A form that is being filled in stays open behind the post.
      h('a', { dir: 'auto', href: `/posts/${id}`, target: tool ? null : '_blank' }, title || '(no title)'),
      h(
        'p.post-facts',
        isSame ? tag('the same', 'good') : h('span', `${percent(likeness)} alike`),
        swatched(status, statusColor),
        h('span', board),
        h('span', counted(votes, 'vote')),
      ),
    ),
    tool?.(post),
  );
}
