import type { Command } from 'commander';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Erased, ErasurePreview } from '../erasure/erase.ts';
import type { UntouchedFiles } from '../erasure/files.ts';
import type { PersonKey } from '../erasure/store/store.ts';
import type { ErasedCounts } from '../mirror/suppression/person.ts';
import { counted } from '../text/text.ts';
import {
  askLine,
  type Context,
  canAsk,
  closing,
  EXIT_CODES,
  type Flags,
  openContext,
  refuseElsewhere,
  wholeNumber,
} from './context.ts';
import { table } from './table.ts';

type EraseFlags = Flags<'email' | 'user', 'yes' | 'lift' | 'newKey'>;

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('erase')
    .description(
      'remove a person from the mirror, its history, index and outbox, and keep them from coming back',
    )
    .option('--email <address>', 'whom to erase')
    .option('--user <id>', 'whom to erase, by the number of a user without an address')
    .option('--yes', 'erase without asking')
    .option('--lift', 'end it: the next sweep brings back what the upstream shows')
    .option('--new-key', 'start a new suppression list, when the key of the old one is lost')
    .addHelpText('after', HELP)
    .action((flags: EraseFlags) => erase(openContext(program, stop), flags));
}

const HELP = `
The command shows what it would erase, and asks. Scripts use --yes. If the mirror does not hold the person, nothing is
erased, and the exit code is 5. Rows stay without words and names, so that counts stay right. Keep the receipt: it
names what you have to erase elsewhere. The service erases the person from the copy in PostgreSQL.

Examples:
  feedback-mirror erase --email ada@example.com
  feedback-mirror erase --email ada@example.com --yes --json > receipt.json
  feedback-mirror erase --user 4711
  feedback-mirror erase --email ada@example.com --lift`;

async function erase(context: Context, flags: EraseFlags): Promise<void> {
  const { email, user, newKey } = flags;
  if (newKey && Object.keys(flags).length > 1)
    throw new AppError('usage', '--new-key stands alone: it is about the whole list');
  if (newKey) return await startNewList(context);
  if (email !== undefined && user !== undefined)
    throw new AppError('usage', '--email and --user are two ways to say whom to erase: give one');
  const whom = email ?? (user === undefined ? undefined : wholeNumber('--user', user));
  if (whom === undefined)
    throw new AppError('usage', '--email is missing: say whom to erase', {
      hint: 'For a person without an address, use --user with their number.',
    });
  await withErasure(context, (deps) => (flags.lift ? lift(deps, whom) : erasePerson(deps, whom, flags)));
}

interface Deps {
  context: Context;
  flow: typeof import('../erasure/erase.ts');
  app: typeof import('../app/upkeep.ts');
  erasure: import('../app/upkeep.ts').Erasure;
}

async function withErasure(context: Context, work: (deps: Deps) => Promise<void>): Promise<void> {
  await refuseElsewhere(context);
  const [app, flow] = await Promise.all([import('../app/upkeep.ts'), import('../erasure/erase.ts')]);
  const erasure = app.openErasure(context.settings, 'erase');
  await using _store = closing(erasure.store);
  await work({ context, flow, app, erasure });
}

async function erasePerson(
  { context, flow, app, erasure }: Deps,
  asked: PersonKey,
  flags: EraseFlags,
): Promise<void> {
  const { settings, signal } = context;
  const work = { ...erasure, clock: systemClock, signal };
  const preview = await flow.previewErasure(work, asked);
  const { whom, needles } = preview;
  if (isUnknown(preview)) throw unknown(whom);
  if (!flags.yes) await confirm(context, preview);
  // Before the erasure: a key that cannot be read must be restored first.
  const { pseudonymsOf } = await import('../export/redaction-key.ts');
  const email = typeof whom === 'string' ? whom : null;
  const pseudonyms = await pseudonymsOf(settings.dataDir, { email, names: needles });
  const done = await flow.erasePerson(work, whom);
  const backupRenewed = await app.renewMirrorBackup(settings, signal);
  const [{ untouchedFiles }, { mayHaveCopy }] = await Promise.all([
    import('../erasure/files.ts'),
    import('../app/publish.ts'),
  ]);
  const { dataDir, exportDir, mirrorPath: mirror } = settings;
  const untouched = await untouchedFiles({
    dataDir,
    exportDir,
    mirror,
    needles: [...needles, ...pseudonyms],
    hasTexts: preview.counts.posts + preview.counts.comments > 0,
  });
  const subject = typeof whom === 'string' ? { email: whom.trim() } : { user: whom };
  const postgresCopy = mayHaveCopy(settings);
  const receipt: Receipt = { ...subject, ...done, backupRenewed, postgresCopy, ...untouched };
  const unfinished = unfinishedText(receipt);
  context.answer({ ...receipt, unfinished }, () => receiptText(receipt, unfinished));
  if (unfinished.length > 0) process.exitCode = EXIT_CODES.partial;
}

function isUnknown({ isSuppressed, users, unsettled, counts }: ErasurePreview): boolean {
  const isEmpty = Object.values(counts).every((n) => n === 0);
  return !isSuppressed && users.length + unsettled.length === 0 && isEmpty;
}

function unknown(whom: PersonKey): AppError {
  return new AppError(
    'partial',
    `the mirror holds nothing of ${nameOf(whom)}: nothing was erased, and nothing is kept from coming in`,
    { hint: 'See whether that is spelt right.' },
  );
}

