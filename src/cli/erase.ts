import type { Command } from 'commander';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { type Context, openContext } from './context.ts';
import { EXIT_CODES } from './exit.ts';

interface Flags {
  email?: string;
  lift?: true;
  newKey?: true;
}

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('erase')
    .description(
      'remove a person from the mirror, its history, index and outbox, and keep them from coming back',
    )
    .option('--email <address>', 'whom to erase')
    .option('--lift', 'end it: the next sweep brings back what the upstream shows')
    .option('--new-key', 'start a new suppression list, when the key of the old one is lost')
    .addHelpText('after', HELP)
    .action((flags: Flags) => erase(openContext(program, stop), flags));
}

const HELP = `
Rows stay, without words and names, so that counts hold. Keep the receipt; it names what has to be erased elsewhere.

Examples:
  feedback-mirror erase --email ada@example.com
  feedback-mirror erase --email ada@example.com --json > receipt.json
  feedback-mirror erase --email ada@example.com --lift`;

async function erase(context: Context, flags: Flags): Promise<void> {
  if (flags.newKey && (flags.email !== undefined || flags.lift))
    throw new AppError('usage', '--new-key stands alone: it is about the whole list');
  if (flags.newKey) return await startNewList(context);
  if (flags.email === undefined) throw new AppError('usage', '--email is missing: say whom to erase');
  return flags.lift ? await lift(context, flags.email) : await erasePerson(context, flags.email);
}

async function erasePerson(context: Context, email: string): Promise<void> {
  const { settings, signal } = context;
  const [app, flow, files, text] = await Promise.all([
    import('../app/upkeep.ts'),
    import('../erasure/erase.ts'),
    import('../erasure/files.ts'),
    import('./erase-text.ts'),
  ]);
  const { store, compact } = app.openErasure(settings, 'erase');
  try {
    const done = await flow.erasePerson({ store, compact, clock: systemClock, signal }, email);
    const backupRenewed = await app.renewMirrorBackup(settings, signal);
    const { dataDir, exportDir, mirrorPath: mirror } = settings;
    const untouched = await files.untouchedFiles({ dataDir, exportDir, mirror, email });
    const receipt = { email: email.trim(), ...done, backupRenewed, ...untouched };
    const unfinished = text.unfinishedText(receipt);
    context.print(context.json ? JSON.stringify({ ...receipt, unfinished }) : text.receiptText(receipt));
    if (unfinished.length > 0) process.exitCode = EXIT_CODES.partial;
  } finally {
    await store.close();
  }
}

async function lift(context: Context, email: string): Promise<void> {
  const [{ openErasure }, { liftSuppression }] = await Promise.all([
    import('../app/upkeep.ts'),
    import('../erasure/erase.ts'),
  ]);
  const { store } = openErasure(context.settings, 'erase');
  try {
    const lifted = await liftSuppression(store, email);
    if (context.json) context.print(JSON.stringify({ lifted }));
    else
      context.print(
        lifted
          ? 'taken off the suppression list; the next sweep brings back what the upstream shows'
          : 'not on the suppression list; nothing was changed',
      );
  } finally {
    await store.close();
  }
}

async function startNewList(context: Context): Promise<void> {
  const { openErasure } = await import('../app/upkeep.ts');
  const { store } = openErasure(context.settings, 'erase');
  try {
    const forgotten = await store.newKey();
    if (context.json) context.print(JSON.stringify({ forgotten }));
    else
      context.print(
        `${forgotten} ${forgotten === 1 ? 'address' : 'addresses'} forgotten. People known to the upstream by number stay erased; erase the others again.`,
      );
  } finally {
    await store.close();
  }
}
