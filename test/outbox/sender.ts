import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Sandbox, type SandboxOptions, startSandbox } from '../laboratory/server.ts';
import { type Bench, benchFor } from './bench.ts';
import type { Order } from './push-child.ts';

const CHILD = join(import.meta.dirname, 'push-child.ts');
const DEADLINE_MS = 30_000;

/** An outbox, a real service, and senders in processes of their own. */
export interface Stage {
  bench: Bench;
  sandbox: Sandbox;
  order: Order;
  /** As many rows, the last two of them twins. */
  addRows(count: number): Promise<number[]>;
  start(crashAt?: string): Sender;
  /** Exactly one post for each row, by the service's own ledger, and each row bound to one. */
  assertOnceEach(ids: number[]): Promise<void>;
}

export interface Sender {
  child: ChildProcess;
  /** How often it has gone to sleep. */
  naps(): number;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; output: string }>;
}

export async function stageFor(t: TestContext, options: SandboxOptions): Promise<Stage> {
  const bench = benchFor(t);
  const sandbox = await startSandbox({ posts: 20, ...options });
  t.after(() => sandbox.close());
  const order = { path: bench.path, url: sandbox.url, createMs: 700, settleMs: 200 };
  const board = sandbox.world.boards()[0]?.slug ?? '';
  return {
    bench,
    sandbox,
    order,
    async addRows(count) {
      const ids: number[] = [];
      for (let n = 1; n <= count; n++) {
        const content = `Please, number ${Math.min(n, count - 1)}.`;
        ids.push(await bench.add({ board, title: 'A wish', content }));
      }
      return ids;
    },
    start: (crashAt) => startSender(t, order, crashAt),
    async assertOnceEach(ids) {
      const rows = await Promise.all(ids.map((id) => bench.row(id)));
      assert.deepEqual(
        rows.map((row) => row.state),
        ids.map(() => 'confirmed'),
      );
      const ledger = sandbox.world.ledger();
      assert.deepEqual(new Set(rows.map((row) => row.post_id)), new Set(ledger.map((line) => line.post_id)));
      assert.equal(ledger.length, ids.length);
      for (const row of rows)
        assert.equal(row.content, ledger.find((line) => line.post_id === row.post_id)?.content);
    },
  };
}

function startSender(t: TestContext, order: Order, crashAt?: string): Sender {
  const env = { ...process.env, ...(crashAt === undefined ? {} : { FEEDBACK_TEST_CRASH: crashAt }) };
  const child = spawn(process.execPath, [CHILD, JSON.stringify(order)], {
    env,
    timeout: DEADLINE_MS,
    killSignal: 'SIGKILL',
  });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  const keep = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', keep);
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    output,
  }));
  return { child, ended, naps: () => output.split('sleeping').length - 1 };
}
