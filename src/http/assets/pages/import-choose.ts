import type { ImportLimits, ImportState } from '../../dashboard/imports-shapes.ts';
import { ask, withQuery } from '../api.ts';
import { fill, h } from '../dom.ts';
import { number } from '../format.ts';
import type { PageContext } from '../page.ts';
import { banner, card } from '../parts.ts';

/** Where a file is chosen or dropped. It is read at once, and nothing of it is sent. */
export async function chooseFile({ go, signal }: PageContext): Promise<HTMLElement> {
  const { bytes: limit } = await ask<ImportLimits>('/data/imports/limits', { signal });
  const said = h('div', { 'aria-live': 'polite' });
  const take = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    try {
      if (file.size > limit) throw new Error(tooLarge(limit));
      fill(said, h('p', { class: 'note' }, `Reading ${file.name} (${size(file.size)}) …`));
      const upload = { type: 'text/csv', content: file };
      const { id } = await ask<ImportState>('/data/imports', { file: upload, signal });
      go(withQuery('/outbox/import', { file: id }));
    } catch (error) {
      if (!signal.aborted) fill(said, banner('bad', error instanceof Error ? error.message : String(error)));
    }
  };
  const input = h('input', { type: 'file', id: 'csv-file', accept: '.csv,text/csv,.tsv,.txt' });
  input.addEventListener('change', () => {
    void take(input.files?.[0]);
    input.value = '';
  });
  return card(
    { title: 'A file', note: `up to ${size(limit)}` },
    dropZone(
      (file) => void take(file),
      h('label', { class: 'drop-title', for: 'csv-file' }, 'Choose a CSV file, or drop it here'),
      input,
      h(
        'p',
        { class: 'note' },
        'It needs a header line with a title; columns such as Subject, Description or Requester are recognised. ' +
          'A file that was imported before adds only what is new in it.',
      ),
      said,
    ),
  );
}

function dropZone(take: (file: File | undefined) => void, ...content: HTMLElement[]): HTMLElement {
  const zone = h('div', { class: 'drop' }, ...content);
  const over = (isOver: boolean): void => {
    zone.toggleAttribute('data-over', isOver);
  };
  zone.addEventListener('dragover', (event) => {
    event.preventDefault();
    over(true);
  });
  zone.addEventListener('dragleave', () => over(false));
  zone.addEventListener('drop', (event) => {
    event.preventDefault();
    over(false);
    take(event.dataTransfer?.files[0]);
  });
  return zone;
}

function tooLarge(limit: number): string {
  return `The file is larger than ${size(limit)}. Import it with "feedback-mirror import", or split it.`;
}

/** `12 kB`, `3 MB`. */
export function size(bytes: number): string {
  if (bytes < 1024 * 1024) return `${number(Math.ceil(bytes / 1024))} kB`;
  return `${number(Math.round(bytes / 1024 / 1024))} MB`;
}
