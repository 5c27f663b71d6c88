import type { Command } from 'commander';
import { counted, sizeText } from '../text/text.ts';
import type { Backup } from '../upkeep/backup.ts';
import { type Context, openContext, sayIfElsewhere } from './context.ts';

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('backup')
    .argument('<file>', 'where the copy goes')
    .description('copy the mirror while it is in use, and check the copy')
    .addHelpText('after', HELP)
    .action((file: string) => backUp(openContext(program, stop), file));
}

const HELP = `
To use a copy, stop the service and run "feedback-mirror restore --from FILE --yes". Before the restored mirror sends
anything, it looks for rows that may have been sent since. In the same data folder it also erases again the people who
were erased since. "status" shows how far that is.

Example:
  feedback-mirror backup feedback-$(date +%F).db`;

async function backUp(context: Context, file: string): Promise<void> {
  const { settings, signal, answer } = context;
  const place = await sayIfElsewhere([context]);
  const { backUpMirror } = await import('../app/upkeep.ts');
  const copy = await backUpMirror(settings, file, signal);
  answer(
    { ...copy, ...place },
    () => `${copy.path}  ${sizeText(copy.bytes)}, checked: ${rowsText(copy.rows)}`,
  );
}

export function rowsText({ posts, comments, users, outbox }: Backup['rows']): string {
  return [
    counted(posts, 'post'),
    counted(comments, 'comment'),
    counted(users, 'person', 'people'),
    counted(outbox, 'outbox row'),
  ].join(', ');
}
