import { eraseExpiredRows, keepMirrorBackup, tidyMirror } from '../src/app/upkeep.ts';
import { messageOf } from '../src/base/errors.ts';
import { TIDYING } from '../src/store/housekeeping.ts';
import type { JobContext, JobDefinition } from './context.ts';

/** One thing to keep in order; returns what it did, in numbers. */
interface Step {
  name: string;
  run(context: JobContext): Promise<object>;
}

/** What is to be forgotten goes first, so that the copy of the mirror no longer holds it either. */
const STEPS: readonly Step[] = [
  { name: 'erase deleted rows whose time is up', run: ({ app, signal }) => eraseExpiredRows(app, signal) },
  {
    name: 'renew the checked copy of the mirror',
    async run({ app, signal }) {
      const { bytes } = await keepMirrorBackup(app.settings, signal);
      return { bytes };
    },
  },
  ...TIDYING.map((name) => ({
    name,
    run: async ({ app }: JobContext) => ({ count: await tidyMirror(app, name) }),
  })),
  {
    name: 'tidy the queue',
    async run({ backend }) {
      await backend.upkeep();
      return {};
    },
  },
];

/** Everything that only has to be done once a day. A step that fails does not keep the others from being done. */
export const housekeeping: JobDefinition = {
  name: 'housekeeping',
  queue: 'upkeep',
  async run(context) {
    const { app } = context;
    const failed: string[] = [];
    for (const step of STEPS) {
      if (context.signal.aborted) return 'stopped';
      const began = app.clock.monotonic();
      try {
        const did = await step.run(context);
        app.log.info({ ...did, ms: Math.round(app.clock.monotonic() - began) }, `housekeeping: ${step.name}`);
      } catch (error) {
        failed.push(step.name);
        app.log.error({ reason: messageOf(error) }, `housekeeping failed: ${step.name}`);
      }
    }
    app.state.noteHousekeeping(app.clock.now());
    return { failed };
  },
};
