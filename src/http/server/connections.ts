import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes a file: its body may take any time as long as bytes keep coming. */
    isUpload?: boolean;
  }
}

export interface HttpLimits {
  /** The most bytes of a body. A route that takes files has its own limit. */
  bodyBytes: number;
  headersMs: number;
  /** Until the last byte of the body has arrived; for an upload, until some more of it has. */
  bodyMs: number;
  /** How long a client may leave a reply unread. */
  stallMs: number;
  /** The most connections of clients with the token, or of all clients if there is no token. */
  connections: number;
  /** The most connections of clients that have not shown the token. */
  strangers: number;
  /** Until the service has said how far it is. A probe that waits for less takes that for a no as well. */
  progressMs: number;
  /** How often answers that go on are held against the session they were asked in. */
  sessionMs: number;
}

/** Fewer new bytes of an upload than this in `bodyMs` are no progress. */
const UPLOAD_BYTES = 1024;

interface Connections {
  /** Counts the connection of this request among those whose client showed the token; false where there are too many. */
  admit(request: IncomingMessage): boolean;
  /** Counts a request without the token until it is answered; false where another one on its connection is not answered yet. */
  isAlone(request: IncomingMessage, response: ServerResponse): boolean;
}

/**
 * Connections are counted in two groups. A new one belongs to a stranger until a request on it was authenticated. Where there
 * are too many strangers the oldest is closed, not the newest refused: a client that means well needs milliseconds, and one that
 * sends half a request keeps nobody out, least of all a health probe. Authenticated clients have a group of their own.
 */
export function limitConnections(app: FastifyInstance, limits: HttpLimits): Connections {
  const strangers = new Set<Socket>();
  const known = new Set<Socket>();
  const unanswered = new WeakSet<Socket>();
  app.server.on('connection', (socket: Socket) => {
    strangers.add(socket);
    socket.once('close', () => {
      strangers.delete(socket);
      known.delete(socket);
    });
    const [oldest] = strangers;
    if (strangers.size > limits.strangers) oldest?.destroy();
  });
  dropStalledReaders(app, limits.stallMs, () => [...strangers, ...known]);
  return {
    admit({ socket }) {
      if (known.has(socket)) return true;
      if (known.size >= limits.connections) return false;
      if (strangers.delete(socket)) known.add(socket);
      return true;
    },
    isAlone({ socket }, response) {
      if (unanswered.has(socket)) return false;
      unanswered.add(socket);
      response.once('close', () => unanswered.delete(socket));
      return true;
    },
  };
}

/** A client that does not read what it asked for keeps memory, and often a slot of something else, for as long as it likes. */
function dropStalledReaders(app: FastifyInstance, stallMs: number, sockets: () => Socket[]): void {
  const blocked = new WeakMap<Socket, { sent: number; since: number }>();
  const check = (): void => {
    const now = performance.now();
    for (const socket of sockets()) {
      const sent = socket.bytesWritten - socket.writableLength;
      const before = blocked.get(socket);
      if (socket.writableLength === 0) blocked.delete(socket);
      else if (before?.sent !== sent) blocked.set(socket, { sent, since: now });
      else if (now - before.since >= stallMs) socket.destroy();
    }
  };
  const timer = setInterval(check, stallMs / 6).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}

export function limitBody(
  { raw, routeOptions }: FastifyRequest,
  reply: FastifyReply,
  bodyMs: number,
  refuseLate: (reply: FastifyReply) => void,
): void {
  if (raw.headers['transfer-encoding'] === undefined && !Number(raw.headers['content-length'])) return;
  let seen = raw.socket.bytesRead;
  const timer = setInterval(() => {
    const read = raw.socket.bytesRead;
    if (routeOptions.config.isUpload && read - seen >= UPLOAD_BYTES) seen = read;
    else if (!raw.complete) refuseLate(reply);
  }, bodyMs).unref();
  raw.once('close', () => clearInterval(timer));
  raw.once('end', () => clearInterval(timer));
}
