import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { acceptPost, checkDraft } from '../../outbox/create.ts';
import { EDITABLE, TRANSITIONS } from '../../outbox/decide/states.ts';
import {
  type AttemptRow,
  type EditRow,
  OUTBOX_STATES,
  type OutboxRow,
  type StateCounts,
} from '../../outbox/decide/types.ts';
import { approve, cancel, edit, resolve, retry, sendEdited } from '../../outbox/person.ts';
import type { ImportReads } from '../../outbox/store/imports.ts';
import { REFUSED_HINT, refusedText } from '../../outbox/store/refused.ts';
import type { OutboxStore } from '../../outbox/store/store.ts';
import type { OutboxView, ViewedPost } from '../../outbox/store/view.ts';
import { boardNamed, type KnownBoard } from '../../text/boards.ts';
import { webAddress } from '../../text/text.ts';
import { idOf, isOn, numberOf, required, textIn, wordIn } from './parameters.ts';

interface OutboxDeps {
  view: OutboxView;
  /** Where the upstream's own pages are; null where it has none. */
  upstream: string | null;
  /** A handle of its own: the sender does not notice its own writes. */
  outbox: OutboxStore;
  reads: Pick<ImportReads, 'boards'>;
  clock: Clock;
  random?: () => number;
}

const PAGE_ROWS = 50;

const LISTED = [
  ...(['id', 'batch', 'line', 'board', 'title', 'email', 'state', 'attempts'] as const),
  ...(['not_before', 'post_id', 'duplicate_of', 'on_hold', 'changed_at'] as const),
] as const;

export interface ListedRow extends Pick<OutboxRow, (typeof LISTED)[number]> {
  /** The reason of its state, in words. */
  reason: string | null;
  original: string | null;
}

export interface OutboxPage {
  rows: ListedRow[];
  counts: StateCounts;
  paused: string | null;
  /** Boards to which nothing is sent for now, and why, each in words. */
  refused: string[];
  /** The row that the next page is older than, and the one that the page before is newer than; null at the ends. */
  before: number | null;
  after: number | null;
}

export interface OutboxDetail {
  row: OutboxRow;
  attempts: AttemptRow[];
  /** What it said before a person changed it, the oldest first. */
  edits: EditRow[];
  /** The reason of its state, in words. The row has the words of the upstream. */
  reason: string | null;
  /** Posts of the mirror that this row is, may be, or has left behind. */
  posts: ViewedPost[];
  original: string | null;
  /** What a person can decide now. */
  can: Record<OutboxDecision, boolean>;
}

export type OutboxDecision = 'approve' | 'retry' | 'cancel' | 'resolve' | 'edit';

export interface Boards {
  boards: KnownBoard[];
}

/** A post that was put in, and what the person should know about it. */
export interface Created {
  row: OutboxRow;
  notes: string[];
}

/** `/data/outbox`: what is on its way, one row in full, a new one, and the decisions of people. */
export function addOutbox(app: FastifyInstance, deps: OutboxDeps): void {
  const { view, upstream, outbox: store, reads, clock } = deps;
  app.get('/data/outbox', async ({ query }) => list(view, upstream, query));
  app.get('/data/outbox/boards', async (): Promise<Boards> => ({ boards: await reads.boards() }));
  app.post('/data/outbox', async ({ body }, reply) => reply.code(201).send(await create(deps, body)));
  app.get('/data/outbox/:id', async (request, reply) => {
    const detail = await detailOf(view, upstream, idOf(request));
    return detail ?? reply.code(404).send({ detail: `There is no row ${idOf(request)} in the outbox.` });
  });
  const on = (decision: OutboxDecision, act: (id: number, body: unknown) => OutboxRow | Promise<OutboxRow>) =>
    app.post(`/data/outbox/:id/${decision}`, async (request) => ({
      row: await act(idOf(request), request.body),
    }));
  on('approve', (id) => approve({ store, clock }, id));
  on('retry', (id) => retry({ store, clock }, id));
  on('edit', (id, body) => editRow(deps, id, body));
  on('cancel', async (id) => {
    const before = await decided(view, id, ({ state }) => state === 'cancelled');
    return before ?? cancel({ store, clock }, id);
  });
  on('resolve', async (id, body) => {
    const postId = required(numberOf(body, 'post'), 'post');
    const before = await decided(view, id, ({ post_id }) => post_id === postId);
    const [post] = await view.posts([postId]);
    return before ?? resolve({ store, clock }, id, { id: postId, url: post?.url ?? null });
  });
}

