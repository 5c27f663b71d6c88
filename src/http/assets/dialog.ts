import { type Child, fill, h } from './dom.ts';
import { banner, button } from './parts.ts';

export interface Question {
  title: string;
  /** What will happen, in a sentence or two. */
  text: Child;
  /** What the button says that does it. */
  action: string;
  isDangerous?: boolean;
  /** Does it; what it fails with is shown, and can be tried again. */
  run(): Promise<void>;
}

/**
 * Asks before something is done. The browser's own dialog: it keeps the focus inside, closes with Escape and gives the focus back.
 * Where something is lost, the focus begins on the way out.
 */
export function confirm({ title, text, action, isDangerous = false, run }: Question): void {
  const trouble = h('div', {});
  const out = button('Go back', () => dialog.close());
  const act = button(action, () => void attempt(), isDangerous ? 'danger' : 'main');
  const attempt = async (): Promise<void> => {
    act.disabled = true;
    act.textContent = 'One moment …';
    try {
      await run();
      dialog.close();
    } catch (error) {
      fill(trouble, banner('bad', error instanceof Error ? error.message : String(error)));
    } finally {
      act.disabled = false;
      act.textContent = action;
    }
  };
  const dialog = openDialog(title, h('p', {}, text), trouble, h('div', { class: 'actions' }, out, act));
  (isDangerous ? out : act).focus();
}

let dialogs = 0;

/** An open dialog that is gone once it is closed. */
export function openDialog(title: string, ...content: Child[]): HTMLDialogElement {
  const id = `dialog-${++dialogs}`;
  const dialog = h('dialog', { 'aria-labelledby': id }, h('h2', { id }, title), ...content);
  dialog.addEventListener('close', () => {
    dialog.remove();
    // What opened it may be gone by now, and then nothing would have the focus.
    if (document.activeElement === document.body)
      document.querySelector('main')?.focus({ preventScroll: true });
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
