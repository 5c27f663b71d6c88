import { type SandboxOptions, startSandbox } from './server.ts';

export const LABORATORY = import.meta.filename;

/** The sandbox of the laboratory in a process of its own: `node main.ts OPTIONS`. The first line of stdout is its address. */
if (process.argv[1] === LABORATORY) {
  const sandbox = await startSandbox(JSON.parse(process.argv[2] ?? '{}') as SandboxOptions);
  process.stdout.write(`${sandbox.url}\n`);
  process.once('SIGTERM', () => void sandbox.close());
}
