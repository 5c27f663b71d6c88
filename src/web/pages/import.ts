import { useEffect, useState } from 'preact/hooks';
import type { Batches, BatchState } from '../../http/dashboard/batches.ts';
import type { Committed, ImportLimits, ImportState } from '../../http/dashboard/imports.ts';
import type { Boards } from '../../http/dashboard/outbox.ts';
import type { UploadChoices } from '../../http/dashboard/uploads.ts';
import type { KnownBoard } from '../../text/boards.ts';
import { fetchJson, HttpError, withQuery } from '../api.ts';
import { counted, number, size, time } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { batchCards, sum } from '../parts/batch.ts';
import { banner, card, pageHead, tag } from '../parts/layout.ts';
import { useOutcome } from '../parts/load.ts';
import { tableCard } from '../parts/table.ts';
import { type PageProps, pageOf } from '../shell/page.ts';
import { ImportPreview } from './import-preview.ts';

type Answer =
  | { kind: 'none'; limits: ImportLimits; recent: Batches; why: string | null }
  | { kind: 'file'; path: string; state: ImportState; boards: KnownBoard[]; batches: BatchState[] };

/** Choose a file, see what it would do, import it, and watch it go out. Which file it is, is in the address. */
export const page = pageOf<Answer>({
  title: 'Import',
  load: ({ url }, signal) => loadFile(url.searchParams.get('file'), signal),
  follows: (_place, answer) => answer.kind === 'file' && answer.state.committed !== null,
  view: (shown) => [
    pageHead('Import a CSV', 'Nothing is sent before you have seen what would happen.'),
    h(
      'div.stacked',
      shown.answer.kind === 'none' ? h(ChooseFile, shown) : h(OneFile, { key: shown.answer.path, ...shown }),
    ),
  ],
});

/** The file as far as somebody has come with it; where it is no longer there, that is said above the place to choose it again. */
async function loadFile(file: string | null, signal: AbortSignal): Promise<Answer> {
  if (file === null) return await loadNone(null, signal);
  const path = `/data/imports/${encodeURIComponent(file)}`;
  try {
    const [state, { boards }] = await Promise.all([
      fetchJson<ImportState>(path, { signal }),
      fetchJson<Boards>('/data/outbox/boards', { signal }),
    ]);
    const sent = state.committed?.result?.batches ?? [];
    const batches = await Promise.all(
      sent.map((each) => fetchJson<BatchState>(`/data/batches/${encodeURIComponent(each)}`, { signal })),
    );
    return { kind: 'file', path, state, boards, batches };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return await loadNone(error.message, signal);
  }
}

async function loadNone(why: string | null, signal: AbortSignal): Promise<Answer> {
  const [limits, recent] = await Promise.all([
    fetchJson<ImportLimits>('/data/imports/limits', { signal }),
    fetchJson<Batches>('/data/batches', { signal }),
  ]);
  return { kind: 'none', limits, recent, why };
}

function OneFile({ answer, place, stats }: PageProps<Answer>): Child {
  /** What the service answered to a choice, until the whole page is loaded again. */
  const [later, setLater] = useState<{ than: Answer; state: ImportState } | null>(null);
  const [isUnanswered, setUnanswered] = useState(false);
  useEffect(() => {
    if (isUnanswered)
      place.reload().then(
        () => setUnanswered(false),
        () => undefined,
      );
  }, [isUnanswered, stats]);
  if (answer.kind === 'none') return null;
  const { path, boards } = answer;
  const state = later?.than === answer ? later.state : answer.state;
  // A request that failed may have been accepted, so the service is asked: now, or else as soon as its events are back.
  const commit = async (choices: UploadChoices): Promise<void> => {
    try {
      await fetchJson<ImportState>(`${path}/commit`, { body: choices });
      await place.reload();
    } catch (error) {
      const found = await fetchJson<ImportState>(path).catch(() => null);
      if (found === null) return setUnanswered(true);
      if (!found.committed) throw error;
      await place.reload();
    }
  };
  if (state.committed) return committed(answer, state.committed, () => place.reload());
  if (isUnanswered) return banner('warn', UNANSWERED);
  const draw = (next: ImportState): void => setLater({ than: answer, state: next });
  return h(ImportPreview, { path, state, boards, draw, commit });
}

