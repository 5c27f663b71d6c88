import { tmpdir } from 'node:os';
import { run } from '../../src/cli/run.ts';
import type { HostedCommand } from './cli.ts';

/**
 * Runs command after command in one process, as `runCli` asks for them: loading the program takes most of the half second of processor
 * time that a command of a test would otherwise cost.
 */
process.on('message', async ({ args, env, cwd, mark }: HostedCommand) => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.exitCode = undefined;
  const code = await run(args);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException']) process.removeAllListeners(name);
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
  // The folder may be removed now, and the next command goes to its own.
  process.chdir(tmpdir());
  for (const stream of [process.stdout, process.stderr]) stream.write(`${mark}${code}\n`);
});
process.on('disconnect', () => process.exit());
