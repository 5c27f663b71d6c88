import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import type { Cell, SqlAnswer, SqlInfo } from '../../http/dashboard/sql.ts';
import type { SavedQuery } from '../../query/saved.ts';
import { fetchJson, request, saveFile, withQuery } from '../api.ts';
import { counted, number, span, titleOf } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { mounted } from '../mount.ts';
import { timeChart } from '../parts/chart.ts';
import { button } from '../parts/controls.ts';
import { openSqlEditor, type SqlEditor } from '../parts/editor.ts';
import { banner, card, failure, pageHead } from '../parts/layout.ts';
import { useSavedList } from '../parts/saved-list.ts';
import { bars, table } from '../parts/table.ts';
import { type PageProps, pageOf } from '../shell/page.ts';
import { excerpt } from '../text.ts';

/** An address longer than this is cut by what it is pasted into. */
const LONGEST_ADDRESS = 6000;

interface Running {
  since: number;
  cancel(): void;
}

/** Everything in the mirror, for questions that no report answers. */
export const page = pageOf<SqlInfo>({
  title: 'SQL',
  load: (_place, signal) => fetchJson('/data/query', { signal }),
  view: (shown) => h(Sql, shown),
});

function Sql({ answer: info, place }: PageProps<SqlInfo>): Child {
  const [taken, setTaken] = useState<SavedQuery | null>(null);
  const { shown, attempt } = useAttempt();
  const run = (sql: string): Promise<void> =>
    attempt(async (signal) => {
      remember(sql);
      const answer = await fetchJson<SqlAnswer>('/data/query', { body: { sql }, signal });
      return answerCards(answer, info.limits.file);
    });
  const { host, editor, text } = useEditor(info, place.url.searchParams.get('q') ?? '', run);
  const taker = (name: string, sql: string, query: SavedQuery | null): VNode => {
    const take = (): void => {
      setTaken(query);
      editor.current?.set(sql);
      editor.current?.focus();
      void run(sql);
    };
    return button(name, take, { class: 'link' });
  };
  const shelf = useSavedList({
    name: 'queries',
    column: 'sql',
    item: 'query',
    empty: 'Nothing is saved yet. Write a statement, then choose Save.',
    taker: (query) => taker(query.name, query.sql, query),
  });
  const save = (): void => {
    if (text().trim() === '') editor.current?.focus();
    else shelf.save('Save this statement', text(), taken, setTaken);
  };
  const download = (): void =>
    void attempt(async (signal) => banner('good', await downloadCsv(text(), info.limits.file, signal)));
  const others = [button('Download CSV', download), button('Save', save)];
  return [
    pageHead('SQL', 'Everything in the mirror, read-only.'),
    h(
      'div.sql',
      h(
        'div.stacked',
        card(
          { title: 'Statement' },
          statementForm(host, () => void run(text()), others),
        ),
        h('div.stacked', { 'aria-live': 'polite' }, shown),
      ),
      h(
        'div.stacked',
        card(
          { title: 'Saved', note: 'Shared by everyone who uses this mirror' },
          shelf.list,
          h('h3', 'Examples'),
          h(
            'ul.plain',
            EXAMPLES.map(({ name, sql }) => h('li', taker(name, sql, null))),
          ),
        ),
        schemaCard(info, (word) => editor.current?.insert(word)),
      ),
    ),
  ];
}

/** The editor is opened once. A statement that the address brings is put into it and runs. */
function useEditor({ tables }: SqlInfo, given: string, run: (sql: string) => Promise<void>) {
  const [host, editor] = [useRef<HTMLDivElement>(null), useRef<SqlEditor>(null)];
  const text = (): string => editor.current?.text() ?? '';
  useLayoutEffect(() => {
    if (!host.current) return;
    const opened = openSqlEditor(host.current, { text: '', tables, onRun: () => void run(text()) });
    editor.current = opened;
    return () => opened.close();
  }, []);
  useEffect(() => {
    if (given === '' || given === text()) return;
    editor.current?.set(given);
    void run(given);
  }, [given]);
  return { host, editor, text };
}

/** One statement runs at a time. A new statement ends the one before and removes its answer. */
export function useAttempt() {
  const [result, setResult] = useState<Child>(null);
  const [running, setRunning] = useState<Running | null>(null);
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const attempt = async (work: (signal: AbortSignal) => Promise<Child>): Promise<void> => {
    abort.current.abort();
    const mine = new AbortController();
    abort.current = mine;
    const cancel = (): void => {
      mine.abort();
      setRunning(null);
      setResult(banner('plain', 'Cancelled.'));
    };
    setRunning({ since: Date.now(), cancel });
    const found = await work(mine.signal).catch(failure);
    if (mine.signal.aborted) return;
    setRunning(null);
    setResult(found);
  };
  return { shown: running ? h(Progress, running) : result, attempt };
}

