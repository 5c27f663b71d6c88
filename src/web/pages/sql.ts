import type { Answer, Cell, SqlInfo } from '../../http/dashboard/sql.ts';
import type { SavedQuery } from '../../store/saved.ts';
import { fetchJson, request, saveFile, withQuery } from '../api.ts';
import { timeChart } from '../chart.ts';
import { type Child, fill, h } from '../dom.ts';
import { openSqlEditor } from '../editor.ts';
import { counted, number, span } from '../format.ts';
import type { Page, PageContext } from '../page.ts';
import { banner, bars, button, card, failure, pageHead, table } from '../parts.ts';
import { openShelf } from '../saved.ts';
import { excerpt } from '../text.ts';

/** An address longer than this is cut by what it is pasted into. */
const LONGEST_ADDRESS = 6000;

export const page: Page = {
  title: 'SQL',
  async show(context) {
    const { root, url, signal } = context;
    const info = await fetchJson<SqlInfo>('/data/query', { signal });
    const given = url.searchParams.get('q') ?? '';
    const runner = openRunner(context, info, given);
    const saved = await savedPart(runner.take, signal);
    const tools = [
      h('button.main', { type: 'submit' }, 'Run'),
      button('Download CSV', () => void runner.download()),
      button('Save', () => runner.withSql(saved.save)),
      h('span.note.keys', 'Ctrl + Enter runs it'),
    ];
    const form = h(
      'form',
      { on: { submit: runner.onSubmit } },
      runner.editor.element,
      h('div.actions', ...tools),
    );
    fill(
      root,
      pageHead('SQL', 'Everything in the mirror, read-only.'),
      h(
        'div.sql',
        h('div.stacked', card({ title: 'Statement' }, form), runner.result),
        h('div.stacked', saved.element, schemaCard(info, runner.editor.insert)),
      ),
    );
    // The page is there at once, so that a slow statement can be cancelled.
    if (given !== '') void runner.run();
  },
};

/** The editor and what came of it. */
function openRunner({ signal }: PageContext, info: SqlInfo, given: string) {
  const result = h('div.stacked', { 'aria-live': 'polite' });
  const editor = openSqlEditor({ text: given, tables: info.tables, onRun: () => void run() });
  let running = new AbortController();

  /** One statement at a time: the next one ends the last, whose answer is gone from the page as soon as another one runs. */
  const attempt = async (work: (signal: AbortSignal) => Promise<HTMLElement[]>): Promise<void> => {
    running.abort();
    running = new AbortController();
    const mine = running;
    const both = AbortSignal.any([signal, mine.signal]);
    const ticking = showRunning(result, () => {
      mine.abort();
      fill(result, banner('plain', 'Cancelled.'));
    });
    try {
      const drawn = await work(both);
      if (!both.aborted) fill(result, drawn);
    } catch (error) {
      if (!both.aborted) fill(result, failure(error));
    } finally {
      clearInterval(ticking);
    }
  };
  const run = (): Promise<void> =>
    attempt(async (both) => {
      const text = editor.text();
      remember(text);
      const answer = await fetchJson<Answer>('/data/query', { body: { sql: text }, signal: both });
      return answerCards(answer, info.limits.file, signal);
    });
  const download = (): Promise<void> =>
    attempt(async (both) => [banner('good', await downloadCsv(editor.text(), info.limits.file, both))]);
  return {
    editor,
    result,
    run,
    download,
    onSubmit(event: Event): void {
      event.preventDefault();
      void run();
    },
    take(sql: string): void {
      editor.set(sql);
      editor.focus();
      void run();
    },
    withSql(use: (sql: string) => void): void {
      if (editor.text().trim() === '') editor.focus();
      else use(editor.text());
    },
  };
}

/** Statements to take: those that people keep, for everybody, and a few to begin with. */
async function savedPart(take: (sql: string) => void, signal: AbortSignal) {
  let taken: SavedQuery | null = null;
  const taker = (name: string, sql: string, query: SavedQuery | null): HTMLElement => {
    const onClick = (): void => {
      taken = query;
      take(sql);
    };
    return button(name, onClick, { class: 'link' });
  };
  const shelf = await openShelf(
    {
      name: 'queries',
      column: 'sql',
      item: 'query',
      empty: 'Nothing is saved yet. Write a statement, then choose Save.',
      taker: (query) => taker(query.name, query.sql, query),
    },
    signal,
  );
  const examples = EXAMPLES.map(({ name, sql }) => h('li', taker(name, sql, null)));
  return {
    element: card(
      { title: 'Saved', note: 'Shared by everyone who uses this mirror' },
      shelf.element,
      h('h3', 'Examples'),
      h('ul.plain', ...examples),
    ),
    save: (sql: string): void =>
      shelf.save('Save this statement', sql, taken, (query) => {
        taken = query;
      }),
  };
}

