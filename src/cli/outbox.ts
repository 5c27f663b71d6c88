import type { Command } from 'commander';
import { mirrorOf } from '../app/place.ts';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { OUTBOX_STATES, type OutboxRow, type OutboxState } from '../outbox/decide/types.ts';
import type { OutboxStore } from '../outbox/store/store.ts';
import type { OutboxView, ViewedPost } from '../outbox/store/view.ts';
import { counted } from '../text/text.ts';
import { type Context, closing, type Flags, openContext, sayIfElsewhere, wholeNumber } from './context.ts';
import { NO_ROWS, outboxListText, pausedText, showText, stateNamed, stateWord } from './outbox-text.ts';
import { cellLine, screenWidth } from './table.ts';

type ListFlags = Flags<'state' | 'batch' | 'format'> & { limit: string };

export function register(program: Command, stop: AbortSignal): void {
  const open = (): Context => openContext(program, stop);
  const outbox = program
    .command('outbox')
    .description('see the posts on their way, and decide about those that are stuck')
    .addHelpText('after', EXAMPLES);
  outbox
    .command('list', { isDefault: true })
    .description('the newest rows and how many there are of each state')
    .option('--state <state>', `only rows that are ${OUTBOX_STATES.join(', ')}, or as the table calls them`)
    .option('--batch <batch>', 'only rows of one import')
    .option('--limit <number>', 'how many rows at most', '50')
    .option('--format <csv>', 'with --batch: all of them as a CSV file that can be imported again')
    .addHelpText('after', '\nExample:\n  feedback-mirror outbox list --state rejected --limit 200')
    .action((flags: ListFlags) => list(open(), flags));
  outbox
    .command('show')
    .argument('<id>', 'the id of a row')
    .description('everything about one row: its text, its attempts, the posts it could be')
    .addHelpText('after', '\nExample:\n  feedback-mirror outbox show 12')
    .action((id: string) => show(open(), wholeNumber('the id of a row', id)));
  decisions(outbox, open);
}

const EXAMPLES = `
Examples:
  feedback-mirror outbox
  feedback-mirror outbox list --state uncertain
  feedback-mirror outbox show 12
  feedback-mirror outbox resolve 12 --post 3456`;

type Which = Flags<'batch' | 'state'>;
type Text = 'board' | 'title' | 'content' | 'email' | 'fullName';
type EditFlags = Flags<'batch' | 'whereBoard' | Text, 'retry' | 'acceptUnknownBoards'>;

function decisions(outbox: Command, open: () => Context): void {
  outbox
    .command('approve')
    .argument('[id...]', 'the ids of rows that an agent proposed')
    .option('--all', 'every row that is proposed now')
    .description('send what an agent proposed')
    .addHelpText(
      'after',
      '\nExamples:\n  feedback-mirror outbox list --state proposed\n  feedback-mirror outbox approve 12 13',
    )
    .action((ids: string[], flags: { all?: true }) => approve(open(), ids, flags.all ?? false));
  outbox
    .command('retry')
    .argument('[id]', 'the id of a row that is rejected, uncertain or cancelled')
    .option('--batch <batch>', 'all rows of one import, instead of one row')
    .option('--state <state>', 'with --batch: rejected (the default), uncertain or cancelled')
    .description('send a row, or the rows of an import, again')
    .addHelpText(
      'after',
      '\nExamples:\n  feedback-mirror outbox retry 12\n  feedback-mirror outbox retry --batch B',
    )
    .action((id: string | undefined, which: Which) =>
      decideAbout(open(), id, which, {
        row: (flow, deps, row) => flow.retry(deps, row),
        batch: (flow, deps, batch, state) => flow.retryBatch(deps, batch, state),
        words: 'to be sent again',
      }),
    );
  outbox
    .command('cancel')
    .argument('[id]', 'the id of a row that is proposed, ready, rejected or uncertain')
    .option('--batch <batch>', 'what is not sent yet of one import, instead of one row')
    .option('--state <state>', 'with --batch: ready (the default), proposed, rejected or uncertain')
    .description('drop a row, or what is not sent yet of an import')
    .addHelpText(
      'after',
      '\nExamples:\n  feedback-mirror outbox cancel 12\n  feedback-mirror outbox cancel --batch B',
    )
    .action((id: string | undefined, which: Which) =>
      decideAbout(open(), id, which, {
        row: (flow, deps, row) => flow.cancel(deps, row),
        batch: (flow, deps, batch, state) => flow.cancelBatch(deps, batch, state),
        words:
          'cancelled. Posts that were sent stay: this API cannot take them back. Rows whose answer was lost are looked for first',
      }),
    );
  furtherDecisions(outbox, open);
  editing(outbox, open);
}

