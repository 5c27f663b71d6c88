import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { findProgram, requireProgram } from '../support/programs.ts';
import { type Server, startPostgres, startServer } from '../support/servers.ts';

/** The feedback service of `service/`, deployed as such services are: gunicorn behind nginx, on PostgreSQL. */
export interface Service {
  /** The address of nginx, as `FEEDBACK_BASE_URL`. */
  readonly url: string;
  /** The service's own database, for the judge and for what people do on its web pages. */
  readonly db: pg.Pool;
  /** What nginx has logged so far. */
  requests(): LoggedRequest[];
  /** Process ids of the workers of gunicorn. */
  workers(): number[];
  stop(): Promise<void>;
}

export interface LoggedRequest {
  /** Seconds since 1970, when it ended. */
  at: number;
  method: string;
  path: string;
  status: number;
  /** The answers of gunicorn: two, with a comma, where nginx repeated the request. */
  upstream: string;
}

export interface Seed {
  posts: number;
  comments: number;
  /** So many of the posts share one `created`, as after a data migration. */
  sameDate?: number;
}

export interface Deployment {
  seed: Seed;
  pagination?: 'page' | 'offset' | 'cursor';
  ordering?: string;
  pageSize?: number;
  /** "0.2 3": every fifth create takes three seconds between its commit and its answer. */
  slowCreates?: string;
  /** "240/min": more creates are answered with 429. */
  throttleCreates?: string;
  /** Each has two workers. */
  gunicorns?: 1 | 2;
  /** Lines for nginx.conf. */
  nginx?: { http?: string; location?: string; passesHost?: boolean };
}

/** One PostgreSQL server. Each deployment has a database of its own there. */
export interface Stack {
  readonly postgres: Server;
  deploy(deployment: Deployment): Promise<Service>;
  stop(): Promise<void>;
}

export const TOKEN = 'real-service-token';
const SERVICE = join(import.meta.dirname, 'service');

/** Debian names of what is not installed. */
export async function missingPackages(): Promise<string[]> {
  const modules = {
    django: 'python3-django',
    rest_framework: 'python3-djangorestframework',
    psycopg2: 'python3-psycopg2',
  };
  const programs = { gunicorn: 'gunicorn', nginx: 'nginx-light', postgres: 'postgresql', python3: 'python3' };
  const missing = Object.entries(programs).filter(([name]) => findProgram(name) === null);
  for (const [name, debian] of Object.entries(modules))
    await promisify(execFile)(PYTHON, ['-c', `import ${name}`]).catch(() => missing.push([name, debian]));
  return missing.map(([, debian]) => debian);
}

/** Debian's packages belong to Debian's Python, whatever else is on the PATH. */
const PYTHON = '/usr/bin/python3';

export async function startStack(): Promise<Stack> {
  const postgres = await startPostgres({ durable: true });
  const templates = new Map<string, Promise<string>>();
  let databases = 0;
  const template = (seed: Seed): Promise<string> => {
    const key = JSON.stringify(seed);
    const made = templates.get(key) ?? seedDatabase(postgres, `seed${templates.size}`, seed);
    templates.set(key, made);
    return made;
  };
  return {
    postgres,
    async deploy(deployment) {
      const database = `service${++databases}`;
      await createDatabase(postgres, database, await template(deployment.seed));
      return await deploy(postgres, database, deployment);
    },
    stop: () => postgres.stop(),
  };
}

async function seedDatabase(postgres: Server, name: string, seed: Seed): Promise<string> {
  await createDatabase(postgres, name, 'template0');
  const numbers = ['--posts', seed.posts, '--comments', seed.comments, '--same-date', seed.sameDate ?? 0];
  const args = ['manage.py', 'seed', '--token', TOKEN, ...numbers.map(String)];
  await promisify(execFile)(PYTHON, args, { cwd: SERVICE, env: environment(postgres, name) });
  return name;
}

