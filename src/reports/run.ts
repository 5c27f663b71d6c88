import { readFileSync } from 'node:fs';
import { AppError } from '../base/errors.ts';
import { nearest } from '../base/nearest.ts';
import type { Bound, KnownBoard, ReportReader } from '../store/reports.ts';
import { type Definition, REPORT_NAMES, REPORTS, type ReportName } from './catalogue.ts';
import { coverage } from './coverage.ts';
import { findDuplicates, SCOPE } from './duplicates.ts';
import { momentOf, mondayBefore, mondays } from './moment.ts';
import { type Column, REPORT_FLAGS, type ReportRequest, type ReportResult, type Value } from './report.ts';
import { segmentNotes } from './segments.ts';
import { statusNote, statusSets } from './status-sets.ts';

const DEFAULT_LIMIT = 20;

/** Answers one question about the mirror. Throws AppError('usage') for a name, board, date or flag that makes no sense. */
export async function runReport(
  reader: ReportReader,
  name: string,
  request: ReportRequest,
): Promise<ReportResult> {
  const known = reportNamed(name);
  const definition: Definition = REPORTS[known];
  refuseIdleFlags(known, definition, request);
  const board = await boardOf(reader, request.board);
  const period = periodOf(definition, request);
  const { bound, notes } = await bind(reader, definition, request, period, board);
  const sql = sqlNamed(definition.sql ?? known);
  const found = isUnknowable(definition, bound) ? [] : await reader.rows(sql, bound);
  if (known === 'post-votes') await refuseUnknownPost(reader, request.post ?? 0);
  const rows =
    known === 'duplicates'
      ? await findDuplicates(reader, found as { id: number; title: string }[], limitOf(request))
      : found.map((row) => decodeTrends(row, definition.columns));
  if (known === 'duplicates') notes.push(...duplicateNotes(found.length));
  const columns = definition.columns.filter((column) => isAnswered(column, request));
  return {
    name: known,
    title: definition.answers,
    ...period,
    board: board?.name ?? null,
    columns,
    rows: rows.map((row) =>
      Object.fromEntries(columns.map((column) => [column.name, row[column.name] ?? null])),
    ),
    notes: [...(definition.notes ?? []), ...notes],
  };
}

function sqlNamed(name: string): string {
  return readFileSync(new URL(`./sql/${name}.sql`, import.meta.url), 'utf8');
}

export function reportNamed(name: string): ReportName {
  const found = REPORT_NAMES.find((known) => known === name.trim().toLowerCase());
  if (found) return found;
  const close = nearest(name, REPORT_NAMES);
  const others = REPORT_NAMES.filter((known) => known !== close && sharesWord(known, name));
  const meant = [close, ...others].filter((each) => each !== null);
  throw new AppError('usage', `there is no report "${name}"`, {
    hint:
      meant.length > 0
        ? `Did you mean ${meant.slice(0, 3).join(' or ')}? "feedback-mirror report" lists all of them.`
        : `The reports are ${REPORT_NAMES.join(', ')}.`,
  });
}

function sharesWord(known: string, name: string): boolean {
  const words = name
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word.length > 2);
  return words.some((word) => known.includes(word) || nearest(word, known.split('-'), 1) !== null);
}

/** A flag that changes nothing would look as if it had. */
function refuseIdleFlags(name: ReportName, { takes }: Definition, request: ReportRequest): void {
  const idle = REPORT_FLAGS.find((flag) => request[flag] !== undefined && !takes.includes(flag));
  if (idle)
    throw new AppError('usage', `--${idle} means nothing to the report ${name}`, {
      hint: `It takes ${takes.map((flag) => `--${flag}`).join(', ')}.`,
    });
  for (const flag of ['post', 'segments'] as const)
    if (takes.includes(flag) && request[flag] === undefined)
      throw new AppError('usage', `the report ${name} needs --${flag}`, {
        hint: flag === 'post' ? 'Give the id of a post.' : 'Give a CSV file of customers with their e-mails.',
      });
}

/** The board a person means, by slug, name or id. */
export async function boardOf(reader: ReportReader, wanted: string | undefined): Promise<KnownBoard | null> {
  if (wanted === undefined) return null;
  const boards = await reader.boards();
  const text = wanted.trim().toLowerCase();
  const found =
    boards.find(({ slug }) => slug.toLowerCase() === text) ??
    boards.find(({ name }) => name.toLowerCase() === text) ??
    boards.find(({ id }) => String(id) === text);
  if (found) return found;
  const names = boards.map(({ slug, name }) => (slug === name ? slug : `${slug} (${name})`)).join(', ');
  throw new AppError('usage', `there is no board "${wanted}"`, {
    hint: names ? `The boards are ${names}.` : 'The mirror knows no board yet: run "feedback-mirror sync".',
  });
}

