import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The test file that holds the given ones: units share a process, because a start of Node takes longer than most of them. */
for (const file of process.argv.slice(2)) await import(pathToFileURL(resolve(file)).href);
