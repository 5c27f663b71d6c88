import { Transform } from 'node:stream';
import { type JSONRPCErrorResponse, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { App } from '../app.ts';
import { systemClock } from '../base/clock.ts';
import { keepHeapSmall } from '../base/heap.ts';
import { isTooDeep, MOST_LEVELS } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import { startAgainOnceStripped } from '../base/program.ts';
import { openAgents } from './open.ts';
import { knownTool, logCall } from './server.ts';

/** Of one message; what a tool takes is far less. */
const MOST_ASKED = 1024 * 1024;

/** Answers the client on stdin and stdout until it ends or the signal aborts. */
export async function serveOnStdio(
  { settings, log }: Pick<App, 'settings' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  const agents = await openAgents({ settings, clock: systemClock, log, place: 'command' });
  startAgainOnceStripped();
  keepHeapSmall();
  const answer = (response: JSONRPCErrorResponse): void => {
    transport.send(response).catch(() => undefined);
  };
  const input = wholeLines(MOST_ASKED, {
    refused(message, bytes, why) {
      const response = refusalOf(message, bytes, why, log);
      if (response) answer(response);
    },
    noJson(bytes) {
      log.warn({ event: 'mcp.refused', asked: bytes }, 'a line of the client was no JSON');
      answer(NO_JSON);
    },
  });
  const transport = new StdioServerTransport(input, process.stdout, { maxBufferSize: 2 * MOST_ASKED });
  const onerror = ({ name }: Error): void => {
    // Without its words, which may be those of the client.
    log.warn({ event: 'mcp.refused', error: name }, 'a message of the client could not be handled');
    if (name === 'ZodError') answer(NO_MESSAGE);
  };
  const connection = serveStdio(agents.servers, { transport, onerror, maxSubscriptions: 4 });
  process.stdin.pipe(input);
  await endOf(transport, signal);
  await connection.close();
  await agents.close();
  process.stdin.destroy();
}

/** Also where the transport gives up on a client itself: stdin may stay open then. */
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

/** To no id, as nobody can tell what that of the message is: null, which JSON-RPC has for this, is no id in the schema of the protocol. */
const NO_MESSAGE: JSONRPCErrorResponse = {
  jsonrpc: '2.0',
  error: { code: ProtocolErrorCode.InvalidRequest, message: 'this is not a message of JSON-RPC 2.0' },
};
const NO_JSON: JSONRPCErrorResponse = {
  jsonrpc: '2.0',
  error: { code: ProtocolErrorCode.ParseError, message: 'this line is not JSON' },
};

interface Outline {
  id?: unknown;
  method?: unknown;
  params?: { name?: unknown } | null;
}

/** Logs the message, and returns the answer to it; null to a notification. */
function refusalOf(
  message: Outline | null,
  bytes: number,
  text: string,
  log: Logger,
): JSONRPCErrorResponse | null {
  if (message?.method === 'tools/call') {
    const name = knownTool(message.params?.name);
    logCall(log, {
      kind: 'tool',
      name,
      outcome: 'usage',
      ms: 0,
      asked: bytes,
      told: Buffer.byteLength(text),
    });
  } else
    log.warn(
      { event: 'mcp.refused', asked: bytes },
      'a message of the client was too large or nested too deep',
    );
  const error = { code: ProtocolErrorCode.InvalidRequest, message: text };
  if (message === null) return { jsonrpc: '2.0', error: { ...error, code: ProtocolErrorCode.ParseError } };
  const { id } = message;
  return typeof id === 'string' || typeof id === 'number' ? { jsonrpc: '2.0', id, error } : null;
}

function tooLong(bytes: number): string {
  return `a message has at most ${MOST_ASKED} bytes, and this one has ${bytes}: ask with less text`;
}

const TOO_DEEP = `a message has at most ${MOST_LEVELS} levels of lists and objects within each other, and this one has more`;

const NEWLINE = 10;

interface Refusals {
  refused(message: Outline | null, bytes: number, why: string): void;
  noJson(bytes: number): void;
}

/**
 * Passes whole lines on. The library ends the connection at a line that is longer than its limit; here such a line is left out, and reported
 * when it ends with what can be read of it, as is one that is nested too deep. Of a line no more than the limit is kept. One that is no JSON, which the library passes over in
 * silence, is reported too.
 */
function wholeLines(most: number, refusals: Refusals): Transform {
  let held: Buffer[] = [];
  let bytes = 0;
  let outline: Outliner | null = null;
  const take = (piece: Buffer): void => {
    bytes += piece.length;
    if (!outline) held.push(piece);
    if (bytes <= most) return;
    outline ??= outliner();
    for (const part of held.length > 0 ? held : [piece]) outline.take(part);
    held = [];
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        take(chunk.subarray(from, at + 1));
        from = at + 1;
        const line = Buffer.concat(held);
        const text = line.toString();
        if (outline) refusals.refused(outline.message(), bytes, tooLong(bytes));
        else if (isTooDeep(text)) refusals.refused(outlineOf(line), bytes, TOO_DEEP);
        else if (isJson(text)) this.push(line);
        else if (text.trim() !== '') refusals.noJson(bytes);
        [held, bytes, outline] = [[], 0, null];
      }
      if (from < chunk.length) take(chunk.subarray(from));
      done();
    },
  });
}

interface Outliner {
  take(piece: Buffer): void;
  /** Null where nothing could be made of it. */
  message(): Outline | null;
}

const MOST_OUTLINED = 4096;
const [QUOTE, BACKSLASH] = [...Buffer.from('"\\')];
const [OPENING, CLOSING] = [Buffer.from('[{'), Buffer.from(']}')];

/** Reads JSON of any length, and keeps what stands in its two outermost levels: there the id is, which may be the last of all, and the tool. */
function outliner(): Outliner {
  const kept: number[] = [];
  let [depth, isText, isEscaped] = [0, false, false];
  const keep = (byte: number): void => {
    if (depth <= 2 && kept.length < MOST_OUTLINED) kept.push(byte);
  };
  const next = (byte: number): void => {
    if (isText) {
      if (byte === QUOTE && !isEscaped) isText = false;
      isEscaped = byte === BACKSLASH && !isEscaped;
    } else if (byte === QUOTE) isText = true;
    else if (OPENING.includes(byte)) depth++;
    keep(byte);
    if (isText || !CLOSING.includes(byte)) return;
    if (depth-- === 3) for (const sign of Buffer.from('null')) keep(sign);
  };
  return {
    take: (piece) => piece.forEach(next),
    message: () => parsed(Buffer.from(kept).toString()),
  };
}

function outlineOf(line: Buffer): Outline | null {
  const outline = outliner();
  outline.take(line);
  return outline.message();
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function parsed(text: string): Outline | null {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' ? message : null;
  } catch {
    return null;
  }
}