async function refuseUnknownPost(reader: ReportReader, id: number): Promise<void> {
  if (await reader.hasPost(id)) return;
  throw new AppError('usage', `the mirror knows no post ${id}`, {
    hint: 'The id stands in the column post of "feedback-mirror report top-posts", and in the address of a post.',
  });
}

export interface Period {
  since: string | null;
  until: string;
}

/** The period a person asks for, or the one that is usual for the question. */
export function periodOf(
  definition: Pick<Definition, 'since'>,
  { now, since, until }: ReportRequest,
): Period {
  const end = until === undefined ? new Date(now).toISOString() : momentOf('until', until, now);
  const begin =
    since === undefined ? defaultSince(definition, Date.parse(end)) : momentOf('since', since, now);
  if (begin !== null && begin >= end)
    throw new AppError('usage', `the period ends (${end}) before it begins (${begin})`, {
      hint: 'Give --since an earlier date, or --until a later one.',
    });
  return { since: begin, until: end };
}

function defaultSince({ since }: Pick<Definition, 'since'>, end: number): string | null {
  if (since === undefined) return null;
  return 'weeks' in since
    ? mondayBefore(end, since.weeks - 1)
    : new Date(end - since.days * 86_400_000).toISOString();
}

function limitOf({ limit }: ReportRequest): number {
  return limit ?? DEFAULT_LIMIT;
}

interface Binding {
  bound: Record<string, Bound>;
  notes: string[];
}

async function bind(
  reader: ReportReader,
  definition: Definition,
  request: ReportRequest,
  period: Period,
  board: KnownBoard | null,
): Promise<Binding> {
  const watched = await reader.watched();
  const covered = definition.history ? coverage(watched, period.since, period.until) : null;
  const prior = period.since === null ? null : priorTo(period.since, period.until);
  const sets = statusSets(await reader.statuses(), request.delivered);
  const notes = [...(covered?.notes ?? []), ...(definition.sets ? [statusNote(sets, definition.sets)] : [])];
  if (request.segments) notes.push(...(await segmentNotes(reader, request.segments)));
  const bound: Record<string, Bound> = {
    now: new Date(request.now).toISOString(),
    since: period.since ?? '',
    until: period.until,
    weeks: JSON.stringify(period.since === null ? [] : mondays(period.since, period.until)),
    prior,
    // The period before counts only where all of it was watched.
    before: covered?.from && prior && watched.first && prior >= watched.first ? prior : null,
    from: covered?.from ?? null,
    observed: watched.first,
    last: watched.last,
    board: board?.id ?? null,
    limit: limitOf(request),
    scope: SCOPE,
    post: request.post ?? null,
    delivered: JSON.stringify(sets.delivered.map(({ id }) => id)),
    finished: JSON.stringify(sets.finished.map(({ id }) => id)),
    segments: JSON.stringify(request.segments?.customers ?? []),
    ...definition.fixed,
  };
  return { bound, notes };
}

/** Where the period before it begins, which is just as long. */
export function priorTo(since: string, until: string): string {
  return new Date(2 * Date.parse(since) - Date.parse(until)).toISOString();
}

/** Lists of changes have nothing to say where no change is known; tables of the present have their empty columns. */
function isUnknowable({ history, fixed }: Definition, { from }: Binding['bound']): boolean {
  return history === true && fixed?.rank !== undefined && from === null;
}

/** Without a column to add up there is no amount. */
function isAnswered({ name }: Column, { segments }: ReportRequest): boolean {
  return name !== 'amount' || segments?.sum !== null;
}

function decodeTrends(row: Record<string, Bound>, columns: readonly Column[]): Record<string, Value> {
  const trends = columns.filter(({ kind }) => kind === 'trend');
  if (trends.length === 0) return row;
  const decoded = trends.map(({ name }) => [name, JSON.parse(String(row[name])) as number[]]);
  return { ...row, ...Object.fromEntries(decoded) };
}

function duplicateNotes(looked: number): string[] {
  const scope = `${looked.toLocaleString('en')} posts of the period were compared with the whole mirror`;
  return [
    'Likeness is the share of letters in words that both titles have; pairs from 60 % on are shown.',
    looked < SCOPE ? `The ${scope}.` : `The newest ${scope}; --since, --until and --board choose others.`,
  ];
}
