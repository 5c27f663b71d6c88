import type { Boards, Created } from '../../dashboard/outbox.ts';
import { ask } from '../api.ts';
import { openDialog } from '../dialog.ts';
import { fill, h } from '../dom.ts';
import { banner, button, field } from '../parts.ts';

/** A form for one new post; `onCreated` is called once it is safe in the outbox. */
export async function writePost(onCreated: (created: Created) => void): Promise<void> {
  const { boards } = await ask<Boards>('/data/outbox/boards');
  // Sent twice because an answer was lost, the form still makes one post.
  const key = [...crypto.getRandomValues(new Uint8Array(16))]
    .map((n) => n.toString(16).padStart(2, '0'))
    .join('');
  const trouble = h('div', {});
  const send = h('button', { type: 'submit', class: 'main' }, 'Put it into the outbox');
  const form = h(
    'form',
    { class: 'stack', method: 'dialog' },
    field(
      'Board',
      h(
        'select',
        { name: 'board', required: true },
        ...boards.map(({ slug, name }) => h('option', { value: slug }, name)),
      ),
    ),
    field('Title', h('input', { name: 'title', required: true, autocomplete: 'off' })),
    field('Text', h('textarea', { name: 'content', rows: 5 })),
    h(
      'div',
      { class: 'pair' },
      field(
        "Customer's e-mail (optional)",
        h('input', { name: 'email', type: 'email', autocomplete: 'off' }),
      ),
      field("Customer's name (optional)", h('input', { name: 'full_name', autocomplete: 'off' })),
    ),
    h('p', { class: 'note' }, 'With an e-mail it goes out as that customer, without one as yours.'),
    trouble,
    h(
      'div',
      { class: 'actions' },
      button('Go back', () => dialog.close()),
      send,
    ),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit();
  });
  const submit = async (): Promise<void> => {
    send.disabled = true;
    try {
      const body = { ...Object.fromEntries(new FormData(form)), key };
      onCreated(await ask<Created>('/data/outbox', { body }));
      dialog.close();
    } catch (error) {
      fill(trouble, banner('bad', error instanceof Error ? error.message : String(error)));
    } finally {
      send.disabled = false;
    }
  };
  const dialog = openDialog('A new post', form);
}
