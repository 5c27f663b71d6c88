import { it } from 'node:test';
import { pathToFileURL } from 'node:url';

/** Loads test files into this process, one after the other. */
export async function load(files: readonly string[]): Promise<void> {
  for (const file of files) {
    try {
      await import(pathToFileURL(file).href);
    } catch (error) {
      // One file that cannot be loaded keeps no other from being run.
      it(file, () => {
        throw error;
      });
    }
  }
}