function statementForm(host: RefObject<HTMLDivElement | null>, run: () => void, others: VNode[]): VNode {
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    run();
  };
  return h(
    'form',
    { onSubmit },
    h('div.editor', { id: 'sql', ref: host }),
    h(
      'div.actions',
      h('button.main', { type: 'submit' }, 'Run'),
      ...others,
      h('span.note.keys', 'Ctrl + Enter runs it'),
    ),
  );
}

/** For how long the statement runs, and the way to end it. */
function Progress({ since, cancel }: Running): VNode {
  const [, tick] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const timer = setInterval(() => tick(null), 1000);
    return () => clearInterval(timer);
  }, []);
  const age = Date.now() - since;
  return h(
    'div.banner.running',
    h('span', { 'aria-live': 'off' }, age < 1000 ? 'Running …' : `Running for ${span(age)} …`),
    button('Cancel', cancel),
  );
}

/** Puts the statement into the address, which people can send. No page is loaded, so undo keeps working. */
function remember(sql: string): void {
  const address = withQuery('/sql', { q: sql });
  history.replaceState(null, '', mounted(address.length > LONGEST_ADDRESS ? '/sql' : address));
}

const LONGEST_CELL = 300;
const MOST_SERIES = 5;
const MOST_BARS = 25;

/** What was asked, as a chart where it makes one, and as a table. */
function answerCards(answer: SqlAnswer, fileRows: number): Child {
  const drawing = drawingOf(answer);
  return [drawing && card(drawing, drawing.drawn), resultCard(answer, fileRows)];
}

function resultCard(answer: SqlAnswer, fileRows: number): VNode {
  const { columns, rows } = answer;
  const heads = columns.map((head, i) => ({
    head,
    ...(isNumeric(rows, i) ? { kind: 'number' as const } : {}),
    cell: (row: Cell[]) => cellNode(head, row[i] ?? null),
  }));
  const note = h('span', { id: 'answer-note', role: 'status' }, summary(answer, fileRows));
  const content = h('div.answer', table({ columns: heads, rows, label: 'Answer', empty: 'No rows.' }));
  return card({ title: 'Answer', note }, content);
}

function summary({ rows, more, ms }: SqlAnswer, fileRows: number): string {
  const found = `${counted(rows.length, 'row')} in ${number(ms)} ms`;
  if (more === null) return found;
  return `The first ${found}; there are more. The CSV file has up to ${number(fileRows)}.`;
}

function cellNode(head: string, value: Cell): Child {
  if (value === null) return h('span.quiet', 'NULL');
  if (head === 'post_id' && typeof value === 'number') return h('a', { href: `/posts/${value}` }, value);
  if (typeof value === 'number') return value;
  return excerpt(value, LONGEST_CELL);
}

function isNumeric(rows: readonly Cell[][], i: number): boolean {
  return rows.some((row) => typeof row[i] === 'number') && rows.every((row) => typeof row[i] !== 'string');
}

interface Drawing {
  title: string;
  note: string;
  drawn: VNode;
}

/** A first column of dates makes a chart over time, one of other texts makes bars; numbers have to stand beside it. */
export function drawingOf({ columns, rows }: SqlAnswer): Drawing | null {
  const labels = rows.map(([label]) => label);
  const numeric = columns.map((_, i) => i).filter((i) => i > 0 && isNumeric(rows, i) && !isId(columns[i]));
  if (rows.length < 2 || numeric.length === 0 || !labels.every((label) => typeof label === 'string'))
    return null;
  if (new Set(labels).size < labels.length) return null;
  const plotted = { columns, rows, numeric };
  return labels.every(isTime) ? overTime(plotted) : barsOf(plotted);
}

/** Adding up or comparing ids says nothing. */
function isId(column = ''): boolean {
  return /(^|_)id$/i.test(column);
}

function isTime(text: string): boolean {
  return /^\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}.*)?)?$/.test(text) && !Number.isNaN(Date.parse(text));
}

interface Plotted {
  columns: string[];
  rows: Cell[][];
  numeric: number[];
}

function overTime({ columns, rows, numeric }: Plotted): Drawing {
  const sorted = rows.toSorted(([a], [b]) => Date.parse(String(a)) - Date.parse(String(b)));
  const series = numeric.slice(0, MOST_SERIES).map((i) => ({
    label: columns[i] ?? '',
    kind: 'line' as const,
    values: sorted.map((row) => (typeof row[i] === 'number' ? row[i] : null)),
  }));
  const unit = series.map(({ label }) => label).join(', ');
  const title = titleOf(`${unit} by ${columns[0] ?? ''}`);
  const times = sorted.map(([at]) => String(at));
  return { title, note: '', drawn: timeChart({ title, unit, times, series }) };
}

