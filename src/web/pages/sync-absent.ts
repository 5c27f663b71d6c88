import { useEffect, useState } from 'preact/hooks';
import type { Resource } from '../../contract/endpoints.ts';
import type { Absent, Quarantine, SyncList } from '../../http/dashboard/sync.ts';
import type { AbsentRow, QuarantinedRow } from '../../mirror/store/status.ts';
import { fetchJson, withQuery } from '../api.ts';
import { counted, number, time } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { button } from '../parts/controls.ts';
import { openForm } from '../parts/dialog.ts';
import { banner, card, failure, tag } from '../parts/layout.ts';
import { type Outcome, useAnswer } from '../parts/load.ts';
import { type TableColumn, table } from '../parts/table.ts';
import { excerpt } from '../text.ts';

/** Deletions that the mass-delete guard holds, with the rows they would take, and the button that accepts them. */
export function heldCard({ resource, held, live }: SyncList, say: Outcome['say']): VNode {
  const label = `Accept ${counted(held, 'deletion')}`;
  const ask = (): void =>
    openForm({
      title: `Delete ${counted(held, 'row')} of the ${resource}?`,
      content:
        'The list is read once more; what is still missing then is marked as deleted here. Its history stays for as long as your ' +
        'settings say, and a row that comes back is there again.',
      action: label,
      isDangerous: true,
      async run() {
        await fetchJson(`/data/sync/${resource}/accept-deletes`, { body: { held } });
        say(
          banner('good', `Accepted. The ${resource} are read once more, then the rows are gone from here.`),
        );
      },
    });
  return card(
    { title: `${counted(held, 'deletion')} of ${resource} held`, tone: 'warn' },
    h(
      'p',
      `${number(held)} of ${number(live)} rows no longer show upstream. The mass-delete guard holds them until a person decides: it may ` +
        'be intended, or a fault upstream. Look at some of them upstream before you accept.',
    ),
    h('div.actions', button(label, ask, { class: 'danger', id: `accept-${resource}` })),
    h(AbsentRows, { key: resource, resource, held: true, rows: held }),
  );
}

/** Rows that did not show up, of which it is not certain yet that they are gone. */
export function suspectsCard({ resource, suspects }: SyncList): VNode {
  return card(
    { title: `${counted(suspects, 'row')} of ${resource} not shown upstream` },
    h(
      'p.note',
      'They did not show up where they should have. They are deleted once further sweeps have shown the same.',
    ),
    h(AbsentRows, { key: resource, resource, held: false, rows: suspects }),
  );
}

interface AbsentOptions {
  resource: Resource;
  held: boolean;
  /** How many there are: with another number the list is read again. */
  rows: number;
}

/** Rows that no longer show upstream, folded away; fetched when somebody opens them. */
function AbsentRows({ resource, held, rows: total }: AbsentOptions): VNode {
  const [isOpen, setOpen] = useState(false);
  const [{ rows, after }, setFound] = useState<Absent>({ rows: [], after: null });
  const [problem, setProblem] = useState<unknown>(null);
  const load = async (from: number | null): Promise<void> => {
    try {
      const path = withQuery(`/data/sync/${resource}/absent`, { held: held ? 1 : 0, after: from });
      const found = await fetchJson<Absent>(path);
      setFound({ rows: from === null ? found.rows : [...rows, ...found.rows], after: found.after });
      setProblem(null);
    } catch (error) {
      setProblem(error);
    }
  };
  useEffect(() => {
    if (isOpen) void load(null);
  }, [isOpen, total]);
  const [kind, name] = [held ? 'held' : 'suspects', `${resource} ${held ? 'held' : 'not shown'}`];
  return h(
    'details.below',
    { onToggle: ({ currentTarget }) => setOpen(currentTarget.open) },
    h('summary', { id: `${kind}-${resource}` }, 'Which rows'),
    h(
      'div.tall',
      { tabIndex: 0, role: 'region', 'aria-label': name },
      problem !== null && failure(problem),
      rows.length > 0 && table({ columns: columnsOf(resource), rows, key: ({ id }) => id, label: name }),
      after !== null &&
        h(
          'div.pager',
          button('More', () => void load(after), { id: `more-${kind}-${resource}` }),
        ),
    ),
  );
}

/** The server sends so much of a comment, and one character more where it goes on. */
const BEGINNING = 199;

function columnsOf(resource: Resource): TableColumn<AbsentRow>[] {
  return [
    { head: 'Id', cell: ({ id }) => String(id) },
    {
      head: resource === 'posts' ? 'Title' : 'Text',
      cell: ({ id, text }) =>
        resource === 'posts' ? h('a', { href: `/posts/${id}` }, text) : excerpt(text, BEGINNING),
    },
    { head: 'Missing since', cell: ({ since }) => h('span.nowrap', time(since)) },
    { head: 'Sweeps without it', kind: 'number', cell: ({ sweeps }) => sweeps },
    {
      head: 'Counts as deleted',
      kind: 'number',
      cell: ({ score }) => `${Math.floor(100 * score)} % of what is needed`,
    },
  ];
}

/** Rows the upstream sent broken, with the reason; what was sent is fetched when somebody opens it, and shown as text. */
export function QuarantineCard({ total }: { total: number }): Child {
  const [{ rows, before }, setFound] = useState<Quarantine>({ rows: [], before: null });
  const [problem, setProblem] = useState<unknown>(null);
  const load = async (from: number | null): Promise<void> => {
    try {
      const found = await fetchJson<Quarantine>(withQuery('/data/sync/quarantine', { before: from }));
      setFound({ rows: from === null ? found.rows : [...rows, ...found.rows], before: found.before });
      setProblem(null);
    } catch (error) {
      setProblem(error);
    }
  };
  useEffect(() => {
    if (total > 0) void load(null);
  }, [total]);
  if (total === 0) return null;
  return card(
    { title: 'Quarantine', note: `${counted(total, 'row')} not taken in` },
    h(
      'ul.lines',
      rows.map((row) => h(QuarantineLine, { key: row.id, ...row })),
    ),
    problem !== null && failure(problem),
    before !== null &&
      h(
        'div.pager',
        button('Older', () => void load(before)),
      ),
  );
}

function QuarantineLine({ id, resource, reason, seen_at, size }: QuarantinedRow): VNode {
  const [isOpen, setOpen] = useState(false);
  const { answer, problem } = useAnswer<{ body: string }>(isOpen ? `/data/sync/quarantine/${id}` : null);
  return h(
    'li',
    tag(resource),
    h(
      'div.main',
      h('span.name', reason),
      h(
        'div.facts',
        h(
          'details',
          { onToggle: ({ currentTarget }) => setOpen(currentTarget.open) },
          h('summary', `What was sent (${number(size)} characters)`),
          problem === null ? h('pre.raw', { tabIndex: 0 }, answer?.body ?? '…') : failure(problem),
        ),
      ),
    ),
    h('span.when', time(seen_at)),
  );
}
