import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS, type Operation, SEARCH_PARAMETER } from '../contract/endpoints.ts';

/** One request and the reply to it. */
export interface Call {
  request: FastifyRequest;
  reply: FastifyReply;
  path: string;
  query: URLSearchParams;
  /** Null for a request that the API does not have. */
  operation: Operation | null;
}

export function callOf(request: FastifyRequest, reply: FastifyReply): Call {
  const url = request.raw.url ?? '';
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  return { request, reply, path, query, operation: operationOf(request.method, path, query) };
}

/** A blank `search` is no search: the list is answered as if it were not there. */
function operationOf(method: string, path: string, query: URLSearchParams): Operation | null {
  const names = Object.keys(ENDPOINTS) as Operation[];
  const found = names.find((name) => ENDPOINTS[name].method === method && ENDPOINTS[name].path === path);
  const searching = found === 'listPosts' && (query.get(SEARCH_PARAMETER) ?? '').trim() !== '';
  return searching ? 'searchPosts' : (found ?? null);
}

/** The methods that an address of the API takes; none for any other address. */
export function methodsOf(path: string): string[] {
  const endpoints = Object.values(ENDPOINTS).filter((endpoint) => endpoint.path === path);
  return [...new Set(endpoints.map((endpoint) => endpoint.method))];
}

/** As the client wrote it, so that links lead back the way it came. */
export function originOf(request: FastifyRequest): string {
  const { localAddress, localPort } = request.raw.socket;
  return `http://${request.headers.host ?? `${localAddress}:${localPort}`}`;
}
