import { buildConnector, Client, type Dispatcher, Pool } from 'undici';
import type { Context } from './options.ts';

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

/** `rejectUnauthorized` is spelt out because an environment variable could otherwise turn it off for the process. */
function connector({ limits, ca }: Context) {
  const trust = ca === null ? {} : { ca };
  return buildConnector({ ...trust, allowH2: false, rejectUnauthorized: true, timeout: limits.connectMs });
}

/** Kept connections, for reads. */
export function readConnections(context: Context): Pool {
  return new Pool(context.base.origin, { ...settings(context), connect: connector(context) });
}

/** A connection of its own for one create, which knows whether it ever stood. */
export interface FreshConnection {
  dispatcher: Dispatcher;
  /** True from the moment TCP and TLS were up: from then on the upstream may have read something. */
  stood(): boolean;
  close(): Promise<void>;
}

export function freshConnection(context: Context): FreshConnection {
  let stood = false;
  let used = false;
  let over = false;
  const connect = connector(context);
  const dispatcher = new Client(context.base.origin, {
    ...settings(context),
    connect(options, callback) {
      // The library would connect again for a request it holds to be unsent. Once is all a create gets.
      if (used) return callback(new Error('a create is sent on one connection only'), null);
      used = true;
      connect(options, (error, socket) => {
        if (error) return callback(error, null);
        if (over) {
          socket.destroy();
          return callback(new Error('the create was given up before the connection stood'), null);
        }
        stood = true;
        callback(null, socket);
      });
    },
  });
  return {
    dispatcher,
    stood: () => stood,
    async close() {
      over = true;
      await dispatcher.destroy();
    },
  };
}
