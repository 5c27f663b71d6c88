import { Transform } from 'node:stream';
import { type JSONRPCErrorResponse, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { App } from '../app.ts';
import { systemClock } from '../base/clock.ts';
import { isTooDeep, MOST_LEVELS } from '../base/json.ts';
import { openAgents } from './open.ts';

/** Most bytes of one message. Every tool takes far less. */
const MOST_BYTES = 1024 * 1024;

/** Answers the client on stdin and stdout until it ends or the signal aborts. */
export async function serveOnStdio(
  { settings, log }: Pick<App, 'settings' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  const agents = await openAgents({ settings, clock: systemClock, log });
  const answer = (code: ProtocolErrorCode, message: string): void => {
    const response: JSONRPCErrorResponse = { jsonrpc: '2.0', error: { code, message } };
    transport.send(response).catch(() => undefined);
  };
  const input = readableLines((why, bytes) => {
    log.warn({ event: 'mcp.refused', asked: bytes }, `a message of the client was refused: ${why}`);
    answer(ProtocolErrorCode.ParseError, why);
  });
  const transport = new StdioServerTransport(input, process.stdout, { maxBufferSize: 2 * MOST_BYTES });
  const onerror = ({ name }: Error): void => {
    // The message of the error may quote the client.
    log.warn({ event: 'mcp.refused', error: name }, 'a message of the client could not be handled');
    if (name === 'ZodError')
      answer(ProtocolErrorCode.InvalidRequest, 'this is not a message of JSON-RPC 2.0');
  };
  const connection = serveStdio(agents.servers, { transport, onerror, maxSubscriptions: 4 });
  process.stdin.pipe(input);
  await endOf(transport, signal);
  await connection.close();
  await agents.close();
  process.stdin.destroy();
}

/** Resolves also when the transport closes by itself: stdin may stay open then. */
function endOf(transport: StdioServerTransport, signal: AbortSignal): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    ended.resolve();
  };
  signal.addEventListener('abort', () => ended.resolve(), { once: true });
  return ended.promise;
}

const NEWLINE = 10;

/**
 * Passes on the lines that the library may parse, and refuses the others. The library ends the connection at a line beyond its limit, parses
 * any depth, and passes over what is not JSON in silence. The id of a refused line is not read, so its answer has none.
 */
function readableLines(refuse: (why: string, bytes: number) => void): Transform {
  let held: Buffer[] = [];
  let bytes = 0;
  const take = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes <= MOST_BYTES) held.push(piece);
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        take(chunk.subarray(from, at + 1));
        from = at + 1;
        const line = Buffer.concat(held);
        const why = problemOf(line.toString(), bytes);
        if (why === null) this.push(line);
        else refuse(why, bytes);
        [held, bytes] = [[], 0];
      }
      if (from < chunk.length) take(chunk.subarray(from));
      done();
    },
  });
}

function problemOf(text: string, bytes: number): string | null {
  if (bytes > MOST_BYTES)
    return `a message has at most ${MOST_BYTES} bytes, and this one has ${bytes}: ask with less text`;
  if (isTooDeep(text))
    return `a message has at most ${MOST_LEVELS} levels of lists and objects within each other, and this one has more`;
  return text.trim() === '' || isJson(text) ? null : 'this line is not JSON';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
