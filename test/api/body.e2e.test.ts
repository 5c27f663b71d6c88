import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { ClientOptions } from '../../src/api/client.ts';
import { AppError, type ErrorCode } from '../../src/base/errors.ts';
import { until } from '../support/until.ts';
import { clientOf, envelope, failureOf, post, startUpstream } from './support/upstream.ts';

const BODY = Buffer.from(JSON.stringify(envelope([1, 2, 3])));
const MIB = 1024 * 1024;

async function readOnce(
  t: TestContext,
  respond: (response: ServerResponse) => void,
  options: Partial<ClientOptions> = {},
) {
  const upstream = await startUpstream(t, (_, response) => respond(response));
  const client = clientOf(t, upstream.url, { retry: { attempts: 1 }, ...options });
  return { upstream, reading: client.page('posts', '') };
}

async function refused(reading: Promise<unknown>, code: ErrorCode, sentence: RegExp): Promise<void> {
  const error = await failureOf(reading);
  assert.ok(error instanceof AppError, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, sentence);
}

describe('a body', () => {
  const encodings: [string, Buffer][] = [
    ['identity', BODY],
    ['gzip', gzipSync(BODY)],
    ['GZIP', gzipSync(BODY)],
  ];
  for (const [encoding, bytes] of encodings) {
    it(`may come as ${encoding} (${bytes.length} bytes)`, async (t) => {
      const { reading } = await readOnce(t, (response) =>
        response.writeHead(200, { 'content-encoding': encoding }).end(bytes),
      );
      const page = await reading;
      assert.equal(page.rows.length, 3);
      assert.equal(page.bytes, BODY.length);
    });
  }

  it('that is empty needs no decompression, whatever it says', async (t) => {
    const { reading } = await readOnce(t, (response) =>
      response.writeHead(404, { 'content-encoding': 'gzip' }).end(),
    );
    await refused(reading, 'refused', /answered 404 \(no content type, empty\)/);
  });

  for (const encoding of [
    'gzip, gzip',
    'gzip,br',
    'zstd',
    'compress',
    'x-gzip',
    '__proto__',
    'constructor',
  ]) {
    it(`may not come as ${encoding}`, async (t) => {
      const { reading } = await readOnce(t, (response) =>
        response.writeHead(200, { 'content-encoding': encoding }).end(gzipSync(BODY)),
      );
      await refused(reading, 'protocol', /content encoding/);
    });
  }

  it('keeps a number that is too long for this language as it came, and refuses one as an id', async (t) => {
    const results = [{ ...post(1), serial: 555 }, post(2), post(777)];
    const text = JSON.stringify({ next: null, previous: null, results });
    const body = text
      .replace(':555', ':12345678901234567890')
      .replace('"id":777', '"id":12345678901234567891');
    const { reading } = await readOnce(t, (response) => response.end(body));
    const { rows, rejects } = await reading;
    assert.deepEqual(
      rows.map(({ id, extra }) => [id, extra]),
      [
        [1, '{"serial":12345678901234567890}'],
        [2, null],
      ],
    );
    assert.match(rejects[0]?.body ?? '', /"id":12345678901234567891,/);
  });

  it('may not name its encoding in two headers', async (t) => {
    const { reading } = await readOnce(t, (response) =>
      response
        .writeHead(200, [
          ['content-encoding', 'gzip'],
          ['content-encoding', 'gzip'],
        ])
        .end(gzipSync(BODY)),
    );
    await refused(reading, 'protocol', /content encoding/);
  });

  it('that is not what its encoding says is worth another try', async (t) => {
    const { reading } = await readOnce(t, (response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(BODY),
    );
    await refused(reading, 'unreachable', /not valid gzip/);
  });

  it('cut inside its compression is worth another try', async (t) => {
    const { reading } = await readOnce(t, (response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(BODY).subarray(0, -12)),
    );
    await refused(reading, 'unreachable', /not valid gzip/);
  });

  it('must be UTF-8 to the last byte', async (t) => {
    const broken = Buffer.concat([BODY.subarray(0, 40), Buffer.from([0xc3, 0x28]), BODY.subarray(40)]);
    const { reading, upstream } = await readOnce(t, (response) => response.end(broken), {
      retry: { attempts: 5 },
    });
    await refused(reading, 'protocol', /UTF-8/);
    assert.equal(upstream.requests.length, 1);
  });

  it('may arrive in pieces that cut a character in two', async (t) => {
    const text = Buffer.from(JSON.stringify({ next: 'ü€😀', results: [] }));
    const { reading } = await readOnce(t, (response) => {
      const send = (at: number): void => {
        if (at === text.length) response.end();
        else response.write(text.subarray(at, at + 1), () => setImmediate(send, at + 1));
      };
      send(0);
    });
    assert.equal((await reading).next, `cursor=${encodeURIComponent('ü€😀')}`);
  });
});

describe('a body without measure', () => {
  it('is cut off at the limit, and its connection closed', async (t) => {
    const { reading, upstream } = await readOnce(
      t,
      (response) => {
        const chunk = Buffer.alloc(65_536, ' ');
        const pour = (): void => {
          while (!response.destroyed && response.write(chunk));
        };
        response.on('drain', pour);
        pour();
      },
      { limits: { maxBytes: MIB } },
    );
    await refused(reading, 'protocol', /larger than 1024 KiB/);
    await until('the connection is closed', () => upstream.open() === 0);
  });

  it('has none beyond the limit: one that is exactly as large is read', async (t) => {
    const within = (maxBytes: number) =>
      readOnce(t, (response) => response.end(BODY), { limits: { maxBytes } });
    const [whole, cut] = [await within(BODY.length), await within(BODY.length - 1)];
    assert.equal((await whole.reading).bytes, BODY.length);
    await refused(cut.reading, 'protocol', /larger than/);
  });

  it('is cut off at the limit after decompression', async (t) => {
    const random = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7919) % 251));
    const { reading } = await readOnce(
      t,
      (response) =>
        response
          .writeHead(200, { 'content-encoding': 'gzip' })
          .end(gzipSync(Buffer.concat(Array(10).fill(random)))),
      { limits: { maxBytes: MIB, maxExpansion: 1e9 } },
    );
    await refused(reading, 'protocol', /larger than 1024 KiB/);
  });

  it('that expands more than a hundred times is a bomb', async (t) => {
    const bomb = gzipSync(Buffer.alloc(12 * MIB, ' '));
    assert.ok(bomb.length * 100 < 12 * MIB);
    const { reading, upstream } = await readOnce(
      t,
      (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
      { retry: { attempts: 5 } },
    );
    await refused(reading, 'protocol', /100 times/);
    assert.equal(upstream.requests.length, 1);
  });

  it('of less than a mebibyte may expand as it likes', async (t) => {
    const padded = Buffer.concat([BODY, Buffer.alloc(MIB - BODY.length, ' ')]);
    const { reading } = await readOnce(t, (response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(padded)),
    );
    assert.equal((await reading).rows.length, 3);
  });

  it('has headers without measure, which are refused too', async (t) => {
    const { reading } = await readOnce(t, (response) =>
      response.writeHead(200, { 'x-padding': 'x'.repeat(20_000) }).end(BODY),
    );
    await refused(reading, 'protocol', /headers/);
    const { reading: limited } = await readOnce(
      t,
      (response) => response.writeHead(200, { 'x-padding': 'x'.repeat(2000) }).end(BODY),
      { limits: { maxHeaderBytes: 1000 } },
    );
    await refused(limited, 'protocol', /headers/);
  });
});

