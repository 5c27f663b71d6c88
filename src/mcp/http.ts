import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import type { Logger } from '../base/log.ts';
import { missingPackage } from '../base/program.ts';
import { MCP_PATH } from '../http/server/guard.ts';
import { refuse, untilGone } from '../http/server/replies.ts';
import type { HttpPart } from '../http/server/site.ts';
import type { Agents } from './open.ts';

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
export function agentsPart(log: Logger, openTools: () => Promise<Agents>): AgentsPart {
  let opening: ReturnType<typeof openHandler> | undefined;
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    // The router also understands other spellings of the path, for which the guard has asked for another token or for none.
    if (request.raw.url?.split('?', 1)[0] !== MCP_PATH)
      return refuse(reply, { status: 404, detail: `There is nothing here; the tools are at ${MCP_PATH}.` });
    opening ??= openHandler(log, openTools);
    try {
      const { fetch } = await opening;
      return reply.send(await fetch(webRequest(request, untilGone(reply)), { parsedBody: request.body }));
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

/** The tools of one mirror. */
export function agentsOf(app: Pick<App, 'settings' | 'clock' | 'log'>): AgentsPart {
  return agentsPart(app.log, async () => (await import('./open.ts')).openAgents(app));
}

async function openHandler(log: Logger, openTools: () => Promise<Agents>) {
  const [{ createMcpHandler }, agents] = await Promise.all([
    import('@modelcontextprotocol/server'),
    openTools(),
  ]);
  // Without its words, which may be those of the client.
  const onerror = ({ name }: Error): void =>
    log.debug({ event: 'mcp.refused', error: name }, 'a request of an agent was refused');
  const handler = createMcpHandler(agents.servers, { onerror, maxSubscriptions: MOST_SUBSCRIPTIONS });
  return { fetch: handler.fetch, end: () => handler.close(), close: () => agents.close() };
}

/** What the library is given of a request. */
function webRequest({ headers, method }: FastifyRequest, signal: AbortSignal): Request {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || name === 'authorization' ? [] : [[name, String(value)] as [string, string]],
  );
  return new Request(`http://${headers.host}${MCP_PATH}`, { method, headers: given, signal });
}
