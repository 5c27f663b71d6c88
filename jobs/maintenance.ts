import { mirrorOf } from '../src/app/place.ts';
import { doMirrorHousekeeping, eraseExpiredRows, keepMirrorBackup } from '../src/app/upkeep.ts';
import { AppError, codeOf, messageOf } from '../src/base/errors.ts';
import { HOUSEKEEPING } from '../src/upkeep/housekeeping.ts';
import type { JobContext, JobDefinition } from './context.ts';

/** One thing to keep in order; returns what it did, in numbers. */
interface Step {
  name: string;
  run(context: JobContext): Promise<object>;
}

/** Erasing goes first, so that the copy of the mirror no longer holds what was to be forgotten. */
const STEPS: readonly Step[] = [
  { name: 'erase deleted rows whose time is up', run: ({ app, signal }) => eraseExpiredRows(app, signal) },
  {
    name: 'renew the checked copy of the mirror',
    async run({ app, signal }) {
      const file = app.state.mirrorFile();
      // The last good copy is what the operator restores from.
      if (file !== 'in place')
        throw new AppError('storage', `the file of the mirror was ${file}; the last copy is kept`);
      const { bytes } = await keepMirrorBackup(app.settings, signal);
      return { bytes };
    },
  },
  ...HOUSEKEEPING.map((name) => ({
    name,
    run: async ({ app }: JobContext) => ({ count: await doMirrorHousekeeping(app, name) }),
  })),
  {
    name: 'compact the queue',
    async run({ backend }) {
      await backend.upkeep();
      return {};
    },
  },
];

/** Everything that has to be done once a day. A step that fails does not keep the others from being done. */
export const maintenance: JobDefinition = {
  name: 'maintenance',
  async run(context) {
    const { clock, log, state } = context.app;
    const failed: string[] = [];
    const began = clock.monotonic();
    for (const step of STEPS) {
      if (context.signal.aborted) return 'stopped';
      try {
        const did = await step.run(context);
        log.debug({ event: 'maintenance.step.completed', step: step.name, ...did }, step.name);
      } catch (error) {
        failed.push(step.name);
        log.error(
          { event: 'maintenance.step.failed', step: step.name },
          `could not ${step.name}: ${messageOf(error)}`,
        );
      }
    }
    state.noteHousekeeping(clock.now());
    const ms = Math.round(clock.monotonic() - began);
    const steps = STEPS.length - failed.length;
    log.info({ event: 'maintenance.completed', steps, failed, ms }, `maintenance: ${steps} steps`);
    return { failed };
  },
};

export const exportAll: JobDefinition = {
  name: 'export',
  async run({ app, signal }) {
    const { settings, clock, log } = app;
    const [{ openExportSource }, { exportOnSchedule }] = await Promise.all([
      import('../src/export/store/export.ts'),
      import('../src/export/schedule.ts'),
    ]);
    const source = openExportSource(mirrorOf(settings));
    const began = clock.monotonic();
    try {
      const { exportFormat: format, exportDir: root } = settings;
      const { folder, manifest, removed } = await exportOnSchedule(source, { root, format, clock, signal });
      const files = manifest.files.length;
      const ms = Math.round(clock.monotonic() - began);
      log.info(
        { event: 'export.completed', folder, files, removed: removed.length, ms },
        `exported the mirror: ${files} files in ${folder}`,
      );
      return { folder, files };
    } catch (error) {
      if (codeOf(error) === 'interrupted') return 'stopped';
      log.error({ event: 'export.failed', code: codeOf(error) }, `the export failed: ${messageOf(error)}`);
      throw error;
    } finally {
      await source.close();
    }
  },
};