function furtherDecisions(outbox: Command, open: () => Context): void {
  outbox
    .command('pause')
    .requiredOption('--batch <batch>', 'the import')
    .description('send nothing more of an import until it is resumed')
    .addHelpText('after', '\nExample:\n  feedback-mirror outbox pause --batch import-20261115-014207-ab12cd')
    .action(({ batch }: { batch: string }) => pause(open(), batch));
  outbox
    .command('resume')
    .requiredOption('--batch <batch>', 'the import')
    .description('continue an import that was paused')
    .addHelpText('after', '\nExample:\n  feedback-mirror outbox resume --batch import-20261115-014207-ab12cd')
    .action(({ batch }: { batch: string }) =>
      decideAll(open(), (flow, deps) => flow.resumeBatch(deps, batch), 'resumed'),
    );
  outbox
    .command('resolve')
    .argument('<id>', 'the id of a row that is uncertain')
    .requiredOption('--post <number>', 'the post that this row turned into')
    .description('say which post an uncertain row is')
    .addHelpText('after', '\nExample:\n  feedback-mirror outbox resolve 12 --post 3456')
    .action((id: string, { post }: { post: string }) => resolve(open(), id, postNumber(post)));
}

function editing(outbox: Command, open: () => Context): void {
  outbox
    .command('edit')
    .argument('[id]', 'the id of a row that is proposed, rejected or uncertain')
    .option('--batch <batch>', 'all such rows of one import that --where-board names')
    .option('--where-board <board>', 'with --batch: rows of this board')
    .option('--board <board>', 'the board it should go to')
    .option('--title <text>', 'the title')
    .option('--content <text>', 'the text below it')
    .option('--email <address>', 'the customer; "" makes it yours')
    .option('--full-name <name>', "the customer's name")
    .option('--accept-unknown-boards', 'also a board that the mirror does not know')
    .option('--retry', 'send it again with these words')
    .description(
      'change what a row says that is proposed, was rejected or needs a decision; what it said before is kept',
    )
    .addHelpText('after', EDIT_EXAMPLES)
    .action((id: string | undefined, flags: EditFlags) => edit(open(), id, flags));
}

const EDIT_EXAMPLES = `
Examples:
  feedback-mirror outbox edit 12 --board ideas --retry
  feedback-mirror outbox edit --batch import-20261115-014207-ab12cd --where-board Ideen --board ideas --retry`;

function stateOf(text: string | undefined): OutboxState | null {
  const state = text === undefined ? null : stateNamed(text);
  if (text === undefined || state) return state;
  const known = OUTBOX_STATES.map((each) => `${each} (${stateWord(each)})`);
  throw new AppError('usage', `--state "${text}" is not known; it can be ${known.join(', ')}`);
}

async function list(context: Context, flags: ListFlags): Promise<void> {
  const filter = {
    state: stateOf(flags.state),
    batch: flags.batch ?? null,
    limit: wholeNumber('--limit', flags.limit),
  };
  const { estimateWaiting } = await import('../outbox/send/estimate.ts');
  const place = await sayIfElsewhere([context]);
  await using view = await openView(context);
  if (flags.format !== undefined && flags.format !== 'csv')
    throw new AppError('usage', `--format "${flags.format}" is not known; it can be csv`, {
      hint: 'Without it the rows are a table, and with --json they are JSON.',
    });
  if (filter.batch !== null) (await import('../outbox/person.ts')).requireBatch(view, filter.batch);
  if (view && flags.format === 'csv') return await printCsv(context, view, filter);
  const rows = view?.newest(filter) ?? [];
  const counts = view?.counts(filter.batch) ?? NO_ROWS;
  const [paused, refused] = [view?.paused() ?? null, view?.refusedBoards() ?? []];
  const batch = filter.batch === null ? null : (view?.batch(filter.batch) ?? null);
  const perMinute = context.settings.pushPerMinute;
  const estimate = view ? estimateWaiting(view, filter.batch, perMinute, systemClock.now()) : null;
  const found = { rows, paused, refused, batch, estimate };
  context.answer({ ...found, states: counts, ...place }, () =>
    outboxListText({ ...found, counts, filter }, screenWidth() ?? 120),
  );
}

