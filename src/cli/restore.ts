import type { Command } from 'commander';
import { passwordOf } from '../../config/load.ts';
import { postgresUrl } from '../../config/parse.ts';
import type { RestoredMirror } from '../app/publish.ts';
import { AppError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { counted, durationText } from '../base/text.ts';
import { KEY_HINT, unreadableText } from '../store/suppression/key-text.ts';
import { rowsText } from './backup.ts';
import { type Context, type Flags, maskAlso, openContext, readFlag } from './context.ts';

type RestoreFlags = Flags<'from', 'yes' | 'withoutKey'>;

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('restore')
    .description('make a data folder from the copy in PostgreSQL, after a lost disk or machine')
    .option('--from <url>', 'postgres://user@host/database; PUBLISH_URL where it is left out')
    .option('--yes', 'also where there is a mirror already: it is kept under another name')
    .option(
      '--without-key',
      'also where suppression.key is not in the data folder: nothing is read from upstream until it is',
    )
    .addHelpText('after', HELP)
    .action((flags: RestoreFlags) => restore(openContext(program, stop), flags));
}

const HELP = `
History and outbox come along. What the lost machine did after its last copy is not in it, so every row of the outbox that may
have been sent since is looked for upstream before anything is sent, and rows imported again are, too. The machine that was
lost must not run again: the copy belongs to the new one from here on. Every process of this machine can read the arguments of
a command: with a password in the URL, set PUBLISH_URL instead.

Examples:
  PUBLISH_URL=postgres://mirror:secret@db/warehouse feedback-mirror restore
  feedback-mirror restore --from postgres://mirror@db/warehouse --publish-schema feedback`;

async function restore(context: Context, flags: RestoreFlags): Promise<void> {
  const { settings, signal } = context;
  const begun = performance.now();
  const { url, setting } = sourceOf(context, flags);
  const { restoreFromCopy } = await import('../app/publish.ts');
  const { yes: replace = false, withoutKey = false } = flags;
  const restored = await restoreFromCopy(settings, { url, setting, replace, withoutKey, signal });
  const hasWebhooks = settings.webhooks.length > 0;
  context.answer(restored, () => restoredText(restored, { ms: performance.now() - begun, hasWebhooks }));
}

function sourceOf({ settings }: Context, { from }: RestoreFlags): { url: Secret; setting: string } {
  if (from !== undefined) {
    const url = readFlag('--from', postgresUrl, from);
    for (const secret of [url, passwordOf(url)]) if (secret) maskAlso(secret);
    return { url, setting: '--from' };
  }
  if (settings.publishUrl) return { url: settings.publishUrl, setting: 'PUBLISH_URL' };
  throw new AppError('usage', '--from is missing: say where the copy is', {
    hint: 'For example: feedback-mirror restore --from postgres://user@host/database',
  });
}

function restoredText(
  restored: RestoredMirror,
  { ms, hasWebhooks }: { ms: number; hasWebhooks: boolean },
): string {
  const { path, keptAs, readAt, rows, checking, unreadableList } = restored;
  const lines = [
    `${path}  restored from the copy of ${readAt} in ${durationText(ms)}: ${rowsText(rows)}`,
    ...(keptAs === null ? [] : [`The mirror that was there is ${keptAs}.`]),
    `${counted(checking, 'outbox row')} may have been sent since then: looked for upstream before anything is sent.`,
    ...(unreadableList ? [`${unreadableText(unreadableList)}. ${KEY_HINT}`] : []),
    ...(hasWebhooks
      ? ['Webhooks are told of what changes from now on: what they had not been told yet is not in the copy.']
      : []),
    'Erase again whom you erased after that moment, and import again what you imported after it: rows that were sent are found.',
    '"feedback-mirror start" goes on from here.',
  ];
  return lines.join('\n');
}
