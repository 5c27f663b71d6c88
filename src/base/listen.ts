import { once } from 'node:events';
import { createServer } from 'node:net';
import { AppError, messageOf } from './errors.ts';

interface ListenAddress {
  host: string;
  port: number;
}

/** Says that a port is taken before anything is opened. A program that takes it a moment later is met by the real server. */
export async function checkPort(address: ListenAddress): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen(address), 'listening');
  } catch (error) {
    throw cannotListen(error, address);
  }
  await new Promise((closed) => server.close(closed));
}

const HTTP_NAMES = { host: 'HTTP_HOST', port: 'HTTP_PORT' };

/** `names` are those of the settings or flags that a person would change. */
export function cannotListen(error: unknown, { host, port }: ListenAddress, names = HTTP_NAMES): AppError {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  const where = `${host}, port ${port}`;
  if (code === 'EADDRINUSE')
    return new AppError('usage', `cannot listen on ${where}: another program does already`, {
      hint: `Stop that one, or set ${names.port} to another port; ${names.port}=0 picks a free one.`,
      cause: error,
    });
  return new AppError('usage', `cannot listen on ${where}: ${messageOf(error)}`, {
    hint: `${names.host} must be an address of this machine, and a port below 1024 needs special rights.`,
    cause: error,
  });
}

function noSchema(): never {
  throw new AppError('internal', 'a route has a schema, and this server was made without compilers for any');
}

/** Fastify's own compilers load 90 files of ajv at each start, and our routes check what they are given themselves. */
export const WITHOUT_SCHEMAS = { buildValidator: () => noSchema, buildSerializer: () => noSchema };
