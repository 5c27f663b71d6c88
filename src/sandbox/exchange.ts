import type { FastifyRequest } from 'fastify';
import type { Clock } from '../base/clock.ts';
import { ENDPOINTS, type Operation, SEARCH_PARAMETER } from '../contract/endpoints.ts';
import type { Trouble } from './faults.ts';

export interface RequestNote {
  /** Null for a request that is none of the API's. */
  operation: Operation | null;
  method: string;
  /** Path and query, with the value of the token's parameter masked. */
  url: string;
}

export interface SandboxRequest extends RequestNote {
  /** Null as long as there is no answer. */
  status: number | null;
}

/** One request on its way through the sandbox. */
export interface Exchange {
  note: SandboxRequest;
  path: string;
  query: URLSearchParams;
  receivedAt: number;
  /** Set for requests of the API. */
  trouble?: Trouble;
}

const KEPT = 10_000;

/** The latest requests, and how many there were in all. */
export class RequestLog {
  readonly requests: SandboxRequest[] = [];
  count = 0;
  readonly #exchanges = new WeakMap<FastifyRequest, Exchange>();
  readonly #authParam: string;
  readonly #clock: Clock;

  constructor(authParam: string, clock: Clock) {
    this.#authParam = authParam;
    this.#clock = clock;
  }

  /** The exchange of this request, begun when it is first asked for. */
  of(request: FastifyRequest): Exchange {
    const known = this.#exchanges.get(request);
    if (known) return known;
    const exchange = this.#begin(request.method, request.raw.url ?? '');
    this.#exchanges.set(request, exchange);
    return exchange;
  }

  #begin(method: string, url: string): Exchange {
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const search = mark < 0 ? '' : url.slice(mark + 1);
    const query = new URLSearchParams(search);
    const operation = operationOf(method, path, query);
    const note = { operation, method, url: masked(path, search, this.#authParam), status: null };
    this.requests.push(note);
    if (this.requests.length > KEPT) this.requests.shift();
    this.count++;
    return { note, path, query, receivedAt: this.#clock.now() };
  }
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

function masked(path: string, search: string, authParam: string): string {
  if (search === '') return path;
  const parts = search.split('&').map((part) => {
    const hidden = new URLSearchParams(part).has(authParam);
    return hidden ? `${part.slice(0, part.indexOf('=') + 1)}***` : part;
  });
  return `${path}?${parts.join('&')}`;
}
