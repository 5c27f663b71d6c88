import { Command, CommanderError } from 'commander';
import { flagOf, SETTINGS } from '../../config/schema.ts';
import { AppError, codeOf, firstError, messageOf, storageError } from '../base/errors.ts';
import { missingPackage, programVersion, versionText } from '../base/program.ts';
import { addSettingFlags, EXIT_CODES, maskSecrets, READER_GONE, type Register, tell } from './context.ts';

/** The commands in the order of the help. Each file imports what its command needs when the command runs. */
const COMMANDS: Record<string, () => Promise<{ register: Register }>> = {
  init: () => import('./init.ts'),
  start: () => import('./start.ts'),
  sources: () => import('./sources.ts'),
  fleet: () => import('./fleet.ts'),
  sync: () => import('./sync.ts'),
  create: () => import('./create.ts'),
  import: () => import('./import.ts'),
  mcp: () => import('./mcp.ts'),
  outbox: () => import('./outbox.ts'),
  search: () => import('./search.ts'),
  similar: () => import('./similar.ts'),
  segments: () => import('./segments.ts'),
  rules: () => import('./rules.ts'),
  report: () => import('./report.ts'),
  changes: () => import('./changes.ts'),
  status: () => import('./status.ts'),
  doctor: () => import('./doctor.ts'),
  query: () => import('./query.ts'),
  export: () => import('./export.ts'),
  erase: () => import('./erase.ts'),
  backup: () => import('./backup.ts'),
  restore: () => import('./restore.ts'),
  sandbox: () => import('./sandbox.ts'),
  config: () => import('./config.ts'),
  completion: () => import('./completion.ts'),
};

