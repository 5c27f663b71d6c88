import type { Command } from 'commander';
import { SETTINGS, type SettingKey } from '../../config/schema.ts';
import { type Context, openContext } from './context.ts';
import { table } from './table.ts';

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('config')
    .description('print the effective settings, secrets masked')
    .addHelpText('after', '\nExample:\n  feedback-mirror config --data-dir /srv/feedback')
    .action(() => showConfig(openContext(program, stop)));
}

interface Line {
  name: string;
  value: string | null;
  from: string;
  meaning: string;
}

function showConfig(context: Context): void {
  const lines = (Object.keys(SETTINGS) as SettingKey[]).map((key) => line(context, key));
  if (context.json) {
    context.print(
      JSON.stringify(Object.fromEntries(lines.map(({ name, value, from }) => [name, { value, from }]))),
    );
    return;
  }
  context.print(
    table(
      ['setting', 'value', 'from', 'meaning'],
      lines.map((l) => [l.name, l.value ?? '', l.from, l.meaning]),
    ),
  );
}

function line({ settings }: Context, key: SettingKey): Line {
  const { env, meaning, fallbackText } = SETTINGS[key];
  return {
    name: env,
    value: fallbackTextOr(settings[key], fallbackText),
    from: settings.sources[key],
    meaning,
  };
}

function fallbackTextOr(value: unknown, text: string | undefined): string | null {
  return value === null ? (text ?? null) : String(value);
}
