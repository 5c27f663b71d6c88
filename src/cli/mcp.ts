import type { Command } from 'commander';
import { systemClock } from '../base/clock.ts';
import { keepHeapSmall } from '../base/heap.ts';
import { missingPackage } from '../base/program.ts';
import { type Context, openContext } from './context.ts';

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('mcp')
    .description('tools for an assistant that speaks the Model Context Protocol, on stdin and stdout')
    .addHelpText('after', HELP)
    .action(() => serve(openContext(program, stop)));
}

const HELP = `
It answers from the mirror: neither the service nor its token is needed. E-mail addresses and names are pseudonyms unless
MCP_PERSONAL=on. Keep the mirror fresh with "feedback-mirror start" or "feedback-mirror sync".

Example:
  feedback-mirror mcp --data-dir /path/to/data

The same in the configuration of a client:
  { "mcpServers": { "feedback": { "command": "feedback-mirror", "args": ["mcp", "--data-dir", "/path/to/data"] } } }`;

async function serve({ settings, signal }: Context): Promise<void> {
  const [{ serveStdio, StdioServerTransport }, { openAgents }, { mcpLog }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('../mcp/open.ts'),
    import('../app/readers.ts'),
  ]).catch((error: unknown) => {
    throw missingPackage(error) ?? error;
  });
  const log = mcpLog(settings);
  const agents = await openAgents({ settings, clock: systemClock, log, place: 'command' });
  keepHeapSmall();
  const ended = Promise.withResolvers<void>();
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MOST_ASKED });
  const onerror = ({ name }: Error): void => {
    // Without its words, which may be those of the client.
    log.warn({ event: 'mcp.refused', error: name }, 'a message of the client could not be handled');
    if (name === 'ZodError') transport.send(NO_MESSAGE).catch(() => undefined);
  };
  const connection = serveStdio(agents.servers, { transport, onerror, maxSubscriptions: 4 });
  // Also where the transport gives up on a client itself: stdin may stay open then.
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    ended.resolve();
  };
  signal.addEventListener('abort', () => ended.resolve(), { once: true });
  await ended.promise;
  await connection.close();
  await agents.close();
  process.stdin.destroy();
}

/** To no id, as nobody can tell what that of the message is. A line that is no JSON the library passes over in silence. */
const NO_MESSAGE = {
  jsonrpc: '2.0' as const,
  error: { code: -32_600, message: 'this is not a message of JSON-RPC 2.0' },
};

/** Of one message; what a tool takes is far less. */
const MOST_ASKED = 1024 * 1024;
