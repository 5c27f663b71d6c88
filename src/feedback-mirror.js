#!/usr/bin/env node
import './require-node.js';

// A Node that is too old must get the sentence above, so nothing else is imported statically.
const { existsSync, mkdirSync, statSync } = await import('node:fs');
const { enableCompileCache } = await import('node:module');
const { homedir } = await import('node:os');
const { join } = await import('node:path');
const { setFlagsFromString } = await import('node:v8');
// Loading the program would grow the space for new objects to 64 MB, which are never given back; see src/base/heap.ts.
setFlagsFromString('--semi-space-growth-factor=1');
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
  const ofUser = join(caches || join(homedir(), '.cache'), 'feedback-mirror');
  return [ofUser, ...(data && existsSync(data) ? [join(data, 'cache')] : [])].find(isOurs) ?? null;
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
