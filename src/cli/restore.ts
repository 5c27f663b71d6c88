import type { Command } from 'commander';
import { passwordOf } from '../../config/load.ts';
import { postgresUrl } from '../../config/parse.ts';
import type { RestoredMirror } from '../app/restore.ts';
import { AppError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { KEY_HINT, unreadableText } from '../mirror/suppression/key-text.ts';
import { counted, durationText } from '../text/text.ts';
import { rowsText } from './backup.ts';
import { type Context, type Flags, maskAlso, openContext, readFlag } from './context.ts';

type RestoreFlags = Flags<'from', 'yes' | 'withoutKey'>;

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('restore')
    .description('put a backup in the place of the mirror, or make a data folder from the copy in PostgreSQL')
    .option(
      '--from <backup>',
      'a file of "backup", or postgres://user@host/database; PUBLISH_URL where it is left out',
    )
    .option('--yes', 'also where there is a mirror already: it is kept under another name')
    .option(
      '--without-key',
      'also where suppression.key is not in the data folder: nothing is read from upstream until it is',
    )
    .addHelpText('after', HELP)
    .action((flags: RestoreFlags) => restore(openContext(program, stop), flags));
}

const HELP = `
First stop the service, and every command that reads on, such as "changes --follow". The command checks the backup, and
leaves it as it is. History and outbox come back with it. Before the program sends anything, it looks for rows that may
have been sent since the backup, and for rows that you import again. In the same data folder it also erases again the
people who were erased since. After a restore from PostgreSQL, never start the lost machine again: the copy belongs to
the new one. Every process of this machine can read the arguments of a command. If the URL has a password, set
PUBLISH_URL instead.

Examples:
  feedback-mirror restore --from feedback-2026-01-31.db --yes
  PUBLISH_URL=postgres://mirror:secret@db/warehouse feedback-mirror restore
  feedback-mirror restore --from postgres://mirror@db/warehouse --publish-schema feedback`;

async function restore(context: Context, flags: RestoreFlags): Promise<void> {
  const { settings, signal } = context;
  const begun = performance.now();
  const { from, yes: replace = false, withoutKey = false } = flags;
  const request = { replace, withoutKey, signal };
  const restored =
    from === undefined || from.includes('://')
      ? await (await import('../app/publish.ts')).restoreFromCopy(settings, {
          ...request,
          ...sourceOf(context, from),
        })
      : await (await import('../app/restore.ts')).restoreFromFile(settings, { ...request, file: from });
  const hasWebhooks = settings.webhooks.length > 0;
  context.answer(restored, () => restoredText(restored, { ms: performance.now() - begun, hasWebhooks }));
}

function sourceOf({ settings }: Context, from: string | undefined): { url: Secret; setting: string } {
  if (from !== undefined) {
    const url = readFlag('--from', postgresUrl, from);
    for (const secret of [url, passwordOf(url)]) if (secret) maskAlso(secret);
    return { url, setting: '--from' };
  }
  if (settings.publishUrl) return { url: settings.publishUrl, setting: 'PUBLISH_URL' };
  throw new AppError('usage', '--from is missing: say where the copy is', {
    hint: 'For example: feedback-mirror restore --from copy.db, or --from postgres://user@host/database',
  });
}

function restoredText(
  restored: RestoredMirror,
  { ms, hasWebhooks }: { ms: number; hasWebhooks: boolean },
): string {
  const { path, keptAs, readAt, rows, checking, unreadableList, erasures, isCovered } = restored;
  const lines = [
    `${path}  restored from the copy of ${readAt ?? 'an unknown moment'} in ${durationText(ms)}: ${rowsText(rows)}`,
    ...(keptAs === null ? [] : [`The mirror that was there is ${keptAs}.`]),
    `${counted(checking, 'outbox row')} may have been sent since then: looked for upstream before anything is sent.`,
    ...(unreadableList ? [`${unreadableText(unreadableList)}. ${KEY_HINT}`] : []),
    ...(hasWebhooks
      ? ['Webhooks are told of what changes from now on: what they had not been told yet is not in the copy.']
      : []),
    isCovered
      ? `${counted(erasures, 'person', 'people')} erased after that moment: erased again.`
      : 'Erase again whom you erased after that moment.',
    'Import again what you imported after it: rows that were sent are found.',
    '"feedback-mirror start" continues from here.',
  ];
  return lines.join('\n');
}
