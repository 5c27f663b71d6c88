import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import { missingPackage } from '../base/program.ts';
import { MCP_PATH } from '../http/server/guard.ts';
import { refuse } from '../http/server/replies.ts';
import type { HttpPart } from '../http/server/site.ts';

export interface AgentsPart {
  part: HttpPart;
  close(): Promise<void>;
}

/** Subscriptions that clients may keep open: lists of tools do not change while the service runs, so none has to. */
const MOST_SUBSCRIPTIONS = 4;

/**
 * `/mcp`: the same tools over HTTP. The guard has seen the token. The library is loaded with the first request, as most services are
 * never asked by an agent.
 */
export function agentsPart(app: Pick<App, 'settings' | 'clock' | 'log'>): AgentsPart {
  let opening: ReturnType<typeof openHandler> | undefined;
  const calls = callsUnderWay();
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    // The router also understands other spellings of the path, for which the guard has asked for another token or for none.
    if (request.raw.url?.split('?', 1)[0] !== MCP_PATH)
      return refuse(reply, { status: 404, detail: `There is nothing here; the tools are at ${MCP_PATH}.` });
    opening ??= openHandler(app);
    try {
      const { fetch } = await opening;
      const signal = calls.take(request, reply);
      return reply.send(await fetch(webRequest(request, signal), { parsedBody: request.body }));
    } catch (error) {
      opening = undefined;
      const missing = missingPackage(error);
      if (missing === null) throw error;
      return refuse(reply, {
        status: 501,
        detail: `The tools for agents are not installed. ${missing.hint}`,
      });
    }
  };
  return {
    part: (scope) => {
      scope.post(MCP_PATH, answer);
      scope.addHook('preClose', async () => (await opening?.catch(() => undefined))?.end());
    },
    close: async () => (await opening?.catch(() => undefined))?.close(),
  };
}

async function openHandler(app: Pick<App, 'settings' | 'clock' | 'log'>) {
  const [{ createMcpHandler }, { openAgents }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('./open.ts'),
  ]);
  const agents = await openAgents(app);
  // Without its words, which may be those of the client.
  const onerror = ({ name }: Error): void =>
    app.log.debug({ event: 'mcp.refused', error: name }, 'a request of an agent was refused');
  const handler = createMcpHandler(agents.servers, { onerror, maxSubscriptions: MOST_SUBSCRIPTIONS });
  return { fetch: handler.fetch, end: () => handler.close(), close: () => agents.close() };
}

/** What a client gives back with each request once it was answered with it. */
const SESSION = 'mcp-session-id';

/** Of a message, what calls are told apart by. */
interface Outline {
  method?: unknown;
  id?: unknown;
  params?: { requestId?: unknown } | null;
}

/**
 * The signals of calls. Since the revision of 2026 a client calls off what it asked by closing the request. Before, it says so in a request
 * of its own, for which the library has a server of its own that knows no call. Clients number their calls alike, so each is given a
 * session when it begins: it only tells them apart, and one that a former service gave is as good.
 */
function callsUnderWay() {
  const calls = new Map<string, AbortController>();
  return {
    /** Takes up a request, and calls off the one that it names. */
    take({ headers, body }: FastifyRequest, reply: FastifyReply): AbortSignal {
      const { method, id, params }: Outline = typeof body === 'object' && body ? body : {};
      if (method === 'initialize') reply.header(SESSION, randomUUID());
      if (method === 'notifications/cancelled')
        calls.get(keyOf(headers[SESSION], params?.requestId))?.abort();
      const [gone, key] = [new AbortController(), keyOf(headers[SESSION], id)];
      if (key !== '') calls.set(key, gone);
      reply.raw.once('close', () => {
        gone.abort();
        if (calls.get(key) === gone) calls.delete(key);
      });
      return gone.signal;
    },
  };
}

/** Empty where a call cannot be named: without a session, or with what is no id. The ids 1 and "1" are two. */
function keyOf(session: unknown, id: unknown): string {
  const isNamed = session !== undefined && (typeof id === 'string' || typeof id === 'number');
  return isNamed ? JSON.stringify([session, id]) : '';
}

/** What the library is given of a request: a client that goes away ends its call. */
function webRequest({ headers, method }: FastifyRequest, signal: AbortSignal): Request {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || name === 'authorization' ? [] : [[name, String(value)] as [string, string]],
  );
  return new Request(`http://${headers.host}${MCP_PATH}`, { method, headers: given, signal });
}
