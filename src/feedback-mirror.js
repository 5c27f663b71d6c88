#!/usr/bin/env node
// An old Node must be able to read this file, to say that it is too old: no import statement, and nothing that Node 10.24 does not know,
// the oldest on which it was tried.
// Node 23 is left out because its first releases crash in packages that need what came with the later ones.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || major === 23 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `feedback-mirror needs Node 22 from 22.19 on, or Node 24 or newer, and this is Node ${process.versions.node}: install another Node, or in a checkout run "npm ci" and then "npx feedback-mirror", which brings Node 24 along.\n`,
  );
  process.exit(2);
}
void import('./launch.js');