const UNANSWERED =
  'The service does not answer. It may have accepted the import: this page asks what became of it as soon as the service is back.';

/** Where a file is chosen or dropped. It is read at once, and nothing of it is sent. */
function ChooseFile({ answer, place: { go } }: PageProps<Answer>): Child {
  const { said, say, attempt } = useOutcome();
  const [isOver, setOver] = useState(false);
  if (answer.kind === 'file') return null;
  const limit = answer.limits.bytes;
  const take = async (file: File): Promise<void> => {
    if (file.size > limit) throw new Error(tooLarge(limit));
    say(h('p.note', `Reading ${file.name} (${size(file.size)}) …`));
    const upload = { type: 'text/csv', content: file };
    const { id } = await fetchJson<ImportState>('/data/imports', { file: upload });
    go(withQuery('/outbox/import', { file: id }));
  };
  const choose = (file: File | undefined): void => {
    if (file) void attempt(() => take(file));
  };
  const input = h('input', {
    type: 'file',
    id: 'csv-file',
    accept: '.csv,text/csv,.tsv,.txt',
    onChange: ({ currentTarget }) => {
      choose(currentTarget.files?.[0]);
      currentTarget.value = '';
    },
  });
  const zone = {
    'data-over': isOver ? '' : null,
    onDragOver: (event: DragEvent): void => {
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: (): void => setOver(false),
    onDrop: (event: DragEvent): void => {
      event.preventDefault();
      setOver(false);
      choose(event.dataTransfer?.files[0]);
    },
  };
  return [
    answer.why === null ? null : banner('warn', answer.why),
    card(
      { title: 'A file', note: `up to ${size(limit)}` },
      h(
        'div.drop',
        zone,
        h('label.drop-title', { for: 'csv-file' }, 'Choose a CSV file, or drop it here'),
        input,
        h(
          'p.note',
          'Exports of Canny, UserVoice, Featurebase, Productboard, Zendesk, Jira, Linear, GitHub, Trello, Asana, Notion and Airtable ' +
            'are recognised; other files by the names of their columns. A file that was imported before adds only what is new in it.',
        ),
        said,
      ),
    ),
    recentCard(answer.recent),
  ];
}

function tooLarge(limit: number): string {
  return `The file is larger than ${size(limit)}. Import it with "feedback-mirror import", or split it.`;
}

/** What the file brought, and below it the import as a whole. */
function committed(
  { path, boards, batches }: Answer & { kind: 'file' },
  { batch, result }: Committed,
  reload: () => Promise<void>,
): Child {
  if (!result) return banner('plain', 'The rows are being put into the outbox. You can leave this page.');
  const { tally } = result;
  const left = tally.skipped > 0 ? `${number(tally.skipped)} left out, ` : '';
  const rows = withQuery('/outbox', { batch: result.batches.at(-1) ?? batch });
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
    batches.map((state) => batchCards({ state, boards, done: reload })),
  ];
}

/** The newest imports, wherever they were begun. */
function recentCard({ batches }: Batches): VNode | null {
  if (batches.length === 0) return null;
  return tableCard<Batches['batches'][number]>(
    { title: 'Recent imports' },
    {
      columns: [
        {
          head: 'Import',
          cell: ({ batch }) =>
            h('a', { href: withQuery('/outbox', { batch }), title: batch }, beganAt(batch)),
        },
        { head: 'Rows', kind: 'number', cell: ({ counts }) => number(sum(counts)) },
        { head: 'Sent', kind: 'number', cell: ({ counts }) => number(counts.confirmed) },
        { head: '', cell: (each) => standingTag(each) },
      ],
      rows: batches,
      key: ({ batch }) => batch,
    },
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
