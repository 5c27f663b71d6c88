import { join } from 'node:path';
import { styleText } from 'node:util';
import type { Command } from 'commander';
import { readDotenv } from '../../config/load.ts';
import { unknownNames } from '../../config/spelling.ts';
import { versionText } from '../base/program.ts';
import type { Check, Finding } from '../doctor/check.ts';
import { oneLine } from '../text/text.ts';
import {
  type Context,
  EXIT_CODES,
  eachSource,
  machinesElsewhere,
  maskSecrets,
  openContexts,
} from './context.ts';

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('doctor')
    .description('check settings, data folder, mirror, upstream, queue and service, and say what to do')
    .option('--deep', 'read every page of a large mirror too: 20 s a gigabyte')
    .option('--rebuild', 'make what reports add up again from the rows of the mirror, then check')
    .addHelpText('after', HELP)
    .action((flags: Flags) => eachSource(openContexts(program, stop), (context) => doctor(context, flags)));
}

interface Flags {
  deep?: true;
  rebuild?: true;
}

const HELP = `
Without --rebuild nothing is changed: the mirror is opened for reading (from an older copy, who was erased since is erased first), and the
upstream is asked for one page. A mirror of up to 100 MB is read whole, a larger one with --deep; the service checks its
copy whole every night. Without a failure the exit code is 0, whatever the warnings; else it is that of the first failure.

Examples:
  feedback-mirror doctor
  feedback-mirror doctor --deep
  feedback-mirror doctor --json
  feedback-mirror doctor --rebuild`;

async function doctor(context: Context, { deep, rebuild }: Flags): Promise<void> {
  if (rebuild) {
    const { rebuildSums } = await import('../app/upkeep.ts');
    await rebuildSums(context.settings, context.signal);
  }
  const [{ doctorInput }, { examine, examineElsewhere }, { check, fine }] = await Promise.all([
    import('../app/doctor-input.ts'),
    import('../doctor/examine.ts'),
    import('../doctor/check.ts'),
  ]);
  const machines = await machinesElsewhere([context]);
  const checks: Check[] = [];
  const note = (found: Check): void => {
    checks.push(found);
    if (!context.json) context.print(lineOf(found));
  };
  note(await check('version', () => fine(versionText())));
  note(await check('Node', () => fine(process.versions.node)));
  note(await check('settings', () => examineSettings(context)));
  const input = { ...doctorInput(context.settings, context.input), isDeep: deep === true };
  const examined = machines.has(context)
    ? examineElsewhere(input, machines.get(context) ?? null, context.signal)
    : examine(input, context.signal);
  for await (const found of examined) note(found);
  const failed = checks.find(({ state }) => state === 'fail');
  if (context.json) context.print(maskSecrets(JSON.stringify({ ok: !failed, checks })));
  if (failed) process.exitCode = EXIT_CODES[failed.code ?? 'internal'];
}

/** A wrong value has stopped the program before: what is left are names that do nothing, and a file that tells secrets. */
async function examineSettings({ input, settings }: Context): Promise<Finding> {
  const [{ examineFile }, { warning, fine }] = await Promise.all([
    import('../doctor/machine.ts'),
    import('../doctor/check.ts'),
  ]);
  const [unknown] = unknownNames(input.env, readDotenv(input));
  if (unknown)
    return warning(
      `${unknown.name} is set and is no setting of this program`,
      unknown.near === null ? 'Remove it, or see "feedback-mirror config".' : `Did you mean ${unknown.near}?`,
      'unknown-setting',
    );
  const given = Object.values(settings.origins).filter((origin) => origin !== 'default').length;
  return examineFile(join(input.cwd, '.env')) ?? fine(`${given} set, the others as they are by default`);
}

const WIDTH = 'deletions of comments'.length;
const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/** In a terminal with colours; NO_COLOR is honoured. */
function coloured(state: Check['state']): string {
  const text = state.padEnd(4);
  return process.stdout.isTTY ? styleText(COLOURS[state], text, { stream: process.stdout }) : text;
}

function lineOf({ name, state, detail, advice, runbook }: Check): string {
  const line = `${coloured(state)}  ${name.padEnd(WIDTH)}  ${oneLine(detail)}`;
  const below = [advice, ...runbook.map((row) => `See ${row}`)].flatMap((text) => text ?? []);
  const indented = below.map((text) => `${' '.repeat(WIDTH + 8)}${oneLine(text)}`);
  return maskSecrets([line, ...indented].join('\n'));
}
