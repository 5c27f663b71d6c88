#!/usr/bin/env node
import './require-node.js';

// A Node that cannot read TypeScript must get the sentence above, so nothing else is imported statically.
const { enableCompileCache } = await import('node:module');
// Types are stripped and code is compiled once, not at each start: --help takes half the time. In the checkout and not in the shared
// temporary folder, where others could leave code for us to run. Where it cannot be written, nothing is lost but time.
const cache = `${import.meta.dirname}/../node_modules/.cache/feedback-mirror`;
enableCompileCache(cache);
// For its threads, which would otherwise strip and compile the same files again.
process.env.NODE_COMPILE_CACHE ??= cache;
await import('./main.ts');
