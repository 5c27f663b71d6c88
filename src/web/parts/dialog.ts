import { render } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { type Child, h } from '../h.ts';
import { button } from './controls.ts';
import { failure } from './layout.ts';

/**
 * An open dialog, gone once it is closed. It is the browser's own: it keeps the focus inside, closes with Escape and gives the focus
 * back.
 */
export function openDialog(title: string, content: (close: () => void) => Child, look = ''): void {
  const dialog = document.createElement('dialog');
  dialog.className = look;
  dialog.setAttribute('aria-label', title);
  dialog.addEventListener('close', () => {
    render(null, dialog);
    dialog.remove();
    // What opened it may be gone by now, and then nothing would have the focus.
    if (document.activeElement === document.body)
      document.querySelector('main')?.focus({ preventScroll: true });
  });
  document.body.append(dialog);
  render(
    h(
      'div.dialog',
      h('h2', title),
      content(() => dialog.close()),
    ),
    dialog,
  );
  dialog.showModal();
  const field = dialog.querySelector<HTMLElement>('input, select, textarea');
  (field ?? dialog.querySelector<HTMLElement>('[autofocus]'))?.focus();
}

interface FormDialog {
  title: string;
  /** What is asked, or the fields that are filled in. */
  content: Child;
  /** What the button says that does it. */
  action: string;
  isDangerous?: boolean;
  /** Does it; what it fails with is shown, and can be tried again. */
  run(fields: FormData): Promise<void>;
}

/** A dialog that does something. Where something is lost, the focus begins on the way out. */
export function openForm(form: FormDialog): void {
  openDialog(form.title, (close) => h(Form, { ...form, close }));
}

function Form({ content, action, isDangerous = false, run, close }: FormDialog & { close(): void }) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const submit = async (form: HTMLFormElement): Promise<void> => {
    setBusy(true);
    try {
      await run(new FormData(form));
      close();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return h(
    'form.stack',
    {
      onSubmit: (event) => {
        event.preventDefault();
        void submit(event.currentTarget);
      },
    },
    content,
    h('div', problem === null ? null : failure(problem)),
    h(
      'div.actions',
      button('Close', close, { autofocus: isDangerous }),
      h(
        'button',
        { class: isDangerous ? 'danger' : 'main', disabled: isBusy, autofocus: !isDangerous },
        isBusy ? 'Please wait …' : action,
      ),
    ),
  );
}

/** A button that puts a text on the clipboard and says so for a moment. Where a browser keeps it shut, the text is shown to copy. */
export function useCopy(): { said: string | null; copy(text: string, said: string): Promise<void> } {
  const [said, say] = useState<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  return {
    said,
    async copy(text, words) {
      try {
        await navigator.clipboard.writeText(text);
        clearTimeout(timer.current);
        say(words);
        timer.current = setTimeout(() => say(null), 1500);
      } catch {
        openDialog('Copy this', () => [
          h('textarea', { rows: 10, readOnly: true, autofocus: true, 'aria-label': 'Text', value: text }),
          h('p.note', 'This browser lets no page write to the clipboard here.'),
        ]);
      }
    },
  };
}