describe('a body without haste', () => {
  it('is given up when nothing arrives at all', async (t) => {
    const { reading, upstream } = await readOnce(t, () => {}, { limits: { idleMs: 40 } });
    await refused(reading, 'unreachable', /nothing arrived for 40 ms/);
    await until('the connection is closed', () => upstream.open() === 0);
  });

  it('is given up when it stops in the middle', async (t) => {
    const { reading } = await readOnce(t, (response) => response.write('{"next":'), {
      limits: { idleMs: 40 },
    });
    await refused(reading, 'unreachable', /nothing arrived for 40 ms/);
  });

  it('is given up when it trickles on for longer than a page may take', async (t) => {
    const { reading } = await readOnce(
      t,
      (response) => {
        const timer = setInterval(() => response.write(' '), 5);
        response.on('close', () => clearInterval(timer));
      },
      { limits: { idleMs: 5_000, pageMs: 80 } },
    );
    await refused(reading, 'unreachable', /not complete after 80 ms/);
  });

  it('is read to its end when only this process was too busy to look', async (t) => {
    const { reading, upstream } = await readOnce(t, (response) => response.write(BODY.subarray(0, 20)), {
      limits: { idleMs: 1000 },
    });
    await until('it was asked', () => upstream.requests.length >= 1);
    const socket = upstream.requests[0]?.socket;
    const chunk = BODY.subarray(20);
    socket?.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`);
    // Until what was written has left this process, which is not at once on a busy machine.
    await until('it was sent', () => socket?.writableLength === 0);
    const busyUntil = performance.now() + 1100;
    while (performance.now() < busyUntil);
    assert.equal((await reading).rows.length, 3);
  });
});
