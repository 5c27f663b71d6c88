import {
  type AttemptRow,
  type EditRow,
  OUTBOX_STATES,
  type OutboxRow,
  type OutboxState,
  type StateCounts,
} from '../outbox/decide/types.ts';
import type { PauseDecision } from '../outbox/person.ts';
import { type Estimate, estimateText } from '../outbox/send/estimate.ts';
import { contentAsSent } from '../outbox/send/mark.ts';
import type { BatchRow } from '../outbox/store/batches.ts';
import { REFUSED_HINT, type RefusedBoard, refusedText, TOKEN_HINT } from '../outbox/store/refused.ts';
import type { ViewedPost } from '../outbox/store/view.ts';
import { counted, grouped } from '../text/text.ts';
import { cellLine, cut, type TableCell, table } from './table.ts';

/** The states as people read them; machines get the stored names. */
const STATE_WORDS: Record<OutboxState, string> = {
  proposed: 'Proposed',
  ready: 'Queued',
  sending: 'Sending',
  ambiguous: 'Checking',
  confirmed: 'Sent',
  rejected: 'Rejected',
  uncertain: 'Needs a decision',
  cancelled: 'Cancelled',
};

export function stateWord(state: OutboxState): string {
  return STATE_WORDS[state];
}

/** `--state` takes both: what is read in a table, and what a machine reads. */
export function stateNamed(text: string): OutboxState | null {
  const given = text.trim().toLowerCase();
  return OUTBOX_STATES.find((state) => state === given || STATE_WORDS[state].toLowerCase() === given) ?? null;
}

/** `12 sent, 1 rejected`, or `empty`. */
export function stateText(counts: Partial<StateCounts>): string {
  const parts = OUTBOX_STATES.flatMap((state) => {
    const n = counts[state] ?? 0;
    return n > 0 ? [`${grouped(n)} ${STATE_WORDS[state].toLowerCase()}`] : [];
  });
  return parts.length > 0 ? parts.join(', ') : 'empty';
}

/** What keeps rows that are ready from being sent, and what to do about it. */
export function hindranceLines({ paused, refused }: Pick<Listed, 'paused' | 'refused'>): string[] {
  const boards = refused.map((board) => `Not sent: ${refusedText(board)}. ${REFUSED_HINT}`);
  if (paused === null) return boards;
  return [`Sending is paused: ${paused}.${paused.includes('token') ? ` ${TOKEN_HINT}` : ''}`, ...boards];
}

export const NO_ROWS = Object.fromEntries(OUTBOX_STATES.map((state) => [state, 0])) as StateCounts;

interface Listed {
  rows: OutboxRow[];
  counts: StateCounts;
  paused: string | null;
  refused: RefusedBoard[];
  filter: { state: OutboxState | null; batch: string | null };
  batch: BatchRow | null;
  estimate: Estimate | null;
}

/** A narrow terminal shows this much of the title. The column of batches needs a wide one. */
const SHORTEST_TITLE = 16;
const WIDE = 110;

export function outboxListText(
  { rows, counts, filter, batch, estimate, ...hindrances }: Listed,
  width: number,
): string {
  const where = filter.batch === null ? 'outbox' : `batch ${filter.batch}`;
  const lines =
    rows.length > 0
      ? [rowsTable(rows, width, filter.batch === null && width >= WIDE), ...reasons(rows, width), '']
      : [];
  const all = filter.state === null ? total(counts) : counts[filter.state];
  if (rows.length < all && rows.length > 0)
    lines.push(`The newest ${grouped(rows.length)} of ${grouped(all)}; --limit shows more.`);
  lines.push(`${where}: ${stateText(counts)}`, ...batchLines(batch));
  if (estimate && estimate.ms >= LONG_MS) lines.push(`${estimateText(estimate)}.`);
  lines.push(...hindranceLines(hindrances));
  return lines.join('\n');
}

/** Shorter waits are not shown. */
export const LONG_MS = 60_000;

/** Rows on their way are still brought to their end, so they are counted apart from those that wait. */
export function pausedText({ batch, rows, sending }: PauseDecision): string {
  const waiting = rows > 0 && `${counted(rows, 'row')} ${rows === 1 ? 'waits' : 'wait'}`;
  const going =
    sending > 0 && `${counted(sending, 'row')} ${sending === 1 ? 'is on its' : 'are on their'} way`;
  const parts = [waiting, going].filter((part) => part !== false).join(', ');
  return `batch ${batch}: paused${parts && `; ${parts}`}`;
}

export function batchLines(batch: BatchRow | null): string[] {
  if (batch?.cancelled_at)
    return [`Cancelled at ${batch.cancelled_at}: what was not sent by then is not sent.`];
  if (batch?.paused_at)
    return [`Paused at ${batch.paused_at}. Go on: feedback-mirror outbox resume --batch ${batch.batch}`];
  return [];
}

