import { exportSource } from '../src/app/readers.ts';
import { codeOf, messageOf } from '../src/base/errors.ts';
import { exportOnSchedule } from '../src/export/schedule.ts';
import { type JobDefinition, RunAgain } from './context.ts';

const AGAIN_MS = 60_000;

/** Writes the whole mirror to the folder of exports, for whoever reads files rather than tables. */
export const exportAll: JobDefinition = {
  name: 'export',
  queue: 'upkeep',
  async run({ app, signal }) {
    const { settings, clock, log } = app;
    const source = exportSource(settings);
    const began = clock.monotonic();
    try {
      const { exportFormat: format, exportDir: root } = settings;
      const { folder, manifest, removed } = await exportOnSchedule(source, { root, format, clock, signal });
      const files = manifest.files.length;
      log.info(
        { folder, files, removed: removed.length, ms: Math.round(clock.monotonic() - began) },
        'exported the mirror',
      );
      return { folder, files };
    } catch (error) {
      if (codeOf(error) === 'interrupted') return 'stopped';
      log.error({ code: codeOf(error) }, `the export failed: ${messageOf(error)}`);
      throw new RunAgain(messageOf(error), AGAIN_MS);
    } finally {
      await source.close();
    }
  },
};
