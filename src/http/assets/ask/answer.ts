import type { Answer, Cell } from '../../dashboard/ask.ts';
import { timeChart } from '../chart.ts';
import { type Child, h } from '../dom.ts';
import { counted, number } from '../format.ts';
import { bars, card, table } from '../parts.ts';

const LONGEST_CELL = 300;
const MOST_SERIES = 5;
const MOST_BARS = 25;

/** What was asked, as a chart where it makes one, and as a table. */
export function answerCards(answer: Answer, fileRows: number, signal: AbortSignal): HTMLElement[] {
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
  const empty = 'The statement is fine, and no row answers it.';
  const content = h('div', { class: 'answer' }, table(heads, rows, 'Answer', empty));
  return card({ title: 'Answer', note }, content);
}

function summary({ rows, more, ms }: Answer, fileRows: number): string {
  const found = `${counted(rows.length, 'row')} in ${number(ms)} ms`;
  if (more === null) return found;
  return `The first ${found}; there are more. The CSV file has up to ${number(fileRows)}.`;
}

function cellNode(head: string, value: Cell): Child {
  if (value === null) return h('span', { class: 'quiet' }, 'NULL');
  if (head === 'post_id' && typeof value === 'number') return h('a', { href: `/posts/${value}` }, value);
  if (typeof value === 'number') return value;
  if (value.length <= LONGEST_CELL) return value;
  return `${value.slice(0, LONGEST_CELL)}…`;
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
