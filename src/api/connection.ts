import { Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { messageOf } from '../base/errors.ts';
import type { ClientContext } from './options.ts';

/** Sends requests. `close` ends them without waiting. */
export interface Connections {
  dispatcher: Dispatcher;
  close(): Promise<void>;
}

/** A connection of its own for one create, which knows whether it ever stood. */
interface FreshConnection extends Connections {
  /** True from the moment a request had TCP and TLS: from then on the upstream may have read something. */
  stood(): boolean;
}

/** Kept connections, for reads. */
export function readConnections(context: ClientContext): Connections {
  const { connect, destroy } = connector(context);
  const dispatcher = new Pool(context.base.origin, { ...settings(context), connect });
  return {
    dispatcher,
    async close() {
      destroy();
      await dispatcher.destroy();
    },
  };
}

export function freshConnection(context: ClientContext): FreshConnection {
  let [used, stood, over] = [false, false, false];
  const { connect, destroy } = connector(context);
  const refused = (): void => {
    stood = false;
  };
  const dispatcher = new Client(context.base.origin, {
    ...settings(context),
    connect(options, callback) {
      // The library connects again for a request that it counts as unsent. A create gets one connection only.
      if (used || over) return callback(new Error('a create is sent on one connection only'), null);
      used = true;
      connect(options, (...result) => {
        if (result[1]) writeWhile(context.mayLeave, result[1], refused);
        stood = !over && result[0] === null;
        callback(...result);
      });
    },
  });
  return {
    dispatcher,
    stood: () => stood,
    async close() {
      over = true;
      destroy();
      await dispatcher.destroy();
    },
  };
}

/** The last moment to hold a create back: the next step hands its bytes to the kernel. Nothing of it has left before. */
function writeWhile(mayLeave: () => boolean, socket: Socket, refused: () => void): void {
  const { write } = socket;
  let isWritten = false;
  socket.write = (...given: unknown[]) => {
    if (isWritten || mayLeave()) {
      isWritten = true;
      return Reflect.apply(write, socket, given);
    }
    refused();
    socket.destroy(new Error('the lease of this source is not confirmed'));
    return false;
  };
}

/**
 * HTTP/1.1 only: on HTTP/2 the library sends a refused stream again by itself, and only one layer may retry. Its own
 * time-outs are off because they are coarse and know no total; each exchange has a timeout of its own instead.
 */
function settings({ limits }: ClientContext) {
  return {
    allowH2: false,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: limits.maxHeaderBytes,
  };
}

/**
 * Connects, through the proxy if there is one, and can end what is still connecting: the library itself waits for that before it
 * lets go. `rejectUnauthorized` is spelt out because an environment variable could otherwise turn it off for the process.
 */
function connector({ limits, ca, proxy }: ClientContext) {
  const secure = { allowH2: false, rejectUnauthorized: true, timeout: limits.connectMs };
  const base = buildConnector({ ...(ca === null ? {} : { ca }), ...secure });
  const sockets = new Set<Socket>();
  const ending = new AbortController();
  const direct: buildConnector.connector = (options, callback) => {
    // The types do not say so, but what comes back is the socket under way.
    const socket: unknown = base(options, (...result) => {
      if (socket instanceof Socket) sockets.delete(socket);
      callback(...result);
    });
    if (socket instanceof Socket) sockets.add(socket);
  };
  const connect: buildConnector.connector = (options, callback) => {
    if (proxy === null) return direct(options, callback);
    const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(limits.connectMs)]);
    openTunnel(proxy, options, signal).then(
      (httpSocket) => direct({ ...options, httpSocket }, callback),
      (cause: unknown) => callback(new Error(tunnelProblem(proxy, cause), { cause }), null),
    );
  };
  const destroy = (): void => {
    ending.abort(new Error('given up before the connection stood'));
    for (const socket of sockets) socket.destroy(new Error('given up before the connection stood'));
  };
  return { connect, destroy };
}

/**
 * A connection to the upstream by way of the proxy. The upstream's TLS goes inside of it, so the proxy sees neither token nor text, and
 * a create counts as sent only once that TLS stands. The library's own ProxyAgent connects as often as it likes, which a create must not.
 */
async function openTunnel(
  proxy: URL,
  { hostname, port }: buildConnector.Options,
  signal: AbortSignal,
): Promise<Socket> {
  const path = `${hostname}:${port || 443}`;
  const client = new Client(proxy.origin, { allowH2: false, connect: { rejectUnauthorized: true } });
  try {
    const { statusCode, socket } = await client.connect({
      path,
      signal,
      headers: { host: path, ...proxyCredentials(proxy) },
    });
    if (statusCode === 200 && socket instanceof Socket) return socket;
    socket.on('error', () => {}).destroy();
    throw new Error(`it answered ${statusCode}`);
  } finally {
    // The socket of a tunnel that was opened no longer belongs to its client.
    await client.destroy();
  }
}

function proxyCredentials({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** A new error with words of its own: an error of the library would have it connect again and again for the same request. */
function tunnelProblem({ host }: URL, cause: unknown): string {
  const reason =
    cause instanceof Error && cause.name === 'TimeoutError' ? 'no tunnel in time' : messageOf(cause);
  return `the proxy ${host} gave no connection: ${reason}`;
}
