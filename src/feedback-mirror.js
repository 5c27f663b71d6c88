#!/usr/bin/env node
import './require-node.js';

// A Node that cannot read TypeScript must get the sentence above, so nothing else is imported statically.
const { enableCompileCache } = await import('node:module');
const { setFlagsFromString } = await import('node:v8');
// Loading the program would grow the space for new objects to 64 MB, which are never given back; see src/base/heap.ts.
setFlagsFromString('--semi-space-growth-factor=1');
// Types are stripped and code is compiled once, not at each start: --help takes half the time. In the checkout and not in the shared
// temporary folder, where others could leave code for us to run. Where it cannot be written, nothing is lost but time.
const cache = `${import.meta.dirname}/../node_modules/.cache/feedback-mirror`;
enableCompileCache(cache);
// For its child processes, which would otherwise strip and compile the same files again.
process.env.NODE_COMPILE_CACHE ??= cache;
await import('./main.ts');
