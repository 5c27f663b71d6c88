#!/usr/bin/env node
import './require-node.js';

// A Node that cannot read TypeScript must get the sentence above, so nothing else is imported statically.
await import('./main.ts');
