import type { Committed, ImportLimits, ImportState } from '../../http/dashboard/imports.ts';
import type { Boards } from '../../http/dashboard/outbox.ts';
import type { OutboxState } from '../../store/outbox/types.ts';
import { fetchJson, HttpError, withQuery } from '../api.ts';
import { type Child, fill, h } from '../dom.ts';
import { counted, number, percent, size } from '../format.ts';
import { onNews, type Page, type PageContext } from '../page.ts';
import { banner, card, failure, pageHead } from '../parts.ts';
import { showPreview } from './import-preview.ts';
import { STATES, stateChip } from './outbox.ts';

/** Choose a file, see what it would do, import it, and watch it go out. Which file it is, stands in the address. */
export const page: Page = {
  title: 'Import',
  async show(context) {
    const file = context.url.searchParams.get('file');
    const body = h('div.stacked');
    context.root.append(
      pageHead('Import a CSV', 'Nothing is sent before you have seen what would happen.'),
      body,
    );
    if (file === null) body.append(await chooseFile(context));
    else await showFile(context, `/data/imports/${encodeURIComponent(file)}`, body);
  },
};

/** The file as far as somebody has come with it; where it is no longer there, that is said above the place to choose it again. */
async function showFile(context: PageContext, path: string, body: HTMLElement): Promise<void> {
  const load = (): Promise<ImportState> => fetchJson(path, { signal: context.signal });
  let state: ImportState;
  try {
    state = await load();
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    body.append(banner('warn', error.message), await chooseFile(context));
    return;
  }
  const { boards } = await fetchJson<Boards>('/data/outbox/boards', { signal: context.signal });
  const draw = (found: ImportState): void => {
    state = found;
    if (found.committed) fill(body, ...showProgress(path, found.committed));
    else fill(body, ...showPreview({ path, state: found, boards, draw }));
  };
  draw(state);
  onNews(context, async () => {
    if (state.committed) draw(await load());
  });
}

/** Where a file is chosen or dropped. It is read at once, and nothing of it is sent. */
async function chooseFile({ go, signal }: PageContext): Promise<HTMLElement> {
  const { bytes: limit } = await fetchJson<ImportLimits>('/data/imports/limits', { signal });
  const said = h('div', { 'aria-live': 'polite' });
  const take = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    try {
      if (file.size > limit) throw new Error(tooLarge(limit));
      fill(said, h('p.note', `Reading ${file.name} (${size(file.size)}) …`));
      const upload = { type: 'text/csv', content: file };
      const { id } = await fetchJson<ImportState>('/data/imports', { file: upload, signal });
      go(withQuery('/outbox/import', { file: id }));
    } catch (error) {
      if (!signal.aborted) fill(said, failure(error));
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
      h('label.drop-title', { for: 'csv-file' }, 'Choose a CSV file, or drop it here'),
      input,
      h(
        'p.note',
        'It needs a header line with a title; columns such as Subject, Description or Requester are recognised. ' +
          'A file that was imported before adds only what is new in it.',
      ),
      said,
    ),
  );
}

function dropZone(take: (file: File | undefined) => void, ...content: HTMLElement[]): HTMLElement {
  const zone = h('div.drop', ...content);
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

/** How the rows of an import get on; drawn anew with every move. */
function showProgress(path: string, { batch, batches, tally, counts }: Committed): Child[] {
  const states = Object.entries(counts) as [OutboxState, number][];
  const filled = states.filter(([, n]) => n > 0);
  const only = batches.length === 1 ? (batches[0] ?? null) : null;
  const all = states.reduce((sum, [, n]) => sum + n, 0);
  const open = counts.ready + counts.sending + counts.ambiguous;
  return [
    open === 0 ? outcome(counts) : null,
    card(
      { title: 'Imported', note: batch },
      h(
        'p',
        `${counted(tally.accepted, 'row')} put into the outbox, ${number(tally.already)} there before, ` +
          `${number(tally.refused)} refused.`,
      ),
      all === 0 ? null : meter(states, all, open),
      h(
        'ul.chips',
        { 'aria-label': 'Rows by state' },
        ...filled.map(([state]) => stateChip(state, counts, { batch: only })),
      ),
      h(
        'div.actions',
        h('a.button.main', { id: 'rows', href: withQuery('/outbox', { batch }) }, 'See the rows'),
        h('a.button', { id: 'results', href: `${path}/results`, download: '' }, 'Results as CSV'),
        h('a.button', { id: 'other-file', href: '/outbox/import' }, 'Import another file'),
      ),
    ),
  ];
}

function outcome(counts: Committed['counts']): HTMLElement {
  const open = counts.rejected + counts.uncertain;
  if (open === 0) return banner('good', 'Everything is done.');
  return banner('warn', `Nothing more happens by itself; ${counted(open, 'row')} need you.`);
}

function meter(states: [OutboxState, number][], all: number, open: number): HTMLElement {
  const parts = states.flatMap(([state, n]) => {
    const { tone } = STATES[state];
    if (n === 0 || state === 'ready' || state === 'sending') return [];
    return h('span.meter-part', { 'data-tone': tone, vars: { '--share': `${(100 * n) / all}%` } });
  });
  return h(
    'div.meter',
    {
      role: 'progressbar',
      'aria-label': 'Rows that are done',
      'aria-valuemin': 0,
      'aria-valuemax': all,
      'aria-valuenow': all - open,
      'aria-valuetext': `${number(all - open)} of ${number(all)}, ${percent((all - open) / all)}`,
    },
    ...parts,
  );
}
