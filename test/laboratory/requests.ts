import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Operation } from '../../src/contract/endpoints.ts';
import { callOf } from '../../src/sandbox/call.ts';

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

const KEPT = 10_000;

/** The latest requests, and how many there were in all. */
export class RequestLog {
  readonly requests: SandboxRequest[] = [];
  count = 0;
  readonly #authParam: string;
  readonly #notes = new WeakMap<FastifyRequest, SandboxRequest>();

  constructor(authParam: string) {
    this.#authParam = authParam;
  }

  /** Notes every request of the server when it comes, and the status of its answer before that goes out. */
  watch(app: FastifyInstance): void {
    app.addHook('onRequest', async (request, reply) => {
      const note = this.#note(callOf(request, reply).operation, request.method, request.raw.url ?? '');
      this.#notes.set(request, note);
      // A hijacked reply never comes to `onSend`.
      reply.raw.once('close', () => {
        if (reply.raw.headersSent) note.status ??= reply.raw.statusCode;
      });
    });
    app.addHook('onSend', async (request, reply) => {
      const note = this.#notes.get(request);
      if (note) note.status = reply.statusCode;
    });
  }

  of(request: FastifyRequest): SandboxRequest | undefined {
    return this.#notes.get(request);
  }

  #note(operation: Operation | null, method: string, url: string): SandboxRequest {
    const note = { operation, method, url: masked(url, this.#authParam), status: null };
    this.requests.push(note);
    if (this.requests.length > KEPT) this.requests.shift();
    this.count++;
    return note;
  }
}

function masked(url: string, authParam: string): string {
  const [path = '', search] = url.split(/\?(.*)/s);
  if (search === undefined || search === '') return path;
  const parts = search.split('&').map((part) => {
    const hidden = new URLSearchParams(part).has(authParam);
    return hidden ? `${part.slice(0, part.indexOf('=') + 1)}***` : part;
  });
  return `${path}?${parts.join('&')}`;
}