/** A request that is sent twice, because its answer was lost, finds that it is done. */
async function decided(
  view: OutboxView,
  id: number,
  isSo: (row: OutboxRow) => boolean,
): Promise<OutboxRow | null> {
  const row = await view.find(id);
  return row && isSo(row) ? row : null;
}

function list(view: OutboxView, upstream: string | null, query: unknown): OutboxPage {
  const batch = textIn(query, 'batch');
  const state = wordIn(query, 'state', OUTBOX_STATES);
  const [before, after] = [numberOf(query, 'before'), numberOf(query, 'after')];
  const rows = view.newest({ state, batch, before, after, limit: PAGE_ROWS + 1 });
  const isCut = rows.length > PAGE_ROWS;
  // The extra row, which only shows that there are more, is at the far end.
  const shown = after === null ? rows.slice(0, PAGE_ROWS) : rows.slice(-PAGE_ROWS);
  return {
    rows: shown.map((row) => listed(row, upstream)),
    counts: view.counts(batch),
    paused: view.paused(),
    refused: view.refusedBoards().map((board) => `${refusedText(board)}. ${REFUSED_HINT}`),
    before: isCut || after !== null ? (shown.at(-1)?.id ?? null) : null,
    after: (after === null ? before !== null : isCut) ? (shown[0]?.id ?? null) : null,
  };
}

function listed(row: OutboxRow, upstream: string | null): ListedRow {
  const shown = Object.fromEntries(LISTED.map((name) => [name, row[name]])) as Pick<
    OutboxRow,
    (typeof LISTED)[number]
  >;
  return { ...shown, reason: row.last_error, original: row.url && webAddress(row.url, upstream) };
}

async function detailOf(view: OutboxView, upstream: string | null, id: number): Promise<OutboxDetail | null> {
  const row = await view.find(id);
  if (!row) return null;
  const related = [row.post_id, row.duplicate_of, ...row.candidates].filter((n) => n !== null);
  return {
    row,
    attempts: view.attempts(id),
    edits: view.edits(id),
    reason: row.last_error,
    posts: await view.posts(related),
    original: row.url && webAddress(row.url, upstream),
    can: decisionsOn(row),
  };
}

function decisionsOn({ state, erased_at }: OutboxRow): Record<OutboxDecision, boolean> {
  const starts = (from: readonly string[]): boolean => from.includes(state);
  return {
    approve: starts(TRANSITIONS.approve.from) && erased_at === null,
    retry: starts(TRANSITIONS.retry.from) && erased_at === null,
    cancel: starts(TRANSITIONS.cancel.from),
    resolve: starts(TRANSITIONS.resolve.from),
    edit: starts(EDITABLE) && erased_at === null,
  };
}

/** All fields come from the form; a board may be given by its name. With `retry` the row is sent with its new words. */
function editRow({ outbox: store, reads, clock }: OutboxDeps, id: number, body: unknown): OutboxRow {
  const given = (name: string): string => textIn(body, name) ?? '';
  const [title, content, email, full_name] = ['title', 'content', 'email', 'full_name'].map(given);
  const board = boardNamed(reads.boards(), given('board'));
  const edited = edit({ store, clock }, id, { board, title, content, email, full_name });
  return isOn(body, 'retry') ? sendEdited({ store, clock }, edited) : edited;
}

/** A form carries a key of its own, so that one that is sent twice makes one post. */
async function create(deps: OutboxDeps, body: unknown): Promise<Created> {
  const given = (name: string): string | undefined => textIn(body, name) ?? undefined;
  const [title, content] = [given('title'), given('content')];
  const board = boardNamed(deps.reads.boards(), given('board') ?? '');
  const checked = checkDraft({ board, title, content, email: given('email'), full_name: given('full_name') });
  const key = required(textIn(body, 'key'), 'key');
  const creating = { store: deps.outbox, clock: deps.clock, random: deps.random ?? Math.random };
  const row = await acceptPost(creating, checked.post, `form-${key.slice(0, KEY_LENGTH)}`);
  if (!row)
    throw new AppError('usage', 'this form was already sent with other words', {
      hint: 'Open a new one to write another post.',
    });
  return { row, notes: checked.notes };
}

const KEY_LENGTH = 100;
