import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Agent, request } from 'undici';
import { CHECKOUT, spawnCli } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';
import { end, freePort, run } from '../support/launch.ts';
import { requireProgram, skipUnless } from '../support/programs.ts';
import { until } from '../support/until.ts';

const NAME = 'mirror.example.com';
const TOKEN = 'a-token-for-the-proxy';

/** An example of docs/operations.md. */
function example(language: 'nginx' | 'caddy'): string {
  const page = readFileSync(join(CHECKOUT, 'docs/operations.md'), 'utf8');
  const [, text = ''] = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  assert.ok(text.includes(NAME), language);
  return text;
}

/** The service behind the proxy, a certificate, and a port for the proxy. */
async function site(t: TestContext) {
  const folder = folderFor(t, 'proxy');
  const [port, proxyPort] = [await freePort(), await freePort()];
  const service = spawnCli(['start', '--http-port', String(port), '--http-names', NAME], {
    cwd: folder,
    env: { HTTP_TOKEN: TOKEN },
  });
  t.after(() => service.kill('SIGKILL'));
  service.stderr.resume();
  const certificate = { crt: join(folder, 'mirror.crt'), key: join(folder, 'mirror.key') };
  const subject = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`];
  const files = ['-keyout', certificate.key, '-out', certificate.crt];
  const openssl = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject, ...files];
  execFileSync(requireProgram('openssl'), openssl, { stdio: 'ignore' });
  return { folder, port, proxyPort, certificate };
}

type Site = Awaited<ReturnType<typeof site>>;

async function assertServes(t: TestContext, { proxyPort, certificate }: Site): Promise<void> {
  const connect = {
    ca: readFileSync(certificate.crt, 'utf8'),
    servername: NAME,
    lookup: (_name: string, _options: object, done: (error: null, found: object[]) => void) =>
      done(null, [{ address: '127.0.0.1', family: 4 }]),
  };
  const dispatcher = new Agent({ connect: connect as Agent.Options['connect'] & object });
  t.after(() => dispatcher.destroy());
  const base = `https://${NAME}:${proxyPort}`;
  const headers = { authorization: `Bearer ${TOKEN}` };
  const ask = (path: string, options: object = {}) =>
    request(`${base}${path}`, { dispatcher, headers, ...options });
  await until('the service is ready behind the proxy', async () => {
    const { statusCode, body } = await ask('/readyz');
    await body.dump();
    return statusCode === 200;
  });
  const posts = await ask('/api/v1/posts/');
  assert.match(await posts.body.text(), new RegExp(`"next":"https?://${NAME}:${proxyPort}/`));
  // A page of this site may change things: the proxy has passed Host with its port.
  const made = await ask('/api/v1/posts/create/', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', origin: base },
    body: JSON.stringify({ board: 'bugs', title: 'Through a proxy', content: 'Please.' }),
  });
  assert.equal(made.statusCode, 201, await made.body.text());
  // The first event arrives although the stream never ends.
  const { body } = await ask('/data/events');
  const [first] = (await once(body, 'data')) as [Buffer];
  assert.match(first.toString(), /^data: /);
  body.destroy();
}

describe('the examples of a reverse proxy', () => {
  it(
    'nginx serves the mirror under a name, with TLS, creates and live events',
    skipUnless('nginx', 'openssl'),
    async (t) => {
      const place = await site(t);
      const { folder, port, proxyPort, certificate } = place;
      const server = example('nginx')
        .replace('listen 443 ssl', `listen 127.0.0.1:${proxyPort} ssl`)
        .replace('/etc/ssl/mirror.crt', certificate.crt)
        .replace('/etc/ssl/mirror.key', certificate.key)
        .replace('127.0.0.1:8080', `127.0.0.1:${port}`);
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path ${join(folder, kind)};`,
      );
      const config = join(folder, 'nginx.conf');
      writeFileSync(
        config,
        `daemon off; pid ${join(folder, 'nginx.pid')}; error_log stderr notice; events {}
http { access_log off; ${temporary.join(' ')}\n${server}}\n`,
      );
      const args = ['-p', folder, '-e', 'stderr', '-c', config];
      const proxy = await run(
        { command: requireProgram('nginx'), args, ready: /start worker process/ },
        folder,
      );
      t.after(() => end(proxy, 'SIGTERM'));
      await assertServes(t, place);
    },
  );

  it(
    'Caddy serves the mirror under a name, with TLS, creates and live events',
    skipUnless('caddy', 'openssl'),
    async (t) => {
      const place = await site(t);
      const { folder, port, proxyPort, certificate } = place;
      const block = example('caddy')
        .replace(NAME, `https://${NAME}:${proxyPort}`)
        .replace('{\n', `{\n  tls ${certificate.crt} ${certificate.key}\n`)
        .replace('127.0.0.1:8080', `127.0.0.1:${port}`);
      const config = join(folder, 'Caddyfile');
      writeFileSync(config, `{\n  admin off\n  auto_https disable_redirects\n}\n${block}`);
      const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
      const args = ['run', '--adapter', 'caddyfile', '--config', config];
      const proxy = await run(
        { command: requireProgram('caddy'), args, env, ready: /serving initial configuration/ },
        folder,
      );
      t.after(() => end(proxy, 'SIGTERM'));
      await assertServes(t, place);
    },
  );
});