function total(counts: StateCounts): number {
  return Object.values(counts).reduce((sum, n) => sum + n, 0);
}

function rowsTable(rows: OutboxRow[], width: number, withBatch: boolean): string {
  const head = ['id', 'state', 'board', 'goes as', 'post', 'tries', ...(withBatch ? ['batch'] : []), 'line'];
  const cells = (row: OutboxRow): TableCell[] => [
    String(row.id),
    STATE_WORDS[row.state],
    cut(row.board, 24),
    cut(row.email ?? 'owner', 28),
    row.post_id === null ? '' : `#${row.post_id}`,
    row.attempts,
    ...(withBatch ? [row.batch] : []),
    row.line === null ? '' : String(row.line),
  ];
  const others = table(head, rows.map(cells));
  const used = Math.max(...others.split('\n').map((line) => line.length));
  const room = Math.max(SHORTEST_TITLE, width - used - 2);
  return table(
    [...head, 'title'],
    rows.map((row) => [...cells(row), cut(row.title, room)]),
  );
}

/** Below the rows, not beside them: a column as wide as a sentence would break every line. */
function reasons(rows: OutboxRow[], width: number): string[] {
  const room = Math.max(40, width - 12);
  const reasons = rows.flatMap((row) => {
    const why = reasonOf(row);
    return why === null ? [] : [[String(row.id), cut(why, room)]];
  });
  return reasons.length === 0 ? [] : ['', table(['id', 'why'], reasons)];
}

function reasonOf({
  state,
  last_error,
  duplicate_of,
  candidates,
  matched,
  post_id,
}: OutboxRow): string | null {
  // Found by the check after a sweep, unless a person has looked at them.
  const others = matched === 'person' ? [] : candidates.filter((id) => id !== post_id && id !== duplicate_of);
  if (duplicate_of !== null)
    return `it left a second post upstream, ${[duplicate_of, ...others].join(', and perhaps ')}`;
  if (['confirmed', 'rejected', 'cancelled'].includes(state) && others.length > 0)
    return `it may have left another post upstream: ${others.join(', ')}`;
  return state === 'confirmed' ? null : last_error;
}

export function showText(
  row: OutboxRow,
  attempts: AttemptRow[],
  posts: ViewedPost[],
  edits: EditRow[] = [],
): string {
  const parts = [
    fieldsText(row, attempts),
    ...section('before it was edited', edits.length > 0 ? editsTable(edits) : ''),
    ...section('attempts', attempts.length > 0 ? attemptsTable(attempts) : ''),
  ];
  const candidates = posts.filter((post) => row.candidates.includes(post.id));
  if (row.candidates.length > 0)
    parts.push(
      ...section(CANDIDATES[row.state === 'uncertain' ? 'open' : 'settled'], postsTable(candidates, row)),
    );
  if (row.state === 'uncertain' && candidates.length > 0)
    parts.push(...section('side by side', comparison(row, candidates.slice(0, MOST_COMPARED))));
  const own = posts.filter((post) => post.id === row.post_id || post.id === row.duplicate_of);
  if (own.length > 0) parts.push(...section('in the mirror', postsTable(own, row)));
  // A post that the sender found in the list is there, although no pass has read it since.
  const wasListed = row.matched !== null && row.matched !== 'person';
  if (own.length === 0 && row.state === 'confirmed' && row.post_id !== null && !wasListed)
    parts.push(
      '',
      `No pass has listed post ${row.post_id} yet. A service may hold new posts back for approval.`,
    );
  const next = advice(row, candidates);
  if (next.length > 0) parts.push('', ...next);
  return parts.join('\n');
}

/** More columns than this fit into no terminal. */
const MOST_COMPARED = 3;
const COMPARED_WIDTH = 36;

/** What was sent beside what the posts show, field by field. */
function comparison(row: OutboxRow, posts: ViewedPost[]): string {
  const cell = (text: string | null): string => cut(text ?? '', COMPARED_WIDTH);
  const line = (name: string, sent: string | null, shown: (post: ViewedPost) => string | null): string[] => [
    name,
    cell(sent),
    ...posts.map((post) => cell(shown(post))),
  ];
  return table(
    ['', 'sent', ...posts.map(({ id }) => `#${id}`)],
    [
      line('title', row.title, (post) => post.title),
      line('content', contentAsSent(row), (post) => post.content),
      line('board', row.board, (post) => post.board),
      line('by', row.email ?? 'the owner', (post) => post.creator_email ?? post.creator_name),
      line('made', row.first_sent_at, (post) => post.created),
    ],
  );
}

const CANDIDATES = { open: 'it could be one of these posts', settled: 'posts that look the same' };

