import type { FastifyReply, FastifyRequest } from 'fastify';
import { boardNamed } from '../../base/boards.ts';
import { checkBody } from '../../contract/draft.ts';
import { acceptPost, type CreateDeps, waitForRow } from '../../outbox/create.ts';
import type { OutboxRow } from '../../store/outbox/types.ts';
import type { ReplicaReads } from '../../store/replica/replica.ts';

export interface Creating extends CreateDeps {
  reads: ReplicaReads;
  /** Where a relative address of a created post leads; null where nobody outside could follow it. */
  upstream: string | null;
  /** How long a client is kept waiting for the upstream's word. */
  waitMs: number;
  readNewest(): Promise<void>;
  listedMs: number;
}

export const OUTBOX_PATH = '/api/v1/outbox/';

const KEY_HEADER = 'idempotency-key';
const KEY = /^[\x21-\x7e][\x20-\x7e]{0,254}$/;

/** Takes a post in and waits for what becomes of it. Once it is in, it goes out whether or not the client is still there. */
export async function create(
  desk: Creating,
  request: FastifyRequest,
  reply: FastifyReply,
  { asUser, signal }: { asUser: boolean; signal: AbortSignal },
): Promise<FastifyReply> {
  const key = request.headers[KEY_HEADER] ?? null;
  if (key !== null && (typeof key !== 'string' || !KEY.test(key)))
    return problem(reply, 400, 'The header Idempotency-Key takes 1 to 255 plain characters.');
  const known = boardOf(desk.reads, request.body);
  const checked = checkBody(request.body, asUser);
  if (!checked.ok) return problem(reply, 400, NOT_CREATED, withBoard(checked.errors, known));
  const row = acceptPost(desk, { ...checked.post, board: known?.slug ?? checked.post.board }, key);
  if (row === null)
    return problem(
      reply,
      422,
      'The header Idempotency-Key has the value of an earlier post with other content.',
    );
  const gone = untilGone(reply, signal);
  const latest = await waitForRow(desk, row, { waitMs: desk.waitMs, signal: gone });
  if (latest.post_id !== null) await untilListed(desk, latest.post_id, gone);
  return answer(desk, reply, latest, known);
}

const LOOK_MS = 50;

/**
 * A client that is told of its post looks for it in the list next. An answer to a create tells neither the status nor the author of
 * the post, so nothing is put into the list from it: the upstream's own row is read. Where that takes too long, because a sweep is
 * under way or the list does not begin with its newest posts, the client is answered all the same.
 */
async function untilListed(
  { reads, clock, readNewest, listedMs }: Creating,
  post: number,
  signal: AbortSignal,
): Promise<void> {
  if (await reads.hasPost(post)) return;
  const deadline = clock.now() + listedMs;
  // The queue may be away; the next pass shows the post then.
  const isAsked = await readNewest().then(
    () => true,
    () => false,
  );
  while (isAsked && clock.now() < deadline && !signal.aborted && !(await reads.hasPost(post)))
    await clock.sleep(LOOK_MS, signal).catch(() => undefined);
}

const NOT_CREATED = 'The post was not created.';

/** Boards are known by their posts only: a new one may exist all the same, so the upstream has the last word. */
interface NamedBoard {
  slug: string;
  isKnown: boolean;
}

function boardOf(reads: ReplicaReads, body: unknown): NamedBoard | null {
  const given: unknown = Reflect.get(Object(body), 'board');
  if (typeof given !== 'string') return null;
  const boards = reads.boards();
  const slug = boardNamed(boards, given);
  return { slug, isKnown: boards.some((board) => board.slug === slug) };
}

/** Where something is wrong anyway, a board that nobody has seen is told as well: the client can mend both at once. */
function withBoard(errors: Record<string, string[]>, board: NamedBoard | null): Record<string, string[]> {
  if (board === null || board.isKnown || errors.board) return errors;
  return { board: [`There is no board "${board.slug}".`], ...errors };
}

/** Aborted when nobody waits for the answer any more: the client has gone, or we are closing. */
function untilGone(reply: FastifyReply, closing: AbortSignal): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return AbortSignal.any([closing, gone.signal]);
}

async function answer(
  desk: Creating,
  reply: FastifyReply,
  row: OutboxRow,
  board: NamedBoard | null,
): Promise<FastifyReply> {
  switch (row.state) {
    case 'confirmed':
      return reply
        .code(201)
        .send({ status: 'Success', post_id: row.post_id, url: fullUrl(row.url, desk.upstream) });
    case 'rejected':
      return await rejected(desk, reply, row, board);
    case 'cancelled':
      return problem(
        reply,
        409,
        `${NOT_CREATED} Row ${row.id} of the outbox was cancelled before it was sent.`,
      );
    default:
      return reply
        .code(202)
        .header('location', `${OUTBOX_PATH}${row.id}`)
        .send({
          detail: 'The post is safe in the outbox; the upstream has not confirmed it yet.',
          outbox: shown(row),
        });
  }
}

/** The upstream's own status; and the board, where that is what it most likely minded. */
async function rejected(
  { store }: Creating,
  reply: FastifyReply,
  row: OutboxRow,
  board: NamedBoard | null,
): Promise<FastifyReply> {
  const status = (await store.attempts(row.id)).at(-1)?.http_status ?? 400;
  const errors = withBoard({}, board);
  const detail = `${NOT_CREATED} The upstream refused it: ${row.last_error ?? 'it gave no reason'}`;
  return problem(reply, status, detail, Object.keys(errors).length > 0 ? errors : undefined);
}

function fullUrl(url: string | null, upstream: string | null): string | null {
  return url !== null && upstream !== null && URL.canParse(url, upstream) ? new URL(url, upstream).href : url;
}

/** A row of the outbox as a client sees it: what became of its post, none of the text. */
export function shown(row: OutboxRow) {
  const { id, state, attempts, not_before, post_id, url, last_error: reason, created_at, changed_at } = row;
  return { id, state, attempts, not_before, post_id, url, reason, created_at, changed_at };
}

export function problem(
  reply: FastifyReply,
  status: number,
  detail: string,
  errors?: Record<string, string[]>,
): FastifyReply {
  return reply.code(status).send(errors ? { detail, errors } : { detail });
}
