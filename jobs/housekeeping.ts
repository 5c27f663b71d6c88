import { tidyMirror } from '../src/app.ts';
import { messageOf } from '../src/base/errors.ts';
import { TIDYING } from '../src/store/housekeeping.ts';
import type { JobContext, JobDefinition } from './context.ts';

/** One thing to keep in order; returns what it did, in numbers. */
interface Step {
  name: string;
  run(context: JobContext): Promise<object>;
}

const STEPS: readonly Step[] = [
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
      const began = app.clock.now();
      try {
        const did = await step.run(context);
        app.log.info({ ...did, ms: app.clock.now() - began }, `housekeeping: ${step.name}`);
      } catch (error) {
        failed.push(step.name);
        app.log.error({ reason: messageOf(error) }, `housekeeping failed: ${step.name}`);
      }
    }
    app.state.noteHousekeeping(app.clock.now());
    return { failed };
  },
};