/** In the order of the answer, which is the person's own. */
function barsOf({ columns, rows, numeric: [i = 1] }: Plotted): Drawing | null {
  const amounts = rows.map((row) => ({ label: String(row[0]), value: Number(row[i] ?? 0) }));
  if (amounts.some(({ value }) => value < 0)) return null;
  const title = titleOf(`${columns[i] ?? ''} by ${columns[0] ?? ''}`);
  const note = amounts.length > MOST_BARS ? `The first ${MOST_BARS} of ${number(amounts.length)}` : '';
  return { title, note, drawn: bars(amounts.slice(0, MOST_BARS), title) };
}

/** Saves the answer as a file. The request carries the statement in its body. */
async function downloadCsv(sql: string, fileRows: number, signal: AbortSignal): Promise<string> {
  const { blob, rows } = await readCsv(await request('/data/query.csv', { body: { sql }, signal }));
  saveFile(blob, 'answer.csv');
  return rows >= fileRows
    ? `The file has the first ${number(fileRows)} rows; there may be more.`
    : `The file has ${counted(rows, 'row')}.`;
}

const [LINE_FEED, QUOTE] = [10, 34];

/** Counted as it comes: only the number of rows tells whether the limit has left some out. */
async function readCsv(response: Response): Promise<{ blob: Blob; rows: number }> {
  const pieces: BlobPart[] = [];
  let [lines, isQuoted] = [0, false];
  const reader = response.body?.getReader();
  try {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      pieces.push(next.value);
      for (const byte of next.value) {
        if (byte === QUOTE) isQuoted = !isQuoted;
        else if (byte === LINE_FEED && !isQuoted) lines += 1;
      }
    }
  } catch {
    throw new Error(
      'The file broke off: its answer is too large, or took too long. Select less, or use "feedback-mirror query".',
    );
  }
  return { blob: new Blob(pieces, { type: 'text/csv' }), rows: Math.max(0, lines - 1) };
}

/** The tables, each with its columns in words; a column's name is put where the person writes. */
function schemaCard({ tables }: SqlInfo, insert: (word: string) => void): VNode {
  const word = (text: string): VNode =>
    button(text, () => insert(text), { class: 'word', title: `Put ${text} into the statement` });
  const shown = tables.map(({ name, line, columns }) =>
    h(
      'details.schema',
      { key: name },
      h('summary', h('code', name), h('span.note', line)),
      h(
        'dl',
        Object.entries(columns).map(([column, words]) => [h('dt', word(column)), h('dd.note', words)]),
      ),
    ),
  );
  // On a phone the list of them is longer than all the rest of the page.
  const open = matchMedia('(min-width: 62rem)').matches;
  return card(
    { title: 'Tables' },
    h('details', { open }, h('summary', counted(tables.length, 'table')), h('div.schemas', shown)),
  );
}

/** Statements to begin with; each shows something the tables can tell. */
const EXAMPLES: readonly { name: string; sql: string }[] = [
  {
    name: 'Posts and votes by board',
    sql: `SELECT board, count(*) AS posts, sum(votes_count) AS votes
  FROM live_posts
 GROUP BY board
 ORDER BY votes DESC`,
  },
  {
    name: 'New posts by month',
    sql: `SELECT strftime('%Y-%m', created) AS month, count(*) AS posts
  FROM live_posts
 GROUP BY month
 ORDER BY month`,
  },
  {
    name: 'What people wait for: many votes, no comment',
    sql: `SELECT id AS post_id, title, board, status, votes_count
  FROM live_posts
 WHERE comments_count = 0
 ORDER BY votes_count DESC
 LIMIT 50`,
  },
  {
    name: 'Posts whose votes moved this week',
    sql: `SELECT p.id AS post_id, p.title, p.votes_count - min(h.votes_count) AS gained, p.votes_count AS votes
  FROM post_history h
  JOIN live_posts p ON p.id = h.post_id
 WHERE h.observed_at >= date('now', '-7 days')
 GROUP BY p.id
HAVING gained > 0
 ORDER BY gained DESC
 LIMIT 50`,
  },
  {
    name: 'What each pass over the upstream did',
    sql: `SELECT started_at, resource, mode, outcome, rows, inserted, updated, deleted
  FROM sync_runs
 ORDER BY id DESC
 LIMIT 100`,
  },
];
