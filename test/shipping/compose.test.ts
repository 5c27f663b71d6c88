import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SETTINGS } from '../../config/schema.ts';
import { CHECKOUT } from '../support/cli.ts';

const compose = readFileSync(join(CHECKOUT, 'compose.yaml'), 'utf8');

describe('compose.yaml', () => {
  it('runs Redis so that it neither forgets nor evicts', () => {
    assert.match(compose, /"--appendonly", "yes"/);
    assert.match(compose, /"--maxmemory-policy", "noeviction"/);
  });

  it('gives the service only settings that exist', () => {
    const known = Object.values(SETTINGS).map(({ env }) => env);
    const given = [...compose.matchAll(/^ {6}([A-Z_]+):/gm)].map(([, name = '']) => name);
    assert.ok(given.length >= 5);
    for (const name of given) assert.ok(known.includes(name), name);
  });

  it('publishes its port on loopback and asks for a token', () => {
    assert.match(compose, /"127\.0\.0\.1:8080:8080"/);
    assert.match(compose, /\$\{HTTP_TOKEN:\?/);
    assert.match(compose, /redis:\/\/:\$\{REDIS_PASSWORD:\?[^}]*\}@redis:6379/);
    assert.match(compose, /"--requirepass", "\$\{REDIS_PASSWORD\}"/);
    assert.equal(compose.match(/cap_drop: \[ALL\]/g)?.length, 2);
  });
});
