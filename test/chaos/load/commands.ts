import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { resultLine } from '../../../src/outbox/import/results.ts';
import type { Random } from '../../../src/sandbox/random.ts';
import type { Fixture } from '../fixture.ts';
import { streamOf } from '../plan.ts';
import type { Program } from '../program.ts';
import type { Wanted } from './drafts.ts';

export const KILLED = 'kill -9 of a command';
export const FROZEN = 'SIGSTOP of a command';
const EXITS = 'commands end with a code that was promised, never with 1';

/** Commands beside the service, one after the other; some are killed or frozen on their way. */
export async function runCommands(fixture: Fixture, until: AbortSignal): Promise<void> {
  const random = streamOf(fixture.options.seed, 'commands');
  const works = [create, importRows, importRows, sync, exportTables, look];
  for (const fault of [KILLED, FROZEN]) fixture.tally.expect(fault);
  while (!until.aborted) {
    await random.pick(works)(fixture, random);
    // Two cores carry the service, the upstream, the checks and these: pressed closer, they would measure the machine.
    await delay(500 + random.int(2000));
  }
}

/** Without a key of its own nobody can ask again: a create that was cut off may or may not have been taken in, but never twice. */
async function create(fixture: Fixture, random: Random): Promise<void> {
  const post = fixture.drafts.draft();
  const customer = post.email === null ? [] : ['--email', post.email, '--full-name', post.full_name ?? ''];
  const words = ['--board', post.board, '--title', post.title, '--content', post.content, ...customer];
  const program = fixture.command(['create', ...words, '--accept-unknown-boards', '--json']);
  await disturbed(fixture, program, random);
  if ((await ended(fixture, program, 'create')) === 0) fixture.drafts.accepted([post], 'create');
}

/** A file is imported until the program says that all of it is in; importing it again adds nothing twice. */
async function importRows(fixture: Fixture, random: Random): Promise<void> {
  const posts = Array.from({ length: 1 + random.int(8) }, () => fixture.drafts.draft());
  const file = writeCsv(fixture, posts);
  const waiting = random.chance(0.3) ? ['--wait', '--results', `${file}.results`] : [];
  for (let attempt = 1; attempt <= 5; attempt++) {
    const program = fixture.command(['import', file, '--json', '--accept-unknown-boards', ...waiting]);
    if (attempt < 4) await disturbed(fixture, program, random);
    const code = await ended(fixture, program, 'import');
    // 5: some wait or were refused upstream; they are in the outbox all the same.
    if (code !== 0 && code !== 5) continue;
    fixture.drafts.accepted(posts, 'import');
    return;
  }
}

let files = 0;

export function writeCsv({ folder }: Fixture, posts: readonly Wanted[]): string {
  const path = join(folder, `import-${++files}.csv`);
  const header = ['board', 'title', 'content', 'email', 'full_name'];
  const rows = posts.map(({ board, title, content, email, full_name }) =>
    [board, title, content, email ?? '', full_name ?? ''].map(String),
  );
  writeFileSync(path, [header, ...rows].map((cells) => resultLine(cells, ',')).join(''));
  return path;
}

async function sync(fixture: Fixture, random: Random): Promise<void> {
  // Now and then a person sees that deletions are held back, and lets them through.
  const what = random.pick([['posts'], ['comments', '--head'], [], ['--accept-deletes']]);
  const program = fixture.command(['sync', ...what, '--json']);
  await disturbed(fixture, program, random);
  await ended(fixture, program, 'sync');
}

async function exportTables(fixture: Fixture, random: Random): Promise<void> {
  const program = fixture.command([...redactedExport(fixture, random.pick(['csv', 'ndjson'])), '--json']);
  await disturbed(fixture, program, random);
  await ended(fixture, program, 'export');
}

export function redactedExport({ folder }: Fixture, format: string): string[] {
  const to = join(folder, 'exports', format);
  return ['export', 'all', '--format', format, '--redact', 'emails', '--out', to];
}

async function look(fixture: Fixture, random: Random): Promise<void> {
  const program = fixture.command(random.pick([['status'], ['report', 'overview'], ['outbox', '--json']]));
  await ended(fixture, program, 'look');
}

async function disturbed(
  { tally, journal }: Fixture,
  { child, ended }: Program,
  random: Random,
): Promise<void> {
  const draw = random.next();
  const after = 30 + random.int(900);
  const frozenFor = 200 + random.int(1500);
  if (draw > 0.45) return;
  const isOver = await Promise.race([ended.then(() => true), delay(after, false)]);
  if (isOver) return;
  if (draw > 0.3) {
    child.kill('SIGSTOP');
    tally.fired(FROZEN);
    await delay(frozenFor);
    child.kill('SIGCONT');
  }
  if (draw < 0.35 && child.kill('SIGKILL')) {
    tally.fired(KILLED);
    journal.note(`command ${child.pid} killed`);
  }
}

/** `--wait` goes on while rows move, and one that a dead sender left unclear moves after half a minute. */
const COMMAND_MS = 240_000;

async function ended({ tally, journal }: Fixture, program: Program, what: string): Promise<number | null> {
  const code = await Promise.race([program.ended, delay(COMMAND_MS, 'late' as const)]);
  const { spawnargs, killed } = program.child;
  const words = (): string => `${what} ended with ${code}: ${program.stderr().slice(-500)}`;
  const isPromised = code === null ? killed : [0, 3, 4, 5, 6].includes(code as number);
  tally.check(EXITS, isPromised, words);
  if (code === 'late') {
    journal.note(`hangs: ${spawnargs.slice(2, 4).join(' ')}`);
    program.child.kill('SIGKILL');
    return null;
  }
  return code;
}
