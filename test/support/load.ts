import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

/**
 * Loads test files into this process. They stand in one suite, because Node begins with tests once each suite is built.
 * Without it, `forceExit` ended the process as soon as all tests had run that it knew, and the files that were not yet loaded were lost.
 */
export function load(name: string, files: readonly string[]): void {
  writeAtOnce();
  // A process that ends before all files are loaded is a failure.
  process.exitCode = 1;
  describe(name, async () => {
    for (const file of files) await loadOne(file);
    process.exitCode = 0;
  });
}

/** `forceExit` ends the process with results in the pipe that a busy parent has not read: the count of tests was too low. */
function writeAtOnce(): void {
  const { _handle: pipe } = process.stdout as { _handle?: { setBlocking?(isBlocking: boolean): void } };
  pipe?.setBlocking?.(true);
}

async function loadOne(file: string): Promise<void> {
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    // One file that cannot be loaded keeps no other from being run.
    it(file, () => {
      throw error;
    });
  }
}