/** argv in, exit code out. Never throws. */
export async function run(argv: readonly string[]): Promise<number> {
  const json = argv.includes('--json');
  const stop = stopOnSignals();
  catchStrays(json);
  const program = await buildProgram(stop, asked(argv));
  try {
    refuseSecretFlags(argv);
    await program.parseAsync(argv, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (caught) {
    const thrown = firstError(caught);
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0;
    const error = thrown instanceof CommanderError ? usageError(thrown, commandOf(program, argv)) : thrown;
    if (error !== HELP_SHOWN) tellFailure(error, json);
    return EXIT_CODES[codeOf(error)];
  }
}

/** Called without a command, commander has printed the help already. */
const HELP_SHOWN = new AppError('usage', 'no command given');

/** commander's message without the value of an unknown flag and without further words: either may be a secret. */
function usageError({ code, message }: CommanderError, command: Command): AppError {
  if (code === 'commander.help') return HELP_SHOWN;
  const [said = '', suggestion = ''] = message.replace(/^error: /, '').split(/\n(?=\(Did you mean .*\)$)/);
  const what = said.replace(/^(unknown option '--?[^=]*)=.*'$/s, "$1'");
  return new AppError('usage', code === 'commander.excessArguments' ? excess(what, command) : what, {
    hint: `${suggestion.slice(1, -1)} See ${pathOf(command)} --help.`.trim(),
  });
}

/** If a default sub-command takes an unknown word, commander complains about its arguments. */
function excess(what: string, command: Command): string {
  const names = command.commands.map((below) => below.name());
  return names.length > 0
    ? `there is no such sub-command; ${command.name()} has ${names.join(', ')}`
    : what.replace(/(got \d+): .*$/s, '$1.');
}

/** The command that the words before any mistake lead to. */
function commandOf(program: Command, argv: readonly string[]): Command {
  let command = program;
  for (const word of argv) command = command.commands.find((below) => below.name() === word) ?? command;
  return command;
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

const HELP = `
Every command explains itself: feedback-mirror <command> --help

Settings:
  Every setting of "feedback-mirror config" is an environment variable, a line in .env and a flag: DATA_DIR is --data-dir.
  A flag counts more than the environment, and that more than .env. Secrets have no flag; NAME_FILE is the path of a file.

Files:
  .env               settings, in the working folder; "feedback-mirror init" writes it
  data/mirror.db     the mirror and the outbox, an SQLite file; DATA_DIR names another folder
  data/queue.db      jobs of the service; made again when it is lost

Exit codes:
  0    done
  1    a defect of this program
  2    usage, settings or permissions
  3    the feedback service refused the token
  4    the feedback service could not be reached, or kept failing
  5    done in part; the output says what is left
  6    locked by another process
  7    the disk is full or fails, or a file on it is damaged
  130  interrupted
  141  the reader of the output closed it

Examples:
  feedback-mirror init                        connect your own service; without one the built-in sandbox is mirrored
  feedback-mirror sync                        make the first copy
  feedback-mirror start                       keep it fresh, send the outbox, serve the dashboard
  feedback-mirror search "dark mode"
  feedback-mirror report top-posts --board bugs
  feedback-mirror import ideas.csv --dry-run`;

/** The files of all commands take as long to load as Node itself, so a line that begins with a command loads that one alone. */
function asked([first = '']: readonly string[]): string[] {
  const isAlone = Object.hasOwn(COMMANDS, first) && first !== 'completion';
  return isAlone ? [first] : Object.keys(COMMANDS);
}

/** Commands by name, and every flag. Building it reads no setting and opens nothing. */
export async function buildProgram(stop: AbortSignal, names = Object.keys(COMMANDS)): Promise<Command> {
  const program = new Command('feedback-mirror')
    .description('An exact local mirror of a product-feedback service, and a safe way to send posts to it.')
    .option('--version', 'print version and commit')
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
    .configureHelp({ showGlobalOptions: false })
    .addHelpText('after', HELP);
  // commander's own option needs the text in advance, and a checkout asks git for it.
  program.on('option:version', () => {
    process.stdout.write(
      `${process.argv.includes('--json') ? JSON.stringify(programVersion()) : versionText()}\n`,
    );
    throw new CommanderError(0, 'commander.version', '');
  });
  addSettingFlags(program);
  const commands = await Promise.all(names.map((name) => COMMANDS[name]?.()));
  for (const command of commands) command?.register(program, stop);
  refuseRepeats(program);
  return program;
}

/** commander keeps the last value of a repeated flag, so `--board bugs --board ideas` would silently answer for one board. */
function refuseRepeats(command: Command): void {
  for (const option of command.options) {
    let isGiven = false;
    if (!option.isBoolean() && !option.parseArg)
      option.argParser((value) => {
        if (isGiven) throw new AppError('usage', `${option.long} was given twice`, { hint: ONE_VALUE });
        isGiven = true;
        return value;
      });
  }
  command.commands.forEach(refuseRepeats);
}

const ONE_VALUE = 'It takes one value.';

/** Arguments are visible to every process of the machine and stay in the shell's history. */
function refuseSecretFlags(argv: readonly string[]): void {
  const given = Object.values(SETTINGS).find(
    ({ env, secret }) =>
      secret && argv.some((arg) => arg === flagOf(env) || arg.startsWith(`${flagOf(env)}=`)),
  );
  if (!given) return;
  const { env } = given;
  throw new AppError(
    'usage',
    `${flagOf(env)} does not exist: every process on this machine could read a secret given as a flag`,
    { hint: `Set ${env} in the environment or in .env, or ${env}_FILE to the path of a file that holds it.` },
  );
}

/** Reports an error that no command waited for, once and masked. Node would dump it. */
function catchStrays(json: boolean): void {
  process.on('uncaughtException', (error) => {
    tellFailure(error, json);
    process.exit(EXIT_CODES[codeOf(error)]);
  });
  // `feedback-mirror … | head` closes the pipe early, and that is no defect to report.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(READER_GONE);
    throw storageError(error, 'the file that the output goes to') ?? error;
  });
  // A message that cannot be written, on a full disk or a closed pipe, does not end the work.
  process.stderr.on('error', () => undefined);
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
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  stopWithShell(() => onSignal('SIGTERM'));
  return controller.signal;
}

const LOOKED_EVERY_MS = 500;

/**
 * npx starts a shell that starts us, and passes a signal on to the shell, which ends and tells nobody. So the end of the shell counts as
 * the signal. Under `npm start` there is no shell (package.json has `exec`), and the end of npm itself counts.
 */
function stopWithShell(stop: () => void): void {
  if (!['npx', 'start'].includes(process.env.npm_lifecycle_event ?? '')) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, LOOKED_EVERY_MS).unref();
}

function tellFailure(thrown: unknown, json: boolean): void {
  const error =
    thrown instanceof AppError ? thrown : (storageError(thrown) ?? missingPackage(thrown) ?? thrown);
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
  tell(lines.join('\n') + detail);
}
