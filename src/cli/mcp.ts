import type { Command } from 'commander';
import { secretsOf } from '../../config/load.ts';
import { missingPackage } from '../base/program.ts';
import { type Context, openContext, sayIfElsewhere } from './context.ts';

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('mcp')
    .description('tools for an assistant that speaks the Model Context Protocol, on stdin and stdout')
    .addHelpText('after', HELP)
    .action(() => serve(openContext(program, stop)));
}

const HELP = `
It answers from the mirror: neither the service nor its token is needed. E-mail addresses and names are pseudonyms unless
MCP_PERSONAL=on. Keep the mirror fresh with "feedback-mirror start" or "feedback-mirror sync".

Example:
  feedback-mirror mcp --data-dir /path/to/data

The same in the configuration of a client:
  { "mcpServers": { "feedback": { "command": "feedback-mirror", "args": ["mcp", "--data-dir", "/path/to/data"] } } }`;

async function serve(context: Context): Promise<void> {
  await sayIfElsewhere([context]);
  const { settings, signal } = context;
  const [{ serveOnStdio }, { createLogger }] = await Promise.all([
    import('../mcp/stdio.ts'),
    import('../base/log.ts'),
  ]).catch((error: unknown) => {
    throw missingPackage(error) ?? error;
  });
  const { logLevel: level, logFormat: format } = settings;
  // On stderr, because stdout carries the protocol.
  const log = createLogger({ level, format, secrets: () => secretsOf(settings) });
  await serveOnStdio({ settings, log }, signal);
}
