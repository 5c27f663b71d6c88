// Plain JavaScript of an old dialect on purpose: this file must load on any Node, to say that the rest will not.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `feedback-mirror needs Node 24 or newer and this is Node ${process.versions.node}: run it as "npx feedback-mirror" inside the checkout after "npm ci", which brings the right Node along.\n`,
  );
  process.exit(2);
}