function nameOf(whom: PersonKey): string {
  return typeof whom === 'string' ? whom.trim() : `user ${whom}`;
}

async function confirm(context: Context, { whom, counts }: ErasurePreview): Promise<void> {
  if (!context.json) context.print(`Of ${nameOf(whom)}:\n\n${countsText(counts, 'to be erased')}\n`);
  if (!canAsk(context))
    throw new AppError('usage', 'nothing was erased: there is no terminal to ask on', {
      hint: 'Say --yes to erase without being asked.',
    });
  const answer = await askLine('Erase this for good? [y/N] ', NOTHING_ERASED, context.signal);
  if (!/^y(es)?$/i.test(answer)) throw new AppError('interrupted', NOTHING_ERASED);
}

const NOTHING_ERASED = 'nothing was erased';

interface Receipt extends Erased, UntouchedFiles {
  email?: string;
  user?: number;
  backupRenewed: boolean;
  postgresCopy: boolean;
}

/** The receipt, for the person who was erased and for those who must show that it was done. */
function receiptText(receipt: Receipt, unfinished: string[]): string {
  const { email, user, receipt: id, erasedAt, counts } = receipt;
  const who = email ?? `user ${user}`;
  const isEmpty = Object.values(counts).every((n) => n === 0);
  const parts = [
    `${who} erased at ${erasedAt}, receipt ${id}`,
    isEmpty ? 'Nothing more of them was in the mirror.' : countsText(counts, 'erased'),
    `Kept from coming back: ${who} is on the suppression list, as a keyed hash.`,
    notReachedText(receipt),
  ];
  if (unfinished.length > 0)
    parts.push(['Not finished:', ...unfinished.map((line) => `- ${line}`)].join('\n'));
  return parts.join('\n\n');
}

function countsText(counts: ErasedCounts, head: string): string {
  const rows: [string, number][] = [
    ['people: address, name, alias', counts.users],
    ['posts: title, text, link, history, index', counts.posts],
    ['comments: text, history', counts.comments],
    ['quarantined rows', counts.quarantine],
    ['outbox rows: text, address, name', counts.outbox],
    ['- of them cancelled before they were sent', counts.cancelled],
    ['- of them unclear: the upstream may have a post of it', counts.unclear],
    ['rows of the customers file', counts.segments],
    ["other people's rows: the address, or the name beside it", counts.mentions],
  ];
  return table(
    [head, 'rows'],
    rows.filter(([, n]) => n > 0),
  );
}

const COPY_TEXT =
  'the copy in PostgreSQL: what it holds of the person stays until a service with PUBLISH_URL writes it next, about a second from now where one runs';

/** Written by a version of the program that did not keep the authors of old versions. */
function unknownText(versions: number): string {
  const many = counted(versions, 'old version');
  return `${many} of posts, kept before the mirror noted whose words they are: where the service had given a post of the person to somebody else by then, its old words stay`;
}

/** What a person would otherwise believe to be gone as well. */
function notReachedText(receipt: Receipt): string {
  const { exports, naming, backupRenewed, postgresCopy, unknownAuthors } = receipt;
  return [
    'Not reached:',
    '- the feedback service itself: erase the person there too',
    "- the person's name in other people's texts: nobody can tell whose it is",
    '- the address in spellings that no program reads as one, such as "kim at example dot com"',
    ...(unknownAuthors > 0 ? [`- ${unknownText(unknownAuthors)}`] : []),
    '- copies and exports outside the data folder',
    ...(postgresCopy ? [`- ${COPY_TEXT}`] : []),
    ...exports.map((path) => `- the export ${path}, made before`),
    ...naming.map((path) => `- the file ${path}: it shows the person`),
    ...(backupRenewed ? ['The copy in the data folder was renewed.'] : []),
  ].join('\n');
}

/** What is left to do, and how; empty when the mirror is clean. */
function unfinishedText({ underWay, unsettled, isClean }: Erased): string[] {
  const again = 'then run this again';
  const rows = (ids: number[]): string =>
    ids.length === 1 ? `outbox row ${ids[0]} is` : `outbox rows ${ids.join(', ')} are`;
  const lines: string[] = [];
  if (underWay.length > 0)
    lines.push(`${rows(underWay)} being sent just now: wait until that is over, ${again}`);
  if (unsettled.length > 0)
    lines.push(
      `${rows(unsettled)} not settled and names the address for somebody else: cancel it or let it be sent, ${again}`,
    );
  if (!isClean)
    lines.push(
      `another process was reading or writing all the time, so old bytes may be left in the file: stop it, ${again}`,
    );
  return lines;
}

async function lift({ context, flow, erasure }: Deps, whom: PersonKey): Promise<void> {
  const lifted = flow.liftSuppression(erasure.store, whom);
  const text = lifted
    ? 'taken off the suppression list; the next sweep brings back what the upstream shows'
    : 'not on the suppression list; nothing was changed';
  context.answer({ lifted }, () => text);
}

async function startNewList(context: Context): Promise<void> {
  await withErasure(context, async ({ erasure }) => {
    const forgotten = erasure.store.newKey();
    const addresses = counted(forgotten, 'address', 'addresses');
    const text = `${addresses} forgotten. People known to the upstream by number stay erased; erase the others again.`;
    context.answer({ forgotten }, () => text);
  });
}
