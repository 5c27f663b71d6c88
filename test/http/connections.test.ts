import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type HttpLimits, limitBody, limitConnections } from '../../src/http/server/connections.ts';

class FakeSocket extends EventEmitter {
  [field: string]: unknown;
  bytesWritten = 0;
  writableLength = 0;
  bytesRead = 0;
  isGone = false;
  destroy(): void {
    this.isGone = true;
    this.emit('close');
  }
}

function service(t: TestContext, limits: Partial<HttpLimits>) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const server = new EventEmitter();
  const app = { server, addHook: () => undefined } as unknown as FastifyInstance;
  const usual = { connections: 2, strangers: 2, stallMs: 6000 } as HttpLimits;
  const { admit } = limitConnections(app, { ...usual, ...limits });
  return {
    connect(): FakeSocket {
      const socket = new FakeSocket();
      server.emit('connection', socket);
      return socket;
    },
    admit: (socket: FakeSocket) => admit({ socket } as unknown as IncomingMessage),
    pass(ms: number) {
      for (let left = ms; left > 0; left -= 1000) {
        now += 1000;
        t.mock.timers.tick(1000);
      }
    },
  };
}

describe('connections', () => {
  it('without the token are closed oldest first, and those with the token are not counted', (t) => {
    const { connect, admit } = service(t, {});
    const known = connect();
    assert.equal(admit(known), true);
    const [first, second, third] = [connect(), connect(), connect()];
    assert.deepEqual(
      [known, first, second, third].map(({ isGone }) => isGone),
      [false, true, false, false],
    );
    second.destroy();
    connect();
    assert.equal(third.isGone, false, 'who has left takes no place');
  });

  it('with the token have a limit, and a closed one frees its place', (t) => {
    const { connect, admit } = service(t, { strangers: 9 });
    const [first, second, late] = [connect(), connect(), connect()];
    assert.deepEqual([admit(first), admit(first), admit(second), admit(late)], [true, true, true, false]);
    assert.equal(admit(second), true, 'who has a place keeps it');
    first.destroy();
    assert.equal(admit(late), true);
  });

  it('are closed if the client stops reading, and not if there is nothing to read', (t) => {
    const { connect, admit, pass } = service(t, { strangers: 9 });
    const [idle, stalled, slow, known] = [connect(), connect(), connect(), connect()];
    admit(known);
    for (const socket of [stalled, slow, known])
      Object.assign(socket, { bytesWritten: 100, writableLength: 50 });
    pass(6000);
    // One byte is enough to go on.
    slow.writableLength = 49;
    assert.equal(stalled.isGone, false);
    pass(1000);
    assert.deepEqual(
      [idle, stalled, slow, known].map(({ isGone }) => isGone),
      [false, true, false, true],
    );
    slow.writableLength = 0;
    pass(9000);
    assert.equal(slow.isGone, false);
  });
});

describe('a body', () => {
  function sending(t: TestContext, headers: Record<string, string>, isUpload = false) {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const raw = Object.assign(new EventEmitter(), { headers, socket: new FakeSocket(), complete: false });
    let late = 0;
    const request = { raw, routeOptions: { config: { isUpload } } } as unknown as FastifyRequest;
    limitBody(request, {} as FastifyReply, 1000, () => late++);
    return { raw, late: () => late, tick: () => t.mock.timers.tick(1000) };
  }

  it('is refused if it arrives too late, with or without a Content-Length, and requests without a body are not', (t) => {
    for (const [headers, times] of [
      [{ 'content-length': '5' }, 1],
      [{ 'transfer-encoding': 'chunked' }, 1],
      [{ 'content-length': '0' }, 0],
      [{}, 0],
    ] as const) {
      const { late, tick } = sending(t, headers);
      tick();
      assert.equal(late(), times, JSON.stringify(headers));
      t.mock.timers.reset();
    }
  });

  it('is not refused once it has arrived or its client has left', (t) => {
    for (const end of ['end', 'close', 'complete']) {
      const { raw, late, tick } = sending(t, { 'content-length': '5' });
      if (end === 'complete') raw.complete = true;
      else raw.emit(end);
      tick();
      assert.equal(late(), 0, end);
      t.mock.timers.reset();
    }
  });

  it('of an upload may take long while a thousand bytes keep coming, and other bodies may not', (t) => {
    const upload = sending(t, { 'content-length': '9000' }, true);
    for (let n = 1; n <= 3; n++) {
      upload.raw.socket.bytesRead = n * 1024;
      upload.tick();
    }
    assert.equal(upload.late(), 0);
    upload.raw.socket.bytesRead += 1023;
    upload.tick();
    assert.equal(upload.late(), 1);
    t.mock.timers.reset();
    const plain = sending(t, { 'content-length': '9000' });
    plain.raw.socket.bytesRead = 5000;
    plain.tick();
    assert.equal(plain.late(), 1);
  });
});
