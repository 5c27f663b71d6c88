import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS, type Resource, SEARCH_PARAMETER } from '../../contract/endpoints.ts';
import type { Place, ReplicaReads, Slice } from '../../store/replica/replica.ts';

export interface Reading {
  reads: ReplicaReads;
  pageSize: number;
  /** Names under which a client may send a token in the query. */
  tokenParameters: readonly string[];
}

const PAGE = 'page';

/** One page of a list, or for a search the most relevant posts as one flat list. A blank search is none. */
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
  if (text.trim() !== '') return { next: null, previous: null, results: await reads.search(text) };
  if ((query.get(PAGE) ?? '1') !== '1')
    return refuse(
      reply,
      PAGE,
      'This list has no numbered pages: begin without one, and follow the address in next.',
    );
  const place = readCursor(query.get(CURSOR));
  if (place === null) return refuse(reply, CURSOR, 'Not a valid position in the list.');
  return envelope(await reads.page(resource, place, pageSize), (cursor) => link(request, resource, cursor));
}

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

/** Read leniently, as the API's other servers do: a stray percent sign is part of a search, not an error. */
function queryOf(request: FastifyRequest): URLSearchParams {
  const url = request.raw.url ?? '';
  const mark = url.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
}

function envelope({ rows, hasEarlier, hasMore }: Slice, linkTo: (cursor: string) => string) {
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
function link({ protocol, host }: FastifyRequest, resource: Resource, cursor: string): string {
  const { path } = resource === 'posts' ? ENDPOINTS.listPosts : ENDPOINTS.listComments;
  return `${protocol}://${host}${path}?${CURSOR}=${cursor}`;
}

/** The query parameter that holds the place of a page. */
export const CURSOR = 'cursor';

const SIDES = { after: 'n', before: 'p' } as const;

/** A place as text that means nothing to a client; any text that reads as one is only another place in the same list. */
export function writeCursor(id: number, side: Place['side']): string {
  return `${SIDES[side]}${id.toString(36)}`;
}

/** Null for what was never written here. */
export function readCursor(cursor: string | null): Place | null {
  if (cursor === null) return { id: null, side: 'after' };
  const [, side, digits = ''] = /^([np])([0-9a-z]{1,11})$/.exec(cursor) ?? [];
  const id = Number.parseInt(digits, 36);
  if (!Number.isSafeInteger(id) || writeCursor(id, side === 'n' ? 'after' : 'before') !== cursor) return null;
  return { id, side: side === 'n' ? 'after' : 'before' };
}
