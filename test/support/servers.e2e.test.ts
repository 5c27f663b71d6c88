import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { requireProgram, skipUnless } from './programs.ts';
import { type Server, startPostgres, startRedis } from './servers.ts';

async function redisSays(port: number, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${command}\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer.toString().trim();
}

async function postgresSays(url: string, sql: string): Promise<string> {
  const { stdout } = await promisify(execFile)(requireProgram('psql'), ['-X', '-At', '-c', sql, url]);
  return stdout.trim();
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function assertGone({ folder }: Server, pid: number): void {
  assert.equal(isRunning(pid), false);
  assert.equal(existsSync(folder), false);
}

describe('a Redis of our own', skipUnless('redis-server'), () => {
  it('answers, and leaves neither process nor folder behind', async () => {
    const redis = await startRedis();
    const { pid } = redis;
    assert.equal(redis.url, `redis://127.0.0.1:${redis.port}`);
    assert.equal(await redisSays(redis.port, 'PING'), '+PONG');
    await redis.stop();
    assertGone(redis, pid);
  });

  it('is one of many, each on its own port', async () => {
    const [one, other] = await Promise.all([startRedis(), startRedis()]);
    assert.notEqual(one.port, other.port);
    await redisSays(one.port, 'SET k 1');
    assert.equal(await redisSays(other.port, 'GET k'), '$-1');
    await Promise.all([one.stop(), other.stop()]);
  });

  it('is killed and comes back on the same port, with its data where it was told to keep them', async () => {
    for (const [durable, kept] of [
      [true, '$5\r\nvalue'],
      [false, '$-1'],
    ] as const) {
      const redis = await startRedis({ durable });
      const { pid, port } = redis;
      await redisSays(port, 'SET key value');
      await redis.kill();
      assert.equal(isRunning(pid), false);
      await redis.restart();
      assert.equal(redis.port, port);
      assert.notEqual(redis.pid, pid);
      assert.equal(await redisSays(port, 'GET key'), kept);
      await redis.stop();
      assertGone(redis, redis.pid);
    }
  });

  it('may be stopped after it was killed', async () => {
    const redis = await startRedis();
    const { pid } = redis;
    await redis.kill();
    await redis.stop();
    await redis.kill();
    await redis.stop();
    assertGone(redis, pid);
  });

  it('dies with the process that started it, even when that one is killed', async () => {
    const script = `
      import { startRedis } from '${new URL('./servers.ts', import.meta.url)}';
      process.stdout.write(String((await startRedis()).port));
      setInterval(() => {}, 1000);`;
    const test = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [port] = (await once(test.stdout, 'data')) as [Buffer];
    const client = connect(Number(port), '127.0.0.1');
    await once(client, 'connect');
    // It may close the connection or reset it; either way it is gone.
    const gone = new Promise((resolve) => client.on('error', () => undefined).once('close', resolve));
    test.kill('SIGKILL');
    client.resume();
    await gone;
  });
});

describe('a test that forgot to stop its servers', skipUnless('redis-server'), () => {
  it('ends all the same', async () => {
    const script = `
      import { startRedis } from '${new URL('./servers.ts', import.meta.url)}';
      await startRedis();`;
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { timeout: 120_000 });
  });
});

describe('a PostgreSQL of our own', skipUnless('initdb', 'postgres', 'psql'), () => {
  it('answers, and leaves neither process nor folder behind', async () => {
    const postgres = await startPostgres();
    const { pid } = postgres;
    assert.equal(await postgresSays(postgres.url, 'select 1'), '1');
    await postgres.stop();
    assertGone(postgres, pid);
  });

  it('may be killed while it is in use', async () => {
    const postgres = await startPostgres();
    const { pid } = postgres;
    const query = postgresSays(postgres.url, 'select pg_sleep(60)').catch(() => 'cut off');
    assert.equal(await postgresSays(postgres.url, 'show fsync'), 'off');
    await postgres.kill();
    assert.equal(await query, 'cut off');
    await postgres.stop();
    assertGone(postgres, pid);
  });
});
