import { resolve } from 'node:path';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';

/** The test file that holds the given ones: units share a process, because a start of Node takes longer than most of them. */
for (const file of process.argv.slice(2)) {
  try {
    await import(pathToFileURL(resolve(file)).href);
  } catch (error) {
    // One file that cannot be loaded keeps no other from being run.
    it(file, () => {
      throw error;
    });
  }
}
