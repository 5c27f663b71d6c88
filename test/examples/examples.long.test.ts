import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';
import { parse } from 'yaml';
import { UPSTREAM, workbenchFor } from '../mirror/workbench.ts';
import { openTestPublisher } from '../publish/copy.ts';
import { CHECKOUT, spawnCli } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';
import { freePort } from '../support/launch.ts';
import { openSite } from '../support/mirror-site.ts';
import { skipUnless } from '../support/programs.ts';
import { startPostgres } from '../support/servers.ts';
import { until } from '../support/until.ts';

const EXAMPLES = join(CHECKOUT, 'examples');

interface Script {
  child: ChildProcess;
  said(): string;
}

/** An example as a person starts it. */
function start(t: TestContext, name: string, cwd: string, env: Record<string, string>): Script {
  const child = spawn(process.execPath, [join(EXAMPLES, name)], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
  });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  return { child, said: () => said };
}

async function startService(
  t: TestContext,
  env: Record<string, string> = {},
): Promise<{ url: string; folder: string }> {
  const [port, folder] = [await freePort(), folderFor(t, 'example')];
  const service = spawnCli(['start', '--http-port', String(port)], { cwd: folder, env });
  t.after(() => service.kill('SIGKILL'));
  service.stderr.resume();
  const url = `http://127.0.0.1:${port}`;
  const isReady = async (): Promise<boolean> => (await fetch(`${url}/readyz`)).ok;
  await until('the service is ready', () => isReady().catch(() => false));
  return { url, folder };
}

async function create(url: string, title: string): Promise<void> {
  const answer = await fetch(`${url}/api/v1/posts/create/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ board: 'bugs', title, content: 'x' }),
  });
  assert.equal(answer.status, 201);
}

describe('the examples', () => {
  it('webhook-receiver.mjs takes what the service signed, once, and refuses everything else', async (t) => {
    const secret = randomBytes(32).toString('base64');
    const port = await freePort();
    const receiver = start(t, 'webhook-receiver.mjs', EXAMPLES, {
      WEBHOOK_SECRET: secret,
      PORT: String(port),
    });
    await until('the receiver listens', () => receiver.said().includes('listening'));
    const hook = `http://127.0.0.1:${port}/`;
    const { url } = await startService(t, {
      WEBHOOK_URL: hook,
      WEBHOOK_SECRET: secret,
      WEBHOOK_ALLOW: '127.0.0.1',
    });
    await create(url, 'Told by a webhook');
    await until('the change arrives', () => /post\.created Told by a webhook/.test(receiver.said()));

    const body = JSON.stringify({ type: 'post.created', data: { post: { title: 'By hand' } } });
    const send = async (id: string, seconds: number, key = secret): Promise<number> => {
      const sign = createHmac('sha256', Buffer.from(key, 'base64')).update(`${id}.${seconds}.${body}`);
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': `v1,${sign.digest('base64')}`,
      };
      return (await fetch(hook, { method: 'POST', headers, body })).status;
    };
    const now = Math.floor(Date.now() / 1000);
    assert.equal(await send('one', now), 204);
    assert.equal(await send('one', now), 204);
    assert.equal(await send('two', now, randomBytes(32).toString('base64')), 401);
    assert.equal(await send('three', now - 3600), 401);
    assert.equal(receiver.said().split('By hand').length, 2);
  });

  it('follow-changes.mjs continues after a restart with what it has not seen', async (t) => {
    const { url, folder } = await startService(t);
    const env = { MIRROR_URL: url, POSITION_FILE: join(folder, 'position.txt') };
    const first = start(t, 'follow-changes.mjs', folder, env);
    await until('it has a position', () => existsSync(env.POSITION_FILE));
    await create(url, 'Before the restart');
    await until('it has seen the first', () => first.said().includes('post.created Before the restart'));
    await until('it has kept the position', () => {
      const last = first.said().trim().split('\n').at(-1)?.split(' ')[0] ?? '';
      return Number.parseInt(readFileSync(env.POSITION_FILE, 'utf8'), 10) >= Number(last);
    });
    first.child.kill('SIGKILL');
    await create(url, 'During the restart');
    const second = start(t, 'follow-changes.mjs', folder, env);
    await until('it has seen the second', () => second.said().includes('post.created During the restart'));
    assert.ok(!second.said().includes('post.created Before the restart'));
  });

  it('duckdb.sql adds up a Parquet export', async (t) => {
    const site = await openSite(t, { posts: 30 });
    await site.run(['sync']);
    const exported = await site.run(['export', 'all', '--format', 'parquet', '--out', 'today']);
    assert.equal(exported.code, 0, exported.stderr);
    const duckdb = await DuckDBInstance.create(':memory:');
    const connection = await duckdb.connect();
    t.after(() => duckdb.closeSync());
    const sql = readFileSync(join(EXAMPLES, 'duckdb.sql'), 'utf8').replaceAll(
      "'today/",
      `'${site.folder}/today/`,
    );
    const rows = (await connection.runAndReadAll(sql)).getRowObjectsJson();
    assert.equal(
      rows.reduce((sum, { posts }) => sum + Number(posts), 0),
      30,
    );
    assert.deepEqual(Object.keys(rows[0] ?? {}), ['board', 'status', 'posts', 'votes']);
  });
});

/** dbt itself is not run here: its two functions are replaced, and PostgreSQL runs what is left. */
describe('the dbt project', skipUnless('initdb', 'postgres'), () => {
  it('has three models and a test that hold on a copy of a mirror', async (t) => {
    const bench = await workbenchFor(t, { posts: 40, pageSize: 10 });
    for (const resource of ['posts', 'comments'] as const) await bench.sync({ resource, mode: 'sweep' });
    const server = await startPostgres();
    const publisher = openTestPublisher(server.url, { path: bench.path, upstream: UPSTREAM });
    await until('everything is copied', async () => (await publisher.step()) === 0);
    const client = new pg.Client(server.url);
    await client.connect();
    t.after(async () => {
      await client.end();
      await publisher.close();
      await server.stop();
    });
    await client.query('CREATE SCHEMA models');
    const project = join(EXAMPLES, 'dbt');
    for (const name of ['dbt_project.yml', 'profiles.yml', 'models/sources.yml'])
      parse(readFileSync(join(project, name), 'utf8'));
    const models = globSync('models/*.sql', { cwd: project }).sort();
    assert.equal(models.length, 3);
    for (const path of models) {
      const [, name = ''] = /(\w+)\.sql$/.exec(path) ?? [];
      await client.query(`CREATE VIEW models.${name} AS ${compiled(join(project, path))}`);
      await client.query(`SELECT * FROM models.${name}`);
    }
    const { rows } = await client.query<{ posts: string }>(
      'SELECT sum(posts) AS posts FROM models.board_demand',
    );
    assert.equal(Number(rows[0]?.posts), 40);
    for (const path of globSync('tests/*.sql', { cwd: project })) {
      const failures = await client.query(compiled(join(project, path)));
      assert.equal(failures.rowCount, 0, path);
    }
  });
});

function compiled(path: string): string {
  return readFileSync(path, 'utf8')
    .replaceAll(/\{\{ source\('mirror', '(\w+)'\) \}\}/g, 'feedback.$1')
    .replaceAll(/\{\{ ref\('(\w+)'\) \}\}/g, 'models.$1');
}
