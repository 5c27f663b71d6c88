// Plain JavaScript of an old dialect on purpose: this file must load on any Node, to say that the rest will not.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `feedback-mirror needs Node 22.19 or newer and this is Node ${process.versions.node}: install a newer Node, or in a checkout run "npm ci" and then "npx feedback-mirror", which brings Node 24 along.\n`,
  );
  process.exit(2);
}
