import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient } from '../../src/api/client.ts';
import { systemClock } from '../../src/base/clock.ts';
import { Secret } from '../../src/base/secret.ts';
import type { FaultKind } from '../laboratory/server.ts';
import { drive } from './drive.ts';
import { stageFor } from './sender.ts';

/** Trouble in which the post is made, or may be, and the answer does not say so. */
const FAULTS: [name: string, spec: string][] = [
  ['an error after the post was made', 'status-after code=502 times=1'],
  ['a connection that breaks after the post was made', 'reset-after times=1'],
  ['an answer that is cut', 'cut on=creates times=1'],
  ['an answer without an id', 'no-id times=1'],
  ['a post that is made later than its answer says', 'late-commit ms=400 code=503 times=1'],
  ['a post that the list shows late', 'late-visible ms=400 times=1; reset-after times=1'],
  ['an answer that never comes', 'hang-after times=1'],
  ['an error before anything was done', 'status code=500 on=creates times=1'],
];

describe('over a real connection', { concurrency: 4 }, () => {
  for (const [name, faults] of FAULTS)
    it(`${name} leaves exactly one post, and its row confirmed`, async (t) => {
      const { bench, sandbox, order, addRows, assertOnceEach } = await stageFor(t, { faults });
      const ids = await addRows(2);
      const token = new Secret('sandbox');
      const limits = { createMs: order.createMs };
      const client = createClient({
        baseUrl: order.url,
        auth: { kind: 'header' },
        token: () => token,
        limits,
      });
      t.after(() => client.close());
      const { createMs, settleMs } = order;
      await drive(
        { ...bench.context, client, clock: systemClock, createMs, settleMs },
        { batch: null, perMinute: 60_000 },
      );
      for (const spec of faults.split('; ')) {
        const kind = spec.split(' ')[0] as FaultKind;
        assert.equal(sandbox.faults.fired()[kind], 1, `${kind} never happened`);
      }
      assert.equal((await bench.row(ids[0] ?? 0)).was_ambiguous, true);
      await assertOnceEach(ids);
    });
});
