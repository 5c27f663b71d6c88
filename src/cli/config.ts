import type { Command } from 'commander';
import { printed, SETTINGS, type Setting, type SettingKey } from '../../config/schema.ts';
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
  /** What stands for no value, in words: for people, as a machine would take it for a value. */
  otherwise: string;
  from: string;
  meaning: string;
}

async function showConfig(context: Context): Promise<void> {
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
      lines.map((l) => [l.name, l.value ?? l.otherwise, l.from, l.meaning]),
    ),
  );
}

function line({ settings }: Context, key: SettingKey): Line {
  const definition: Setting<unknown> = SETTINGS[key];
  const value = settings[key];
  return {
    name: definition.env,
    value: value === null ? null : printed(definition, value),
    otherwise: definition.fallbackText ?? '',
    from: settings.sources[key],
    meaning: definition.meaning,
  };
}
