import type { Command } from 'commander';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { OutboxStore } from '../store/outbox/store.ts';
import { OUTBOX_STATES, type OutboxRow, type OutboxState } from '../store/outbox/types.ts';
import type { OutboxView } from '../store/outbox/view.ts';
import { type Context, openContext, wholeNumber } from './context.ts';
import { EMPTY, listText, showText, stateNamed, stateWord } from './outbox-text.ts';
import { screenWidth } from './table.ts';

interface ListFlags {
  state?: string;
  batch?: string;
  limit: string;
}

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

function decisions(outbox: Command, open: () => Context): void {
  outbox
    .command('retry')
    .argument('<id>', 'the id of a row that is rejected, uncertain or cancelled')
    .description('send a row again')
    .addHelpText('after', '\nExample:\n  feedback-mirror outbox retry 12')
    .action((id: string) => decide(open(), id, (flow, deps, row) => flow.retry(deps, row)));
  outbox
    .command('cancel')
    .argument('<id>', 'the id of a row that is ready, rejected or uncertain')
    .description('drop a row: it is not sent any more')
    .addHelpText('after', '\nExample:\n  feedback-mirror outbox cancel 12')
    .action((id: string) => decide(open(), id, (flow, deps, row) => flow.cancel(deps, row)));
  outbox
    .command('resolve')
    .argument('<id>', 'the id of a row that is uncertain')
    .requiredOption('--post <number>', 'the post that this row turned into')
    .description('say which post an uncertain row is')
    .addHelpText('after', '\nExample:\n  feedback-mirror outbox resolve 12 --post 3456')
    .action((id: string, { post }: { post: string }) => resolve(open(), id, wholeNumber('--post', post)));
}

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
  await withView(context, async (view) => {
    const rows = (await view?.newest(filter)) ?? [];
    const counts = (await view?.counts(filter.batch)) ?? EMPTY;
    const paused = (await view?.paused()) ?? null;
    if (context.json) context.print(JSON.stringify({ rows, states: counts, paused }));
    else context.print(listText({ rows, counts, paused, filter }, screenWidth() ?? 120));
  });
}

async function show(context: Context, id: number): Promise<void> {
  const { noRow } = await import('../outbox/decide.ts');
  await withView(context, async (view) => {
    const row = await view?.find(id);
    if (!view || !row) throw noRow(id);
    const attempts = await view.attempts(id);
    const posts = await view.posts(
      [row.post_id, row.duplicate_of, ...row.candidates].filter((n) => n !== null),
    );
    if (context.json) context.print(JSON.stringify({ ...row, tries: attempts, posts }));
    else context.print(showText(row, attempts, posts));
  });
}

async function withView(context: Context, work: (view: OutboxView | null) => Promise<void>): Promise<void> {
  const { viewOutbox } = await import('../app/readers.ts');
  const view = viewOutbox(context.settings);
  try {
    await work(view);
  } finally {
    await view?.close();
  }
}

type Flow = typeof import('../outbox/decide.ts');
type Deps = { store: OutboxStore; clock: typeof systemClock };

async function decide(
  context: Context,
  text: string,
  act: (flow: Flow, deps: Deps, id: number) => OutboxRow,
): Promise<void> {
  const id = wholeNumber('the id of a row', text);
  const [{ openOutbox }, flow] = await Promise.all([import('../app.ts'), import('../outbox/decide.ts')]);
  const store = openOutbox(context.settings, 'outbox');
  try {
    const row = await act(flow, { store, clock: systemClock }, id);
    const post = row.post_id === null ? '' : `, post ${row.post_id}`;
    context.print(context.json ? JSON.stringify(row) : `row ${row.id}: ${stateWord(row.state)}${post}`);
    if (row.state === 'ready' && !context.json) context.print('It is sent by "feedback-mirror start".');
  } finally {
    await store.close();
  }
}

async function resolve(context: Context, text: string, postId: number): Promise<void> {
  const known: { url: string | null; title: string | null } = { url: null, title: null };
  await withView(context, async (view) => {
    const [post] = (await view?.posts([postId])) ?? [];
    if (post) Object.assign(known, post);
  });
  await decide(context, text, (flow, deps, id) => flow.resolve(deps, id, { id: postId, url: known.url }));
  if (known.title === null && !context.json) context.print(`The mirror does not know post ${postId} yet.`);
}