async function createDatabase(postgres: Server, name: string, template: string): Promise<void> {
  const client = new pg.Client(postgres.url);
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  } finally {
    await client.end();
  }
}

function environment(postgres: Server, database: string): NodeJS.ProcessEnv {
  const { PATH } = process.env;
  const server = { PGHOST: '127.0.0.1', PGPORT: String(postgres.port), PGUSER: 'postgres' };
  return { PATH, ...server, PGDATABASE: database, PYTHONDONTWRITEBYTECODE: '1' };
}

async function deploy(postgres: Server, database: string, deployment: Deployment): Promise<Service> {
  const { pagination = 'page', ordering = '-created', pageSize = 25 } = deployment;
  const settings = {
    PAGINATION: pagination,
    ORDERING: ordering,
    PAGE_SIZE: String(pageSize),
    SLOW_CREATES: deployment.slowCreates ?? '0 0',
    THROTTLE_CREATES: deployment.throttleCreates,
  };
  const env = { ...environment(postgres, database), ...settings };
  const gunicorns = await Promise.all(
    Array.from({ length: deployment.gunicorns ?? 1 }, () => startGunicorn(env)),
  );
  const ports = gunicorns.map(({ port }) => port);
  const nginx = await startNginx(ports, deployment.nginx ?? {});
  const db = new pg.Pool({
    connectionString: `postgres://postgres@127.0.0.1:${postgres.port}/${database}`,
    max: 4,
  });
  // A restart of the database ends idle connections; the pool opens others.
  db.on('error', () => undefined);
  return {
    url: `http://127.0.0.1:${nginx.port}`,
    db,
    requests: () => readLog(join(nginx.folder, 'access.log')),
    workers: () => gunicorns.flatMap(({ pid }) => childrenOf(pid)),
    async stop() {
      await db.end();
      await Promise.all([nginx, ...gunicorns].map((server) => server.stop()));
    },
  };
}

function startGunicorn(env: NodeJS.ProcessEnv): Promise<Omit<Server, 'url'>> {
  const args = ['--chdir', SERVICE, '--workers', '2', 'feedback.wsgi'];
  return startServer(mkdtempSync(join(tmpdir(), 'fm-gunicorn-')), 'SIGTERM', (port) => ({
    command: requireProgram('gunicorn'),
    args: ['--bind', `127.0.0.1:${port}`, ...args],
    ready: /Booting worker/,
    env,
  }));
}

function startNginx(
  ports: readonly number[],
  lines: NonNullable<Deployment['nginx']>,
): Promise<Omit<Server, 'url'>> {
  const folder = mkdtempSync(join(tmpdir(), 'fm-nginx-'));
  const file = join(folder, 'nginx.conf');
  return startServer(folder, 'SIGQUIT', (port) => {
    writeFileSync(file, nginxConfig(port, ports, lines));
    return {
      command: requireProgram('nginx'),
      args: ['-p', folder, '-e', 'stderr', '-c', file],
      ready: /RLIMIT_NOFILE/,
    };
  });
}

/** One process: a master that is killed would leave its workers behind. */
function nginxConfig(
  port: number,
  ports: readonly number[],
  { http = '', location = '', passesHost = true }: NonNullable<Deployment['nginx']>,
): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${kind};`,
  );
  return `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr notice;
events {}
http {
  ${temporary.join(' ')}
  log_format judge escape=json '{"at":$msec,"method":"$request_method","path":"$uri","status":$status,"upstream":"$upstream_status"}';
  access_log access.log judge;
  ${http}
  upstream gunicorn { ${ports.map((each) => `server 127.0.0.1:${each} max_fails=0;`).join(' ')} }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://gunicorn;
      ${passesHost ? 'proxy_set_header Host $http_host;' : ''}
      ${location}
    }
  }
}
`;
}

function readLog(path: string): LoggedRequest[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as LoggedRequest);
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}
