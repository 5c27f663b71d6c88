import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Job } from 'bullmq';
import type { JobContext } from '../../jobs/context.ts';
import { maintenance } from '../../jobs/maintenance.ts';
import type { MirrorFile } from '../../src/store/service-state.ts';
import { fakeClock } from '../support/clock.ts';

/** A service whose mirror cannot be opened: every step that needs it fails. */
function brokenService(file: MirrorFile = 'in place') {
  const clock = fakeClock();
  const stop = new AbortController();
  const noted: number[] = [];
  const told: string[] = [];
  let upkeeps = 0;
  const state = { mirrorFile: () => file, noteHousekeeping: (at: number) => void noted.push(at) };
  const error = (_facts: object, text: string) => void told.push(text);
  const context = {
    app: { clock, state, settings: {}, log: { error, info: () => undefined, debug: () => undefined } },
    backend: { upkeep: async () => void upkeeps++ },
    signal: stop.signal,
  } as unknown as JobContext;
  const run = () => maintenance.run(context, {} as Job);
  return { run, clock, stop, noted, told, upkeeps: () => upkeeps };
}

describe('maintenance', () => {
  it('goes on after a step that fails, tells of each, and is done for the day', async () => {
    const { run, clock, noted, told, upkeeps } = brokenService();
    const { failed } = Object(await run()) as { failed: string[] };
    assert.equal(failed[0], 'erase deleted rows whose time is up', 'before the copy is renewed');
    assert.equal(failed[1], 'renew the checked copy of the mirror');
    assert.equal(told.length, failed.length);
    assert.deepEqual([upkeeps(), noted], [1, [clock.now()]]);
  });

  for (const file of ['removed', 'replaced'] as const)
    it(`keeps the last copy of a mirror whose file was ${file}`, async () => {
      const { run, told } = brokenService(file);
      await run();
      assert.match(told.join('\n'), new RegExp(`the file of the mirror was ${file}; the last copy is kept`));
    });

  it('that is told to stop is not done', async () => {
    const { run, stop, noted, upkeeps } = brokenService();
    stop.abort();
    assert.deepEqual([await run(), noted, upkeeps()], ['stopped', [], 0]);
  });
});
