import { type Command, Option } from 'commander';
import { type LoadInput, loadSettings, type Settings, secretsOf } from '../../config/load.ts';
import { flagOf, SETTINGS } from '../../config/schema.ts';
import type { Secret } from '../base/secret.ts';

/** What a command gets to work with, besides its own flags. */
export interface Context {
  settings: Settings;
  input: LoadInput;
  json: boolean;
  /** Aborted by the first SIGINT or SIGTERM. */
  signal: AbortSignal;
  /** Data: stdout, nothing else goes there. */
  print(text: string): void;
  /** For the person: stderr. */
  say(text: string): void;
}

/** Every setting that is no secret is a flag of the whole program, before or after the command's name. */
export function addSettingFlags(program: Command): void {
  for (const { env, secret, meaning } of Object.values(SETTINGS)) {
    // Hidden, or thirty lines of settings would stand before the commands; "config" shows them all with their meaning.
    if (!secret) program.addOption(new Option(`${flagOf(env)} <value>`, `${meaning} (${env})`).hideHelp());
  }
  program.option('--json', 'machine-readable output');
}

export function openContext(program: Command, signal: AbortSignal): Context {
  const options = program.opts<Record<string, string | boolean | undefined>>();
  const input = loadInput(options);
  const settings = loadSettings(input);
  for (const secret of secretsOf(settings)) secretsInUse.add(secret);
  return {
    settings,
    input,
    json: options.json === true,
    signal,
    print: (text) => process.stdout.write(`${text}\n`),
    say: (text) => process.stderr.write(`${maskSecrets(text)}\n`),
  };
}

function loadInput(options: Record<string, string | boolean | undefined>): LoadInput {
  const flags: Record<string, string> = {};
  for (const { env } of Object.values(SETTINGS)) {
    const value = options[camelCase(env)];
    if (typeof value === 'string') flags[env] = value;
  }
  return { flags, env: process.env, cwd: process.cwd(), isTerminal: process.stderr.isTTY };
}

/** commander names options so: `--data-dir` is `dataDir`. */
function camelCase(env: string): string {
  return env.toLowerCase().replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The last net under every message printed on failure. */
const secretsInUse = new Set<Secret>();

export function maskSecrets(text: string): string {
  let masked = text;
  for (const secret of secretsInUse) masked = secret.mask(masked);
  return masked;
}