/** Whole sets, as a file that can be imported again. */
async function printCsv(
  { printData }: Context,
  view: OutboxView,
  { batch, state }: { batch: string | null; state: OutboxState | null },
): Promise<void> {
  if (batch === null)
    throw new AppError('usage', '--format csv needs --batch: it is made to be imported again');
  const { outboxCsv } = await import('../outbox/import/results.ts');
  for (const text of outboxCsv(view.rowsOf(batch, state))) printData(text.trimEnd());
}

async function show(context: Context, id: number): Promise<void> {
  const { noRow } = await import('../outbox/person.ts');
  const place = await sayIfElsewhere([context]);
  await using view = await openView(context);
  const row = await view?.find(id);
  if (!view || !row) throw noRow(id);
  const [attempts, edits] = [view.attempts(id), view.edits(id)];
  const posts = await view.posts(
    [row.post_id, row.duplicate_of, ...row.candidates].filter((n) => n !== null),
  );
  context.answer({ ...row, tries: attempts, edits, posts, ...place }, () =>
    showText(row, attempts, posts, edits),
  );
}

async function openView({ settings }: Context): Promise<(OutboxView & AsyncDisposable) | null> {
  const { openOutboxView } = await import('../outbox/store/view.ts');
  return closing(openOutboxView(mirrorOf(settings)));
}

type Flow = typeof import('../outbox/person.ts');
type Deps = { store: OutboxStore; clock: typeof systemClock };

async function withFlow<T>(context: Context, work: (flow: Flow, deps: Deps) => T | Promise<T>): Promise<T> {
  const [{ openOutbox }, flow] = await Promise.all([import('../app.ts'), import('../outbox/person.ts')]);
  await using store = closing(openOutbox(context.settings, 'outbox'));
  return await work(flow, { store, clock: systemClock });
}

async function decide(
  context: Context,
  text: string,
  act: (flow: Flow, deps: Deps, id: number) => OutboxRow,
): Promise<void> {
  const id = wholeNumber('the id of a row', text);
  const row = await withFlow(context, (flow, deps) => act(flow, deps, id));
  const post = row.post_id === null ? '' : `, post ${row.post_id}`;
  context.answer(row, () => `row ${row.id}: ${stateWord(row.state)}${post}`);
  if (row.state === 'ready' && !context.json) context.print('It is sent by "feedback-mirror start".');
}

/** Reports each row at once: if one can no longer be approved, the rows before it are already approved. */
async function approve(context: Context, ids: readonly string[], all: boolean): Promise<void> {
  if ((ids.length === 0) !== all) throw new AppError('usage', 'give the ids of rows, or --all');
  const given = new Set(ids.map((id) => wholeNumber('the id of a row', id)));
  await withFlow(context, (flow, deps) => {
    const chosen = all ? proposedIds(deps.store) : [...given];
    for (const id of chosen) {
      const row = flow.approve(deps, id);
      const sentence = `row ${id}: ${stateWord(row.state)}, ${row.board}: ${cellLine(row.title)}`;
      context.answer(row, () => sentence);
    }
    if (context.json) return;
    context.print(chosen.length === 0 ? 'No row is proposed.' : 'Sent by "feedback-mirror start".');
  });
}

function proposedIds(store: OutboxStore): number[] {
  return store.list({ state: 'proposed', limit: MOST_PROPOSED }).map(({ id }) => id);
}

/** An agent may have far fewer of them waiting. */
const MOST_PROPOSED = 10_000;

async function pause(context: Context, batch: string): Promise<void> {
  const done = await withFlow(context, (flow, deps) => flow.pauseBatch(deps, batch));
  context.answer(done, () => pausedText(done));
}

