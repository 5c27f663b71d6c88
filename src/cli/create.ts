import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { AppError } from '../base/errors.ts';
import type { OutboxRow } from '../outbox/decide/types.ts';
import { type Context, closing, EXIT_CODES, type Flags, openContext } from './context.ts';
import { boardNamedIn } from './outbox.ts';
import { stateWord } from './outbox-text.ts';
import { openSending } from './sending.ts';

type CreateFlags = Flags<
  'board' | 'title' | 'content' | 'email' | 'fullName',
  'wait' | 'acceptUnknownBoards'
>;

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('create')
    .description('put one post into the outbox, from where it is sent')
    .option('--board <board>', 'the board: its name, its id or the short part of its URL')
    .option('--title <text>', 'the title')
    .option('--content <text>', 'the text below it; - reads it from standard input')
    .option('--email <address>', 'the customer who asks for it; without it the post is yours')
    .option('--full-name <name>', "the customer's name; else the part of the e-mail before the @")
    .option('--accept-unknown-boards', 'also for a board that the mirror does not know')
    .option('--wait', 'send it now and wait until it is confirmed')
    .addHelpText('after', EXAMPLES)
    .action((flags: CreateFlags) => create(openContext(program, stop), flags));
}

const EXAMPLES = `
Examples:
  feedback-mirror create --board bugs --title 'The export stops at row 100' --wait
  feedback-mirror create --board bugs --title 'Dark mode' --email ada@example.com --full-name 'Ada Adams'
  echo 'A longer text' | feedback-mirror create --board bugs --title 'Dark mode' --content -`;

async function create(context: Context, flags: CreateFlags): Promise<void> {
  const { checkDraft, createRow } = await import('../outbox/create.ts');
  const { board, title, email, fullName } = flags;
  for (const [flag, value] of Object.entries({ '--board': board, '--title': title }))
    if (value === undefined) throw new AppError('usage', `${flag} is missing`);
  const content = flags.content === '-' ? await readInput(context.signal) : flags.content;
  const named = await boardNamedIn(context, board ?? '', flags.acceptUnknownBoards);
  const checked = checkDraft({ board: named, title, content, email, full_name: fullName });
  for (const note of checked.notes) context.remark(`Note: ${note}.`);
  await using sending = closing(await openSending(context, 'create', flags.wait === true));
  const row = await createRow({ ...sending, random: Math.random }, checked);
  try {
    if (flags.wait) await sending.wait({ batches: [row.batch], goOn: GO_ON });
  } finally {
    report(context, (await sending.store.find(row.id)) ?? row, flags.wait === true);
  }
}

const GO_ON = '"feedback-mirror start" sends it; creating it again would make a second post.';

/** The line end that every tool puts at the end is not part of the text. */
async function readInput(signal: AbortSignal): Promise<string> {
  return (await text(addAbortSignal(signal, process.stdin))).replace(/\r?\n$/, '');
}

function report({ json, print }: Context, row: OutboxRow, waited: boolean): void {
  const { id, batch, state, post_id, url, last_error: reason } = row;
  if (json) print(JSON.stringify({ id, batch, state, post_id, url, reason }));
  else if (state === 'confirmed') print(`post ${post_id}${url === null ? '' : `  ${url}`}`);
  else print(`outbox row ${id}: ${stateWord(state)}${reason === null ? '' : `, ${reason}`}`);
  if (waited && state !== 'confirmed') {
    process.exitCode = EXIT_CODES.partial;
    if (!json) print(`See what can be done: feedback-mirror outbox show ${id}`);
  } else if (!waited && !json)
    print('It is sent by "feedback-mirror start"; with --wait it is sent at once.');
}
