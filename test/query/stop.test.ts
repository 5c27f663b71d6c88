import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { stopper } from '../../src/query/stop.ts';
import { NO_ENGINE, TOO_MUCH_MEMORY } from '../../src/query/wire.ts';

const MIB = 2 ** 20;

/** A process that ends when it is killed, and a clock that is told. */
function statement(t: TestContext, limits: object = {}, signal?: AbortSignal) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const child = new EventEmitter();
  let kills = 0;
  const kill = (name: string): void => {
    kills++;
    child.emit('exit', null, name);
  };
  const stop = stopper(
    Object.assign(child, { kill }) as unknown as ChildProcess,
    { limitMs: 1000, maxMemoryBytes: 64 * MIB, stallMs: 500, ...limits },
    signal,
  );
  const pass = (ms: number): void => {
    now += ms;
    t.mock.timers.tick(ms);
  };
  return {
    stop,
    pass,
    kills: () => kills,
    end: (code: number | null, by: string | null) => child.emit('exit', code, by),
  };
}

describe('a statement', () => {
  it('has its own time in all, in which the time does not count that others take its rows', async (t) => {
    const { stop, pass, kills } = statement(t);
    stop.working();
    pass(600);
    stop.waiting();
    pass(499);
    stop.working();
    pass(399);
    assert.equal(kills(), 0);
    pass(1);
    assert.equal(kills(), 1);
    assert.match(String(await stop.why()), /stopped after 1 s, its limit/);
  });

  it('is stopped if its rows are not read, and if its process does not start', async (t) => {
    const stalled = statement(t);
    stalled.stop.waiting();
    stalled.pass(499);
    assert.equal(stalled.kills(), 0);
    stalled.pass(1);
    assert.match(String(await stalled.stop.why()), /nobody took its rows for/);
    t.mock.timers.reset();
    t.mock.restoreAll();
    const late = statement(t);
    late.stop.starting();
    late.pass(19_999);
    assert.equal(late.kills(), 0);
    late.pass(1);
    assert.match(String(await late.stop.why()), /did not start within 20 s/);
  });

  it('has its time from when it works, not from when its process was asked for', (t) => {
    const { stop, pass, kills } = statement(t);
    stop.starting();
    pass(15_000);
    stop.working();
    pass(999);
    assert.equal(kills(), 0);
    pass(1);
    assert.equal(kills(), 1);
  });

  it('rejects with the reason of the abort signal, which has no effect after the end', async (t) => {
    const gone = new AbortController();
    const { stop, kills } = statement(t, {}, gone.signal);
    gone.abort(new Error('called off'));
    assert.equal(kills(), 1);
    assert.match(String(await stop.why()), /called off/);
    t.mock.timers.reset();
    t.mock.restoreAll();
    const later = new AbortController();
    const ended = statement(t, {}, later.signal);
    ended.stop.working();
    ended.stop.end();
    later.abort();
    ended.pass(5000);
    assert.equal(ended.kills(), 1);
  });

  it('says of its process why that ended', async (t) => {
    const why = async (code: number | null, by: string | null): Promise<unknown[]> => {
      const { stop, end } = statement(t);
      end(code, by);
      const { code: kind, message } = (await stop.why()) as { code: string; message: string };
      t.mock.timers.reset();
      t.mock.restoreAll();
      return [kind, message];
    };
    const memory = ['partial', 'the statement was stopped at its limit of 64 MiB of memory'];
    assert.deepEqual([await why(null, TOO_MUCH_MEMORY), await why(null, 'SIGABRT')], [memory, memory]);
    assert.match(String(await why(NO_ENGINE, null)), /^usage,SQL of your own needs/);
    assert.deepEqual(await why(3, null), ['internal', 'the process of the statement ended with exit code 3']);
    assert.deepEqual(await why(null, 'SIGSEGV'), [
      'internal',
      'the process of the statement ended by SIGSEGV',
    ]);
  });
});
