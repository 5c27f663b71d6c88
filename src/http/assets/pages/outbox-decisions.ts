import type { OutboxState } from '../../../store/outbox/types.ts';
import type { ViewedPost } from '../../../store/outbox/view.ts';
import type { Decision, OutboxDetail } from '../../dashboard/outbox.ts';
import { ask } from '../api.ts';
import { confirm } from '../dialog.ts';
import { type Child, fill, h } from '../dom.ts';
import { banner, button, field } from '../parts.ts';

/** Called with what was decided, once it is. */
type Done = (sentence: string) => Promise<void>;

interface Choice {
  label: string;
  text: string;
  isDangerous?: boolean;
  done: string;
}

const RETRY: Choice = {
  label: 'Send it again',
  text: 'It goes back to the rows that are ready, and is sent in its turn.',
  done: 'It is ready and will be sent in its turn.',
};

const CANCEL: Choice = {
  label: 'Forget it',
  text: 'It is not sent any more. The row stays here, and can be sent later after all.',
  isDangerous: true,
  done: 'It is cancelled.',
};

/** The same decision in the words that suit the state. */
const CHOICES: Record<'retry' | 'cancel', Partial<Record<OutboxState, Choice>>> = {
  retry: {
    uncertain: {
      ...RETRY,
      label: 'It was never made: send it again',
      text: 'Only do this when you are sure that none of the posts upstream is this one: else it will be there twice.',
    },
    cancelled: { ...RETRY, label: 'Send it after all' },
  },
  cancel: {
    ready: { ...CANCEL, label: 'Do not send it' },
    uncertain: {
      ...CANCEL,
      text: 'It is not sent again. Should it have been made after all, the post upstream stays as it is.',
    },
  },
};

/** The decisions there are about a row, each asked once more before it is taken. */
export function decisions(detail: OutboxDetail, done: Done): Child {
  const { row, can } = detail;
  if (row.erased_at !== null)
    return h('p', { class: 'note' }, 'Its text was erased: it cannot be sent again.');
  const choose = (decision: 'retry' | 'cancel', usual: Choice): Child => {
    if (!can[decision]) return null;
    const choice = CHOICES[decision][row.state] ?? usual;
    const element = button(choice.label, () => askFirst(row.id, decision, choice, done), danger(choice));
    element.id = decision;
    return element;
  };
  return [
    can.resolve ? byNumber(detail, done) : null,
    h('div', { class: 'actions' }, choose('retry', RETRY), choose('cancel', CANCEL)),
  ];
}

function danger({ isDangerous }: Choice): 'danger' | null {
  return isDangerous ? 'danger' : null;
}

function askFirst(id: number, decision: Decision, choice: Choice, done: Done, body: object = {}): void {
  confirm({
    title: choice.label,
    text: choice.text,
    action: choice.label,
    isDangerous: choice.isDangerous ?? false,
    async run() {
      await ask(`/data/outbox/${id}/${decision}`, { body });
      await done(choice.done);
    },
  });
}

/** The button under a candidate; one that is another row's outcome already cannot be this one's too. */
export function thisPost({ row, can }: OutboxDetail, post: ViewedPost, done: Done): Child {
  if (!can.resolve) return null;
  if (post.confirms !== null && post.confirms !== row.id)
    return h(
      'p',
      { class: 'note' },
      'It is the outcome of ',
      h('a', { href: `/outbox/${post.confirms}` }, `row ${post.confirms}`),
      '.',
    );
  const element = button('It is this post', () => resolveAs(row.id, post.id, done), 'main');
  element.id = `is-${post.id}`;
  element.setAttribute('aria-label', `It is this post: ${post.id}`);
  return element;
}

function resolveAs(id: number, post: number, done: Done): void {
  const choice = {
    label: `It is post ${post}`,
    text: 'The row is confirmed by that post, and nothing more is sent.',
    done: `The row is confirmed by post ${post}.`,
  };
  askFirst(id, 'resolve', choice, done, { post });
}

/** For a post that somebody found upstream and the mirror did not think of. */
function byNumber({ row }: OutboxDetail, done: Done): HTMLElement {
  const input = h('input', { id: 'post-number', inputmode: 'numeric', autocomplete: 'off', size: 12 });
  const trouble = h('div', {});
  const choose = (): void => {
    const post = Number(input.value);
    if (Number.isSafeInteger(post) && post > 0) resolveAs(row.id, post, done);
    else fill(trouble, banner('warn', 'Give the number of the post, such as 1234.'));
  };
  const act = button('It is that post', choose);
  act.id = 'is-other';
  return h(
    'details',
    { class: 'other' },
    h('summary', {}, 'It is another post'),
    h('div', { class: 'filters' }, field('Number of the post', input), act),
    trouble,
  );
}
