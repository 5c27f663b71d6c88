import type { Command } from 'commander';
import { settingLines } from '../../config/load.ts';
import { type Context, eachSource, openContexts } from './context.ts';
import { table } from './table.ts';

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('config')
    .description('print the effective settings, secrets masked')
    .addHelpText('after', '\nExample:\n  feedback-mirror config --data-dir /srv/feedback')
    .action(() => eachSource(openContexts(program, stop), showConfig));
}

async function showConfig(context: Context): Promise<void> {
  const lines = settingLines(context.settings);
  const values = Object.fromEntries(lines.map(({ name, value, from }) => [name, { value, from }]));
  const rows = lines.map((l) => [l.name, l.value ?? l.otherwise, l.from, l.meaning]);
  context.answer(values, () => table(['setting', 'value', 'from', 'meaning'], rows));
}