async function decideAll(
  context: Context,
  act: (flow: Flow, deps: Deps) => Decided | Promise<Decided>,
  words: string,
): Promise<void> {
  const done = await withFlow(context, act);
  context.answer(done, () => `batch ${done.batch}: ${counted(done.rows, 'row')} ${words}`);
}

type Decided = { batch: string; rows: number };

interface Acts {
  row(flow: Flow, deps: Deps, id: number): OutboxRow;
  batch(flow: Flow, deps: Deps, batch: string, state?: OutboxState): Promise<Decided>;
  words: string;
}

async function decideAbout(
  context: Context,
  id: string | undefined,
  which: Which,
  acts: Acts,
): Promise<void> {
  const { batch } = which;
  if ((id === undefined) === (batch === undefined))
    throw new AppError('usage', 'give the id of a row, or --batch for the rows of an import');
  if (batch === undefined) return await decide(context, id ?? '', acts.row);
  const state = stateOf(which.state) ?? undefined;
  await decideAll(context, (flow, deps) => acts.batch(flow, deps, batch, state), acts.words);
}

async function edit(context: Context, id: string | undefined, flags: EditFlags): Promise<void> {
  const { batch, whereBoard } = flags;
  if ((id === undefined) === (batch === undefined) || (whereBoard === undefined) !== (batch === undefined))
    throw new AppError('usage', 'give the id of a row, or --batch with --where-board');
  const { title, content, email, fullName: full_name } = flags;
  const board =
    flags.board === undefined
      ? undefined
      : await boardNamedIn(context, flags.board, flags.acceptUnknownBoards);
  const changes = { board, title, content, email, full_name };
  if (Object.values(changes).every((text) => text === undefined))
    throw new AppError('usage', 'say what changes: --board, --title, --content, --email or --full-name');
  if (batch === undefined) {
    await decide(context, id ?? '', (flow, deps, row) => {
      const edited = flow.edit(deps, row, changes);
      return flags.retry ? flow.sendEdited(deps, edited) : edited;
    });
    return;
  }
  const act = (flow: Flow, deps: Deps): Promise<Decided> =>
    flow.editBatch(
      deps,
      batch,
      { board: whereBoard ?? '' },
      { ...changes, isSentAgain: flags.retry ?? false },
    );
  await decideAll(context, act, flags.retry ? 'edited, to be sent again' : 'edited');
}

/** The board that a person means, by its name, id or slug. Where there is no mirror yet, the upstream has the last word. */
export async function boardNamedIn(context: Context, text: string, acceptUnknown = false): Promise<string> {
  const match = await boardMatch(context, text);
  if (match === null) return text;
  const { slug, perhaps } = match;
  if (slug !== null || acceptUnknown) return slug ?? text;
  throw new AppError('usage', `no board is known as "${text}"; nothing was changed`, {
    hint: `${perhaps}Name a board by its name, its id or the short part of its URL, or use --accept-unknown-boards.`,
  });
}

/** Null where there is no mirror yet. */
export async function boardMatch(
  { settings }: Context,
  text: string,
): Promise<{ slug: string | null; perhaps: string } | null> {
  const [{ openImportReads }, { matchBoard }] = await Promise.all([
    import('../outbox/store/imports.ts'),
    import('../text/boards.ts'),
  ]);
  await using reads = closing(openImportReads(mirrorOf(settings)));
  if (!reads) return null;
  const { slug, suggestions } = matchBoard(reads.boards(), text, reads.knowsAllBoards());
  return { slug, perhaps: suggestions.length > 0 ? `Did you mean ${suggestions.join(' or ')}? ` : '' };
}

/** A service may begin to count at 0. */
function postNumber(text: string): number {
  return wholeNumber('--post', text, undefined, 0);
}

async function resolve(context: Context, text: string, postId: number): Promise<void> {
  const known = await mirrored(context, postId);
  await decide(context, text, (flow, deps, id) =>
    flow.resolve(deps, id, { id: postId, url: known?.url ?? null }),
  );
  if (!known && !context.json) context.print(`The mirror does not know post ${postId} yet.`);
}

async function mirrored(context: Context, postId: number): Promise<ViewedPost | undefined> {
  await using view = await openView(context);
  const [post] = (await view?.posts([postId])) ?? [];
  return post;
}
