import { Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher, Pool } from 'undici';
import type { Context } from './options.ts';

/** Somewhere to send requests, and its end: at once, whatever is under way. */
export interface Connections {
  dispatcher: Dispatcher;
  close(): Promise<void>;
}

/** A connection of its own for one create, which knows whether it ever stood. */
export interface FreshConnection extends Connections {
  /** True from the moment TCP and TLS were up: from then on the upstream may have read something. */
  stood(): boolean;
}

/** Kept connections, for reads. */
export function readConnections(context: Context): Connections {
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

export function freshConnection(context: Context): FreshConnection {
  let used = false;
  let stood = false;
  let over = false;
  const { connect, destroy } = connector(context);
  const dispatcher = new Client(context.base.origin, {
    ...settings(context),
    connect(options, callback) {
      // The library would connect again for a request it holds to be unsent. Once is all a create gets.
      if (used || over) return callback(new Error('a create is sent on one connection only'), null);
      used = true;
      connect(options, (...result) => {
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

/**
 * HTTP/1.1 only: on HTTP/2 the library sends a refused stream again by itself, and only one layer may retry. Its own
 * time-outs are off because they are coarse and know no total; each exchange is watched instead. Proxy settings of
 * the environment are ignored by these classes.
 */
function settings({ limits }: Context) {
  return {
    allowH2: false,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: limits.maxHeaderBytes,
  };
}

/**
 * Connects, and can end what is still connecting: the library itself waits for that before it lets go.
 * `rejectUnauthorized` is spelt out because an environment variable could otherwise turn it off for the process.
 */
function connector({ limits, ca }: Context) {
  const trust = ca === null ? {} : { ca };
  const base = buildConnector({
    ...trust,
    allowH2: false,
    rejectUnauthorized: true,
    timeout: limits.connectMs,
  });
  const sockets = new Set<Socket>();
  const connect: buildConnector.connector = (options, callback) => {
    // The types do not say so, but what comes back is the socket under way.
    const socket: unknown = base(options, (...result) => {
      if (socket instanceof Socket) sockets.delete(socket);
      callback(...result);
    });
    if (socket instanceof Socket) sockets.add(socket);
  };
  const destroy = (): void => {
    for (const socket of sockets) socket.destroy(new Error('given up before the connection stood'));
  };
  return { connect, destroy };
}
