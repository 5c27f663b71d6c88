import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that can be cut: then nothing passes, nothing ends, and no new connection is answered, as with a cable that is pulled. */
export interface Cable {
  port: number;
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

export async function startProxy(
  targetPort: number,
  /** Sees what callers send. */
  watch: (chunk: Buffer) => void = () => undefined,
): Promise<Cable> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isCut = false;
  const server = createServer({ pauseOnConnect: true }, (inner) => {
    const outer = connect(targetPort, '127.0.0.1');
    const pair = [inner, outer] as const;
    pairs.add(pair);
    inner.on('data', watch);
    for (const [from, to] of [pair, [outer, inner] as const]) {
      from.on('data', (chunk) => to.write(chunk));
      // What ends while the cable is pulled is heard of when it is mended.
      from.on('close', () => {
        if (isCut) return;
        to.destroy();
        pairs.delete(pair);
      });
      from.on('error', () => undefined);
    }
    if (isCut) outer.pause();
    else inner.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
      for (const pair of pairs) for (const socket of pair) socket.pause();
    },
    mend() {
      isCut = false;
      for (const [inner, outer] of pairs)
        if (inner.destroyed || outer.destroyed) {
          inner.destroy();
          outer.destroy();
        } else for (const socket of [inner, outer]) socket.resume();
    },
    async close() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
