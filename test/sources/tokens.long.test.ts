import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { folderFor } from '../support/folder.ts';
import { until } from '../support/until.ts';
import { start } from './place.ts';

interface Recorder {
  url: string;
  /** Everything that was sent to it: the first line, headers and body of each request. */
  heard: string[];
}

/** A service that notes whatever it is sent, and answers as it is told; null for no answer at all. */
async function recorder(t: TestContext, status: number | null): Promise<Recorder> {
  const heard: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    heard.push(`${request.method} ${request.url}\n${request.rawHeaders.join('\n')}\n${body}`);
    if (status === null) return;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(status === 200 ? '{"next":null,"previous":null,"results":[]}' : '{"detail":"no"}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.closeAllConnections() ?? server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

const tokens = { acme: 'canary-of-acme', beta: 'canary-of-beta', gamma: 'canary-of-gamma' };

describe('the token of a source', () => {
  it('reaches its own service and no other, whatever the others answer', async (t) => {
    const services = {
      acme: await recorder(t, 200),
      beta: await recorder(t, 401),
      gamma: await recorder(t, null),
    };
    const folder = folderFor(t, 'tokens');
    const names = Object.keys(tokens) as (keyof typeof tokens)[];
    const lines = names.map(
      (name) => `  ${name}: { base_url: '${services[name].url}', token: ${tokens[name]} }\n`,
    );
    writeFileSync(join(folder, 'sources.yaml'), `sources:\n${lines.join('')}`);
    const env = { FEEDBACK_API_TOKEN: 'canary-of-the-environment', FEEDBACK_BASE_URL: services.gamma.url };
    const service = await start(t, { folder }, { ...env, SYNC_HEAD_EVERY: '1s', LOG_LEVEL: 'debug' });
    await until('each service was asked, and one that answers is mirrored', async () => {
      const { body } = await service.json('/readyz');
      const isMirrored = (body.sources as Record<string, boolean>).acme === true;
      return isMirrored && names.every((name) => services[name].heard.length > 0);
    });
    await service.json('/s/beta/readyz');
    assert.equal(await service.stop(), 0);
    for (const name of names) {
      const heard = services[name].heard.join('\n');
      assert.ok(heard.includes(tokens[name]));
      for (const other of names)
        if (other !== name) assert.ok(!heard.includes(tokens[other]), `${other} at ${name}`);
      assert.ok(!heard.includes('canary-of-the-environment'));
    }
    assert.doesNotMatch(service.said(), /canary-of/);
  });
});
