import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkBody } from '../../contract/draft.ts';
import { ENDPOINTS, type Resource, SEARCH_PARAMETER } from '../../contract/endpoints.ts';
import { acceptPost, type CreateDeps, waitForRow } from '../../outbox/create.ts';
import type { OutboxRow } from '../../outbox/decide/types.ts';
import type { ListPlace, ReplicaPage, ReplicaReads } from '../../replica/replica.ts';
import { boardNamed } from '../../text/boards.ts';
import { splitMount } from '../server/guard.ts';
import { untilGone } from '../server/replies.ts';

interface Creating extends CreateDeps {
  reads: ReplicaReads;
  /** The base of relative addresses of created posts. Null if clients could not follow them. */
  upstream: string | null;
  waitMs: number;
  dispatch(): void;
  readNewest(): Promise<void>;
  listedMs: number;
}

export const OUTBOX_PATH = '/api/v1/outbox/';

const KEY_HEADER = 'idempotency-key';
const KEY = /^[\x21-\x7e][\x20-\x7e]{0,254}$/;

/** Takes a post in and waits for what becomes of it. Once it is in, it goes out whether or not the client is still there. */
export async function createThroughOutbox(
  deps: Creating,
  request: FastifyRequest,
  reply: FastifyReply,
  { asUser, signal }: { asUser: boolean; signal: AbortSignal },
): Promise<FastifyReply> {
  const key = request.headers[KEY_HEADER] ?? null;
  if (key !== null && (typeof key !== 'string' || !KEY.test(key)))
    return problem(reply, 400, 'The header Idempotency-Key takes 1 to 255 plain characters.');
  const known = boardOf(deps.reads, request.body);
  const checked = checkBody(request.body, asUser);
  if (!checked.ok) return problem(reply, 400, NOT_CREATED, withBoard(checked.errors, known));
  const row = acceptPost(deps, { ...checked.post, board: known?.slug ?? checked.post.board }, key);
  if (row === null)
    return problem(
      reply,
      422,
      'The header Idempotency-Key has the value of an earlier post with other content.',
    );
  deps.dispatch();
  const gone = AbortSignal.any([signal, untilGone(reply)]);
  const latest = await waitForRow(deps, row, { waitMs: deps.waitMs, signal: gone });
  if (latest.post_id !== null) await untilListed(deps, latest.post_id, gone);
  return answer(deps, reply, latest, known);
}

const POLL_MS = 50;

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
    await clock.sleep(POLL_MS, signal).catch(() => undefined);
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

/** A refused create also names an unknown board, so that the client can correct both together. */
function withBoard(errors: Record<string, string[]>, board: NamedBoard | null): Record<string, string[]> {
  if (board === null || board.isKnown || errors.board) return errors;
  return { board: [`There is no board "${board.slug}".`], ...errors };
}

async function answer(
  deps: Creating,
  reply: FastifyReply,
  row: OutboxRow,
  board: NamedBoard | null,
): Promise<FastifyReply> {
  switch (row.state) {
    case 'confirmed':
      return reply
        .code(201)
        .send({ status: 'Success', post_id: row.post_id, url: fullUrl(row.url, deps.upstream) });
    case 'rejected':
      return await rejected(deps, reply, row, board);
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
          outbox: publicRow(row),
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
export function publicRow(row: OutboxRow) {
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

interface Reading {
  reads: ReplicaReads;
  pageSize: number;
  /** Names under which a client may send a token in the query. */
  tokenParameters: readonly string[];
}

const PAGE = 'page';

/** Answers with one page of a list, or with the most relevant posts of a search. A blank search is no search. */
export async function list(
  { reads, pageSize, tokenParameters }: Reading,
  request: FastifyRequest,
  reply: FastifyReply,
  resource: Resource,
): Promise<unknown> {
  const query = queryOf(request);
  const taken = [...(resource === 'posts' ? [SEARCH_PARAMETER] : []), CURSOR];
  const unknown = [...query.keys()].find((name) => ![...taken, PAGE, ...tokenParameters].includes(name));
  if (unknown !== undefined) return refuseParameter(reply, unknown, taken);
  const text = resource === 'posts' ? (query.get(SEARCH_PARAMETER) ?? '') : '';
  const isSearch = text.trim() !== '';
  if ((query.get(PAGE) ?? '1') !== '1') return refuse(reply, PAGE, isSearch ? ONE_PAGE : NO_NUMBERS);
  if (isSearch && query.has(CURSOR)) return refuse(reply, CURSOR, ONE_PAGE);
  if (isSearch) return { next: null, previous: null, results: await reads.search(text) };
  const place = readCursor(query.get(CURSOR));
  if (place === null) return refuse(reply, CURSOR, 'Not a valid position in the list.');
  return envelope(await reads.page(resource, place, pageSize), (cursor) => link(request, resource, cursor));
}

const NO_NUMBERS = 'This list has no numbered pages: begin without one, and follow the address in next.';
const ONE_PAGE = 'A search is one page: the most relevant posts.';

function refuse(reply: FastifyReply, parameter: string, why: string): FastifyReply {
  return reply.code(400).send({ detail: 'There is no such page.', errors: { [parameter]: [why] } });
}

/** A filter that is not applied would look as if it had been. */
function refuseParameter(reply: FastifyReply, name: string, taken: readonly string[]): FastifyReply {
  const shown = name.slice(0, 64);
  return reply.code(400).send({
    detail: `This list takes ${taken.join(' and ')}: "${shown}" would change nothing.`,
    errors: { [shown]: ['Not a parameter of this list.'] },
  });
}

/** Takes a stray percent sign as a part of the search, as other servers of the API do. */
function queryOf(request: FastifyRequest): URLSearchParams {
  const url = request.raw.url ?? '';
  const mark = url.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
}

function envelope({ rows, hasEarlier, hasMore }: ReplicaPage, linkTo: (cursor: string) => string) {
  const [first, last] = [rows[0], rows.at(-1)];
  return {
    next: hasMore && last ? linkTo(writeCursor(last.id, 'after')) : null,
    previous: hasEarlier && first ? linkTo(writeCursor(first.id, 'before')) : null,
    results: rows,
  };
}

/**
 * Under the name by which the client called us, so that it leads back the way it came. Nothing else of its query is repeated: no other
 * parameter means anything here, and one of them may be a token.
 */
function link({ protocol, host, originalUrl }: FastifyRequest, resource: Resource, cursor: string): string {
  const { path } = resource === 'posts' ? ENDPOINTS.listPosts : ENDPOINTS.listComments;
  return `${protocol}://${host}${splitMount(originalUrl).mount}${path}?${CURSOR}=${cursor}`;
}

export const CURSOR = 'cursor';

const SIDES = { after: 'n', before: 'p' } as const;

/** A place as text that means nothing to a client; any text that reads as one is only another place in the same list. */
function writeCursor(id: number, side: ListPlace['side']): string {
  return `${SIDES[side]}${id.toString(36)}`;
}

/** Null for what was never written here. */
function readCursor(cursor: string | null): ListPlace | null {
  if (cursor === null) return { id: null, side: 'after' };
  const [, side, digits = ''] = /^([np])([0-9a-z]{1,11})$/.exec(cursor) ?? [];
  const id = Number.parseInt(digits, 36);
  if (!Number.isSafeInteger(id) || writeCursor(id, side === 'n' ? 'after' : 'before') !== cursor) return null;
  return { id, side: side === 'n' ? 'after' : 'before' };
}
