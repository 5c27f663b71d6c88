import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  collectorUrl,
  duration,
  durationOr,
  durationSetting,
  hostNames,
  hostsAndNetworks,
  integer,
  names,
  oneOf,
  parameterName,
  postgresUrl,
  schemaName,
  text,
  token,
} from '../../config/parse.ts';

describe('a duration', () => {
  it('is a number with its unit', () => {
    const values = {
      '500ms': 500,
      '10s': 10_000,
      '5m': 300_000,
      '2h': 7_200_000,
      '7d': 604_800_000,
      '0s': 0,
    };
    for (const [written, ms] of Object.entries(values)) assert.equal(duration(written), ms);
    assert.equal(duration(' 10s '), 10_000);
  });

  it('is refused unless it is one whole number with one unit', () => {
    for (const written of ['10', 's', '-5s', '1.5h', '5 m', '1h30m', '10S', '1w', '٥s', '0x5s', '1e3s'])
      assert.throws(() => duration(written), /must be a duration such as 500ms, 10s, 5m, 2h or 7d/, written);
    assert.throws(() => duration('999999999999999d'), /must be a duration of less than/);
  });

  it('is written so that it reads back as itself', () => {
    fc.assert(fc.property(fc.nat({ max: 4e12 }), (ms) => duration(durationSetting(ms)) === ms));
    assert.deepEqual([0, 90_000, 3_600_000, 172_800_000].map(durationSetting), ['0ms', '90s', '1h', '2d']);
  });

  it('can be a word such as off', () => {
    const parse = durationOr('off');
    assert.equal(parse('off'), 'off');
    assert.equal(parse('5m'), 300_000);
    assert.throws(() => parse('never'), /must be off, or a duration/);
  });
});

describe('an integer', () => {
  it('lies between its bounds', () => {
    const port = integer(0, 65_535);
    assert.deepEqual(['0', '65535', ' 80 '].map(port), [0, 65_535, 80]);
    for (const written of ['65536', '-1', '1.0', '1e2', '0x10', 'many', ' '])
      assert.throws(() => port(written), /must be a whole number from 0 to 65535/, written);
  });
});

describe('a word', () => {
  it('must be one of the allowed words, letter by letter', () => {
    const parse = oneOf('header', 'query');
    assert.equal(parse(' query '), 'query');
    for (const written of ['Query', 'cookie', ''])
      assert.throws(() => parse(written), /must be one of header, query/);
  });
});

describe('a text', () => {
  it('is anything but blank', () => {
    assert.equal(text('a b'), 'a b');
    assert.throws(() => text(' \t'), /must not be empty/);
  });
});

describe('a parameter name', () => {
  it('needs no escaping in a query string', () => {
    for (const name of ['token', 'api_key', 'a.b-c~d', '0']) assert.equal(parameterName(name), name);
    for (const name of ['', 'a b', 'a&b', 'a=b', 'é', 'a\n', 'a'.repeat(65)])
      assert.throws(() => parameterName(name), /must be a parameter name/, name);
  });
});

describe('hosts and networks', () => {
  it('accept host names, addresses, and networks with a valid prefix length', () => {
    const list = 'receiver.internal, 127.0.0.1, ::1, 10.0.0.0/8, 0.0.0.0/0, fd00::/8, ::/128';
    assert.deepEqual(hostsAndNetworks(list), list.split(', '));
    for (const entry of ['10.0.0.0/33', 'fd00::/129', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1', 'host/8'])
      assert.throws(
        () => hostsAndNetworks(`::1,${entry}`),
        new RegExp(`"${entry}", which is no network`),
        entry,
      );
  });
});

describe('names', () => {
  it('are separated by commas, and none is empty', () => {
    assert.deepEqual(names(' Done,Live on the web '), ['Done', 'Live on the web']);
    for (const written of ['', ',', 'Done,', 'Done,,Live'])
      assert.throws(() => names(written), /none of them empty/, written);
  });

  it('of hosts are compared in small letters', () => {
    assert.deepEqual(hostNames('Mirror.Example.COM, feedback-mirror'), [
      'mirror.example.com',
      'feedback-mirror',
    ]);
    for (const written of ['mirror:8080', '[::1]:8080', 'http://mirror', 'a b'])
      assert.throws(() => hostNames(written), /without a port/, written);
  });
});

describe('a token', () => {
  it('has no room around or inside, and is long enough to be kept out of logs', () => {
    assert.equal(token(' abcd\n').reveal(), 'abcd');
    assert.throws(() => token('abc'), /at least 4 characters/);
    for (const written of ['ab cd', 'ab\ncd', 'abcdé'])
      assert.throws(() => token(written), /printable ASCII/);
  });
});

describe('a place for copies or traces', () => {
  it('is a PostgreSQL with a host, and a schema that needs no quotes and is not its own', () => {
    for (const url of ['postgres://user@host/database', 'postgresql://host:5432/d'])
      assert.equal(postgresUrl(` ${url} `).reveal(), url);
    for (const url of ['mysql://host/d', 'postgres:///d', 'host', 'https://host/d'])
      assert.throws(() => postgresUrl(url), /must be a URL such as postgres:/, url);
    assert.deepEqual(['mirror', ' _a1 '].map(schemaName), ['mirror', '_a1']);
    for (const name of ['pg_mirror', '1a', 'Mirror', 'a-b', 'a'.repeat(64), ''])
      assert.throws(() => schemaName(name), /must be a name of small letters/, name);
  });

  it('is a collector by http or https, without a query', () => {
    assert.equal(collectorUrl(' http://localhost:4318 ').href, 'http://localhost:4318/');
    for (const url of ['ftp://localhost', 'localhost:4318', 'collector'])
      assert.throws(() => collectorUrl(url), /must be a URL such as http:/, url);
    for (const url of ['https://host/?key=1', 'https://host/#a'])
      assert.throws(() => collectorUrl(url), /must not have a query/, url);
  });
});