/** For how long the statement runs, and the way to end it; returns the timer of the former. */
function showRunning(result: HTMLElement, cancel: () => void): ReturnType<typeof setInterval> {
  const began = Date.now();
  const age = h('span', { 'aria-live': 'off' }, 'Running …');
  fill(result, h('div.banner.running', age, button('Cancel', cancel)));
  return setInterval(() => {
    age.textContent = `Running for ${span(Date.now() - began)} …`;
  }, 1000);
}

/** The address is the statement, so that it can be sent to somebody; without a new page, so that undo still works in the box. */
function remember(sql: string): void {
  const address = withQuery('/sql', { q: sql });
  history.replaceState(null, '', address.length > LONGEST_ADDRESS ? '/sql' : address);
}

const LONGEST_CELL = 300;
const MOST_SERIES = 5;
const MOST_BARS = 25;

/** What was asked, as a chart where it makes one, and as a table. */
function answerCards(answer: Answer, fileRows: number, signal: AbortSignal): HTMLElement[] {
  const drawing = drawingOf(answer, signal);
  const chart = drawing ? [card(drawing, drawing.drawn)] : [];
  return [...chart, resultCard(answer, fileRows)];
}

function resultCard(answer: Answer, fileRows: number): HTMLElement {
  const { columns, rows } = answer;
  const heads = columns.map((head, i) => ({
    head,
    ...(isNumeric(rows, i) ? { kind: 'number' as const } : {}),
    cell: (row: Cell[]) => cellNode(head, row[i] ?? null),
  }));
  const note = h('span', { id: 'answer-note', role: 'status' }, summary(answer, fileRows));
  const empty = 'No rows.';
  const content = h('div.answer', table(heads, rows, 'Answer', empty));
  return card({ title: 'Answer', note }, content);
}

function summary({ rows, more, ms }: Answer, fileRows: number): string {
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
  drawn: HTMLElement;
}

/** A first column of dates makes a chart over time, one of other texts makes bars; numbers have to stand beside it. */
function drawingOf({ columns, rows }: Answer, signal: AbortSignal): Drawing | null {
  const labels = rows.map(([label]) => label);
  const numeric = columns.map((_, i) => i).filter((i) => i > 0 && isNumeric(rows, i) && !isId(columns[i]));
  if (rows.length < 2 || numeric.length === 0 || !labels.every((label) => typeof label === 'string'))
    return null;
  if (new Set(labels).size < labels.length) return null;
  const plotted = { columns, rows, numeric };
  return labels.every(isTime) ? overTime(plotted, signal) : barsOf(plotted);
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

function overTime({ columns, rows, numeric }: Plotted, signal: AbortSignal): Drawing {
  const sorted = rows.toSorted(([a], [b]) => Date.parse(String(a)) - Date.parse(String(b)));
  const series = numeric.slice(0, MOST_SERIES).map((i) => ({
    label: columns[i] ?? '',
    kind: 'line' as const,
    values: sorted.map((row) => (typeof row[i] === 'number' ? row[i] : null)),
  }));
  const unit = series.map(({ label }) => label).join(', ');
  const title = `${unit} by ${columns[0] ?? ''}`;
  const times = sorted.map(([at]) => String(at));
  return { title, note: '', drawn: timeChart({ title, unit, times, series }, signal) };
}

/** In the order of the answer, which is the person's own. */
function barsOf({ columns, rows, numeric: [i = 1] }: Plotted): Drawing | null {
  const amounts = rows.map((row) => ({ label: String(row[0]), value: Number(row[i] ?? 0) }));
  if (amounts.some(({ value }) => value < 0)) return null;
  const title = `${columns[i] ?? ''} by ${columns[0] ?? ''}`;
  const note = amounts.length > MOST_BARS ? `The first ${MOST_BARS} of ${number(amounts.length)}` : '';
  return { title, note, drawn: bars(amounts.slice(0, MOST_BARS), title) };
}

/** Has the answer as a file. The statement goes in the body, as to any other question: no address carries it. */
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
function schemaCard({ tables }: SqlInfo, insert: (word: string) => void): HTMLElement {
  const word = (text: string): HTMLElement =>
    button(text, () => insert(text), { class: 'word', title: `Put ${text} into the statement` });
  const shown = tables.map(({ name, line, columns }) =>
    h(
      'details.schema',
      h('summary', h('code', name), h('span.note', line)),
      h(
        'dl',
        ...Object.entries(columns).map(([column, words]) => [h('dt', word(column)), h('dd.note', words)]),
      ),
    ),
  );
  return card({ title: 'Tables' }, ...shown);
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
