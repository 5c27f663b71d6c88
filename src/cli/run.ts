import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { AppError, codeOf, messageOf } from '../base/errors.ts';
import { COMMANDS } from './commands.ts';
import { addSettingFlags, maskSecrets } from './context.ts';
import { EXIT_CODES } from './exit.ts';

/** argv in, exit code out. Never throws. */
export async function run(argv: readonly string[]): Promise<number> {
  const stop = stopOnSignals();
  const program = buildProgram(stop);
  try {
    refuseSecretFlags(argv);
    await program.parseAsync(argv, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_CODES.usage;
    report(error, argv.includes('--json'));
    return EXIT_CODES[codeOf(error)];
  }
}

function buildProgram(stop: AbortSignal): Command {
  const program = new Command('feedback-mirror')
    .description('An exact local mirror of a product-feedback service, and a safe way to send posts to it.')
    .version(version(), '--version', 'print the version')
    .exitOverride()
    .configureHelp({ showGlobalOptions: false })
    .addHelpText('after', '\nEvery command explains itself: feedback-mirror <command> --help');
  addSettingFlags(program);
  for (const register of COMMANDS) register(program, stop);
  for (const command of program.commands) command.exitOverride();
  return program;
}

function version(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(file) as { version: string }).version;
}

/** Arguments are visible to every process of the machine and stay in the shell's history. */
function refuseSecretFlags(argv: readonly string[]): void {
  if (!argv.some((arg) => /^--feedback-api-token(=|$)/.test(arg))) return;
  throw new AppError(
    'usage',
    'the token is not taken as a flag, where every process on this machine could read it',
    {
      hint: 'Set FEEDBACK_API_TOKEN in the environment or in .env, or FEEDBACK_API_TOKEN_FILE to the path of a file that holds it.',
    },
  );
}

/** The first signal asks everything to stop; a second one is not waited for. */
function stopOnSignals(): AbortSignal {
  const controller = new AbortController();
  let asked = false;
  const onSignal = (name: NodeJS.Signals): void => {
    if (asked) process.exit(EXIT_CODES.interrupted);
    asked = true;
    controller.abort(new AppError('interrupted', `stopped by ${name}`));
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, onSignal);
  return controller.signal;
}

function report(error: unknown, json: boolean): void {
  const code = codeOf(error);
  const hint = error instanceof AppError ? error.hint : undefined;
  if (json) {
    process.stderr.write(
      `${maskSecrets(JSON.stringify({ error: { code, message: messageOf(error), hint } }))}\n`,
    );
    return;
  }
  const detail = code === 'internal' && error instanceof Error ? `\n${error.stack ?? ''}` : '';
  const lines = [`feedback-mirror: ${messageOf(error)}`, ...(hint ? [hint] : [])];
  process.stderr.write(`${maskSecrets(lines.join('\n') + detail)}\n`);
}
