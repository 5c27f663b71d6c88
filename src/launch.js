import { existsSync, mkdirSync, statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

// Loading the program grows V8's space for new objects, and V8 keeps it. With the space that it begins with, an idle service takes 23 MB
// less. In src/cli/sync.ts it grows a little.
const isLean = ['start', 'mcp', 'sync'].some((command) => process.argv.includes(command));
if (isLean) setFlagsFromString('--semi-space-growth-factor=1');
// V8 lets its space for older objects grow to a multiple of what lives before it collects. With a third more at most, a service of
// twenty sources takes 463 MB instead of 595 while it reads all of them for the first time, in the same time.
if (process.argv.includes('start')) setFlagsFromString('--heap-growing-percent=30');
// The checkout runs its TypeScript; a package has what "npm run build" made of it, for Node strips no types below node_modules.
const source = join(import.meta.dirname, 'main.ts');
const isCheckout = existsSync(source);
const cache = cacheFolder();
if (cache !== null) {
  enableCompileCache(cache);
  // For its child processes, which would otherwise compile the same files again.
  process.env.NODE_COMPILE_CACHE ??= cache;
}
await import(isCheckout ? './main.ts' : '../dist/src/main.js');

/**
 * Where compiled code is kept, so that it is compiled once and not at each start: --help takes half the time. In the checkout, or for an
 * installed program in the cache folder of the user, or in the data folder for one without a home. Never in the shared temporary
 * folder or a folder of another user, who could leave code for us to run. Without any, nothing is lost but time.
 * @returns {string | null}
 */
function cacheFolder() {
  if (isCheckout) return join(import.meta.dirname, '../node_modules/.cache/feedback-mirror');
  const { DATA_DIR: data, XDG_CACHE_HOME: caches } = process.env;
  const home = homeFolder();
  // By the XDG specification a relative path counts as none: it would mean another folder wherever the program is started.
  const ofUser =
    caches && isAbsolute(caches) ? caches : home && isAbsolute(home) ? join(home, '.cache') : null;
  const ofData = data && existsSync(data) ? join(data, 'cache') : null;
  const folders = [ofUser && join(ofUser, 'feedback-mirror'), ofData];
  return folders.find((folder) => folder && isOurs(folder)) || null;
}

/** A user that no file of users knows has none, unless HOME says so: Node throws. */
function homeFolder() {
  try {
    return homedir();
  } catch {
    return null;
  }
}

/** @param {string} folder */
function isOurs(folder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return statSync(folder).uid === (process.getuid?.() ?? statSync(folder).uid);
  } catch {
    return false;
  }
}