function section(title: string, text: string): string[] {
  return text === '' ? [] : ['', `${title}:`, text];
}

function fieldsText(row: OutboxRow, attempts: readonly AttemptRow[]): string {
  const fields: [string, TableCell][] = [
    ['id', row.id],
    ['state', STATE_WORDS[row.state]],
    ['why', row.last_error],
    ['on hold', row.on_hold ? 'its import is paused, cancelled or slower than the service' : null],
    ['board', row.board],
    ['title', row.title],
    ['content', contentAsSent(row)],
    ['goes as', row.email === null ? 'the owner of the token' : `${row.full_name ?? ''} <${row.email}>`],
    ['batch', row.line === null ? row.batch : `${row.batch}, line ${row.line}`],
    ['source key', row.source_key],
    ['not before', row.not_before],
    ['post', row.post_id],
    ['url', row.url],
    ['matched', row.matched],
    ['second post', row.duplicate_of],
    ['accepted', row.created_at],
    // first_sent_at is another time: of the first attempt that may have left a post.
    ['first sent', attempts[0]?.started_at ?? null],
    ['last change', row.changed_at],
  ];
  const shown = fields.filter(([, value]) => value !== null && value !== '');
  return shown.map(([name, value]) => `${name.padEnd(13)}${indented(String(value))}`).join('\n');
}

/** Indents the lines of a text under its first line, and removes characters that move the cursor. */
function indented(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map(cellLine)
    .join(`\n${' '.repeat(13)}`);
}

function attemptsTable(attempts: AttemptRow[]): string {
  return table(
    ['n', 'started', 'ended', 'outcome', 'http', 'post', 'what happened'],
    attempts.map((a) => [
      a.n,
      a.started_at,
      a.ended_at,
      a.outcome ?? 'unknown yet',
      a.http_status === null ? '' : String(a.http_status),
      a.post_id === null ? '' : `#${a.post_id}`,
      a.error,
    ]),
  );
}

function editsTable(edits: EditRow[]): string {
  return table(
    ['edited', 'board', 'title', 'content', 'customer'],
    edits.map(({ edited_at, before }) => [
      edited_at,
      before.board,
      cut(before.title, COMPARED_WIDTH),
      cut(before.content, COMPARED_WIDTH),
      before.email,
    ]),
  );
}

function postsTable(posts: ViewedPost[], row: OutboxRow): string {
  if (posts.length === 0)
    return `#${row.candidates.join(', #')}: not in the mirror. "feedback-mirror sync" reads it, or puts it into the table quarantine with what is wrong.`;
  return table(
    ['post', 'created', 'board', 'by', 'title', 'url', 'note'],
    posts.map((post) => [
      `#${post.id}`,
      post.created,
      post.board,
      post.creator_email ?? post.creator_name,
      cut(post.title, 60),
      post.url,
      noteOn(post, row),
    ]),
  );
}

function noteOn(post: ViewedPost, row: OutboxRow): string {
  if (post.deleted === 1) return 'deleted since';
  if (!isFree(post, row)) return `confirms row ${post.confirms}`;
  return row.baseline.includes(post.id) ? 'turned down before' : '';
}

/** One post can be the outcome of one row only. */
function isFree({ confirms }: ViewedPost, { id }: OutboxRow): boolean {
  return confirms === null || confirms === id;
}

function choiceOf(row: OutboxRow, candidates: ViewedPost[]): string {
  const taken = candidates.filter((post) => !isFree(post, row));
  if (taken.length === 0 || taken.length < row.candidates.length)
    return `It is one of them:   feedback-mirror outbox resolve ${row.id} --post NUMBER`;
  const owners = taken.map((post) => `post ${post.id} confirms row ${post.confirms}`);
  return `None of them is free: ${owners.join(', ')}.`;
}

function advice(row: OutboxRow, candidates: ViewedPost[]): string[] {
  const { id, state } = row;
  if (state === 'uncertain')
    return [
      choiceOf(row, candidates),
      `It was never made:   feedback-mirror outbox retry ${id}`,
      `Forget about it:     feedback-mirror outbox cancel ${id}`,
    ];
  if (state === 'proposed')
    return [
      `Send it:         feedback-mirror outbox approve ${id}`,
      `Mend it first:   feedback-mirror outbox edit ${id} --title TEXT`,
      `Forget about it: feedback-mirror outbox cancel ${id}`,
    ];
  if (state === 'rejected')
    return [
      `Mend it:        feedback-mirror outbox edit ${id} --board SLUG --retry`,
      `Send it again:  feedback-mirror outbox retry ${id}`,
    ];
  if (state === 'cancelled') return [`Send it again:  feedback-mirror outbox retry ${id}`];
  return [];
}
