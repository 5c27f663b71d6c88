import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { SETTINGS } from '../../config/schema.ts';
import { CHECKOUT } from '../support/cli.ts';

interface Compose {
  services: Record<
    string,
    {
      image?: string;
      environment?: Record<string, string>;
      command?: string[];
      ports?: string[];
      read_only?: boolean;
      cap_drop?: string[];
      mem_limit?: string;
      depends_on?: Record<string, { condition: string }>;
      healthcheck?: object;
    }
  >;
  volumes: Record<string, null>;
}

const read = (path: string): Compose => parse(readFileSync(join(CHECKOUT, path), 'utf8')) as Compose;
const plain = read('compose.yaml');
const [redis, postgres] = ['redis', 'postgres'].map((name) => read(`deploy/compose.${name}.yaml`)) as [
  Compose,
  Compose,
];
const KNOWN = Object.values(SETTINGS).map(({ env }) => env);

describe('the compose files', () => {
  it('give the service only settings that exist', () => {
    for (const { services } of [plain, redis, postgres]) {
      const given = Object.keys(services['feedback-mirror']?.environment ?? {});
      assert.ok(given.length > 0);
      for (const name of given) assert.ok(KNOWN.includes(name), name);
    }
  });

  it('publish its port on loopback and ask for a token', () => {
    const { ports, environment } = plain.services['feedback-mirror'] ?? {};
    assert.deepEqual(ports, ['127.0.0.1:8080:8080']);
    assert.match(environment?.HTTP_TOKEN ?? '', /^\$\{HTTP_TOKEN:\?/);
  });

  it('run everything read-only and without privileges, and wait for the server of the queue', () => {
    for (const [name, { services }] of Object.entries({ redis, postgres })) {
      const server = services[name];
      assert.deepEqual([server?.read_only, server?.cap_drop], [true, ['ALL']]);
      assert.ok(server?.healthcheck);
      assert.match(server?.image ?? '', /^\w+:[\w.-]+@sha256:[0-9a-f]{64}$/, 'by its digest');
      assert.deepEqual(services['feedback-mirror']?.depends_on, { [name]: { condition: 'service_healthy' } });
    }
    assert.deepEqual(plain.services['feedback-mirror']?.cap_drop, ['ALL']);
    assert.equal(plain.services['feedback-mirror']?.mem_limit, '2g');
    assert.equal(plain.services['feedback-mirror']?.environment?.QUEUE_URL, undefined);
  });

  it('run Redis so that it neither forgets nor evicts, and both servers with a password', () => {
    const command = redis.services.redis?.command?.join(' ') ?? '';
    assert.match(
      command,
      /--appendonly yes --maxmemory-policy noeviction --requirepass \$\{REDIS_PASSWORD\}/,
    );
    const urls = [redis, postgres].map(
      ({ services }) => services['feedback-mirror']?.environment?.QUEUE_URL ?? '',
    );
    assert.match(urls[0] ?? '', /^redis:\/\/:\$\{REDIS_PASSWORD:\?[^}]*\}@redis:6379$/);
    assert.match(urls[1] ?? '', /^postgres:\/\/queue:\$\{POSTGRES_PASSWORD:\?[^}]*\}@postgres:5432\/queue$/);
  });
});
