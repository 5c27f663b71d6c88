import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS, SEARCH_PARAMETER } from '../../contract/endpoints.ts';
import type { Resource } from '../../contract/resources.ts';
import type { ReplicaReads, Slice } from '../../store/replica.ts';
import { CURSOR, readCursor, writeCursor } from './cursor.ts';

export interface Reading {
  reads: ReplicaReads;
  pageSize: number;
}

/** One page of a list, or for a search the most relevant posts as one flat list. A blank search is none. */
export async function list(
  { reads, pageSize }: Reading,
  request: FastifyRequest,
  reply: FastifyReply,
  resource: Resource,
): Promise<unknown> {
  const query = queryOf(request);
  const text = resource === 'posts' ? (query.get(SEARCH_PARAMETER) ?? '') : '';
  if (text.trim() !== '') return { next: null, previous: null, results: await reads.search(text) };
  const place = readCursor(query.get(CURSOR));
  if (place === null)
    return reply.code(400).send({
      detail: 'There is no such page.',
      errors: { [CURSOR]: ['Not a valid position in the list.'] },
    });
  return envelope(await reads.page(resource, place, pageSize), (cursor) => link(request, resource, cursor));
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
