import { type ChildProcess, execFile } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { messageOf } from '../../src/base/errors.ts';
import { end, guardOver, type Launch, onFreePort, remove, run } from './launch.ts';
import { requireProgram } from './programs.ts';

/** A real server of our own on a free port of this machine, with everything it writes in a temporary folder. */
export interface Server {
  readonly port: number;
  readonly url: string;
  readonly folder: string;
  /** Of the running process; after a restart, of the new one. */
  readonly pid: number;
  /** Ends it in order and removes its folder. Harmless when it is dead already. */
  stop(): Promise<void>;
  /** SIGKILL, as in a crash. The folder stays until `stop`. */
  kill(): Promise<void>;
  /** Started again on the same port and folder, after `kill` or instead of the running one. */
  restart(): Promise<void>;
}

export interface RedisOptions {
  /** Whether what was written outlives a crash: every write is logged to disk. */
  durable?: boolean;
  /** Further ones for redis-server, such as `--requirepass`. */
  flags?: string[];
}

export async function startRedis({ durable = false, flags = [] }: RedisOptions = {}): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'fm-redis-'));
  const persistence = durable ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no'];
  const fixed = ['--bind', '127.0.0.1', '--dir', folder, '--save', '', ...persistence, ...flags];
  const server = await startServer(folder, 'SIGTERM', (port) => ({
    command: requireProgram('redis-server'),
    args: ['--port', String(port), ...fixed],
    ready: /Ready to accept connections/,
  }));
  return Object.assign(server, { url: `redis://127.0.0.1:${server.port}` });
}

export interface PostgresOptions {
  /** Of the user `postgres`; without one everybody on this machine is let in. */
  password?: string;
  /** Whether what was committed outlives a crash of the server. */
  durable?: boolean;
}

export async function startPostgres({ password, durable = false }: PostgresOptions = {}): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'fm-postgres-'));
  const owner = ordinaryUser();
  const data = join(folder, 'data');
  await createCluster(folder, data, owner, password);
  // SIGINT is PostgreSQL's fast shutdown: it does not wait for clients to leave.
  const server = await startServer(folder, 'SIGINT', (port) => ({
    command: requireProgram('postgres'),
    args: [
      '-D',
      data,
      '-p',
      String(port),
      '-h',
      '127.0.0.1',
      '-k',
      '',
      ...FAST,
      '-c',
      `synchronous_commit=${durable ? 'on' : 'off'}`,
    ],
    ready: /database system is ready to accept connections/,
    ...owner,
  }));
  const user = password === undefined ? 'postgres' : `postgres:${password}`;
  return Object.assign(server, { url: `postgres://${user}@127.0.0.1:${server.port}/postgres` });
}

async function createCluster(
  folder: string,
  data: string,
  owner: Owner | null,
  password: string | undefined,
): Promise<void> {
  const secret = join(folder, 'password');
  const access = password === undefined ? ['-A', 'trust'] : ['-A', 'scram-sha-256', `--pwfile=${secret}`];
  const args = ['-D', data, '-U', 'postgres', ...access, '-E', 'UTF8', '--locale=C', '--no-sync'];
  try {
    if (password !== undefined) writeFileSync(secret, password, { mode: 0o644 });
    if (owner) chownSync(folder, owner.uid, owner.gid);
    await promisify(execFile)(requireProgram('initdb'), args, { cwd: folder, ...owner });
  } catch (error) {
    await remove(folder);
    throw error;
  }
}

/** What a test writes need not outlive the machine. */
const FAST = ['fsync=off', 'full_page_writes=off'].flatMap((option) => ['-c', option]);

/** Starts any server of that kind in its folder. `gently` is the signal that ends it in order. */
export async function startServer(
  folder: string,
  gently: NodeJS.Signals,
  launch: (port: number) => Launch,
): Promise<Omit<Server, 'url'>> {
  const guard = guardOver(folder);
  let child: ChildProcess;
  let port: number;
  try {
    [child, port] = await onFreePort((candidate) => run(launch(candidate), folder));
  } catch (error) {
    guard.release();
    await remove(folder);
    throw error;
  }
  guard.watch(child.pid);
  return {
    port,
    folder,
    get pid(): number {
      return child.pid ?? 0;
    },
    async kill(): Promise<void> {
      await end(child, 'SIGKILL');
      guard.watch(0);
    },
    async restart(): Promise<void> {
      await end(child, gently);
      child = await again(() => run(launch(port), folder));
      guard.watch(child.pid);
    },
    async stop(): Promise<void> {
      await end(child, gently);
      guard.release();
      await remove(folder);
    },
  };
}

/** After a SIGKILL the children of PostgreSQL take a moment to notice, and until then none can be started in its place. */
async function again(start: () => Promise<ChildProcess>, left = 100): Promise<ChildProcess> {
  try {
    return await start();
  } catch (error) {
    if (left === 0 || !/shared memory block .* still in use/.test(messageOf(error))) throw error;
    await delay(100);
    return await again(start, left - 1);
  }
}

export interface Owner {
  uid: number;
  gid: number;
}

/** For what must not run as root, as PostgreSQL: its own user, or nobody; null where we are an ordinary user ourselves. */
export function ordinaryUser(): Owner | null {
  if (process.getuid?.() !== 0) return null;
  const users = new Map(
    readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .map(([name = '', , uid, gid]) => [name, { uid: Number(uid), gid: Number(gid) }]),
  );
  return users.get('postgres') ?? users.get('nobody') ?? null;
}
