import type { KnownBoard } from '../../base/boards.ts';
import type { Batches, BatchState } from '../../http/dashboard/batches.ts';
import type { Committed, ImportLimits, ImportState } from '../../http/dashboard/imports.ts';
import type { Boards } from '../../http/dashboard/outbox.ts';
import type { ImportChoices } from '../../http/dashboard/uploads.ts';
import { fetchJson, HttpError, withQuery } from '../api.ts';
import { batchCards, sum } from '../batch.ts';
import { type Child, fill, h } from '../dom.ts';
import { counted, number, size, time } from '../format.ts';
import { onNews, type Page, type PageContext } from '../page.ts';
import { attempt, banner, card, liveRegion, pageHead, tableCard, tag } from '../parts.ts';
import { type PreviewView, showPreview } from './import-preview.ts';

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
    if (file === null) body.append(...(await chooseFile(context)));
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
    body.append(banner('warn', error.message), ...(await chooseFile(context)));
    return;
  }
  const { boards } = await fetchJson<Boards>('/data/outbox/boards', { signal: context.signal });
  const again = async (): Promise<void> => draw(await load());
  let isUnanswered = false;
  const place: PreviewView['place'] = {
    kind: null,
    after: [0],
    boards: new Map(),
    choices: null,
    isBusy: false,
  };
  const draw = async (found: ImportState): Promise<void> => {
    state = found;
    isUnanswered = false;
    const { committed } = found;
    if (committed) fill(body, ...(await showCommitted({ path, found: committed, boards, again })));
    else
      fill(body, ...showPreview({ path, state: found, boards, place, draw, commit, signal: context.signal }));
  };
  // A request that failed may have been accepted, so the service is asked: now, or else as soon as its events are back.
  const commit = async (choices: ImportChoices): Promise<void> => {
    try {
      await draw(await fetchJson<ImportState>(`${path}/commit`, { body: choices }));
    } catch (error) {
      const found = await load().catch(() => null);
      if (found) await draw(found);
      if (found && !found.committed) throw error;
      if (found) return;
      isUnanswered = true;
      fill(body, banner('warn', UNANSWERED));
    }
  };
  await draw(state);
  onNews(context, async () => {
    if (state.committed || isUnanswered) await again();
  });
}

const UNANSWERED =
  'The service does not answer. It may have accepted the import: this page asks what became of it as soon as the service is back.';

/** Where a file is chosen or dropped. It is read at once, and nothing of it is sent. */
async function chooseFile({ go, signal }: PageContext): Promise<Node[]> {
  const [{ bytes: limit }, recent] = await Promise.all([
    fetchJson<ImportLimits>('/data/imports/limits', { signal }),
    fetchJson<Batches>('/data/batches', { signal }),
  ]);
  const said = liveRegion();
  const take = async (file: File): Promise<void> => {
    if (file.size > limit) throw new Error(tooLarge(limit));
    fill(said, h('p.note', `Reading ${file.name} (${size(file.size)}) …`));
    const upload = { type: 'text/csv', content: file };
    const { id } = await fetchJson<ImportState>('/data/imports', { file: upload, signal });
    go(withQuery('/outbox/import', { file: id }));
  };
  const choose = (file: File | undefined): void => {
    if (file) void attempt(said, () => take(file), signal);
  };
  const input = h('input', { type: 'file', id: 'csv-file', accept: '.csv,text/csv,.tsv,.txt' });
  input.addEventListener('change', () => {
    choose(input.files?.[0]);
    input.value = '';
  });
  const chooser = card(
    { title: 'A file', note: `up to ${size(limit)}` },
    dropZone(
      choose,
      h('label.drop-title', { for: 'csv-file' }, 'Choose a CSV file, or drop it here'),
      input,
      h(
        'p.note',
        'Exports of Canny, UserVoice, Featurebase, Productboard, Zendesk, Jira, Linear, GitHub, Trello, Asana, Notion and Airtable ' +
          'are recognised; other files by the names of their columns. A file that was imported before adds only what is new in it.',
      ),
      said,
    ),
  );
  const earlier = recentCard(recent);
  return earlier ? [chooser, earlier] : [chooser];
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

/** What the file brought, and below it the import as a whole. */
async function showCommitted({ path, found, boards, again }: CommittedView): Promise<Child[]> {
  const { batch, result } = found;
  if (!result) return [banner('plain', 'The rows are being put into the outbox. You can leave this page.')];
  const { tally, batches } = result;
  const states = await Promise.all(
    batches.map((each) => fetchJson<BatchState>(`/data/batches/${encodeURIComponent(each)}`)),
  );
  const left = tally.skipped > 0 ? `${number(tally.skipped)} left out, ` : '';
  const rows = withQuery('/outbox', { batch: batches.at(-1) ?? batch });
  return [
    card(
      { title: 'Imported' },
      h(
        'p',
        `${counted(tally.accepted, 'row')} put into the outbox, ${number(tally.already)} there before, ` +
          `${left}${number(tally.refused)} refused.`,
      ),
      h(
        'div.actions',
        batches.length > 0 ? h('a.button.main', { id: 'rows', href: rows }, 'See the rows') : null,
        h('a.button', { id: 'results', href: `${path}/results`, download: '' }, 'Results as CSV'),
        h('a.button', { id: 'other-file', href: '/outbox/import' }, 'Import another file'),
      ),
    ),
    ...states.map((state) => batchCards({ state, boards, done: again })),
  ];
}

interface CommittedView {
  path: string;
  found: Committed;
  boards: KnownBoard[];
  again(): Promise<void>;
}

/** The newest imports, wherever they were begun. */
function recentCard({ batches }: Batches): HTMLElement | null {
  if (batches.length === 0) return null;
  return tableCard<Batches['batches'][number]>(
    { title: 'Recent imports' },
    [
      {
        head: 'Import',
        cell: ({ batch }) => h('a', { href: withQuery('/outbox', { batch }), title: batch }, beganAt(batch)),
      },
      { head: 'Rows', kind: 'number', cell: ({ counts }) => number(sum(counts)) },
      { head: 'Sent', kind: 'number', cell: ({ counts }) => number(counts.confirmed) },
      { head: '', cell: (each) => standingTag(each) },
    ],
    batches,
  );
}

/** `import-20261115-014207-ab12cd` says when it began. */
function beganAt(batch: string): string {
  const [, day = '', at = ''] = /^import-(\d{8})-(\d{6})-/.exec(batch) ?? [];
  const iso = `${day}T${at}Z`.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)/, '$1-$2-$3T$4:$5:$6');
  return Number.isNaN(Date.parse(iso)) ? batch : time(iso);
}

function standingTag({ counts, told }: Batches['batches'][number]): Child {
  const { ready, sending, ambiguous, rejected, uncertain } = counts;
  if (told?.cancelled_at) return tag('Cancelled');
  if (told?.paused_at && ready > 0) return tag('Paused', 'warn');
  if (ready + sending + ambiguous > 0) return tag('On its way');
  const isOpen = rejected + uncertain > 0;
  return isOpen ? tag('Needs you', 'warn') : tag('Done', 'good');
}
