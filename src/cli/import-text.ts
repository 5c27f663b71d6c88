import type { NewRow, StateCounts } from '../outbox/decide/types.ts';
import type { UnknownBoard } from '../outbox/import/boards.ts';
import type { Question } from '../outbox/import/csv/questions.ts';
import type { MappedColumn } from '../outbox/import/csv/rows.ts';
import type { Duplicates } from '../outbox/import/duplicates.ts';
import type { FileFacts } from '../outbox/import/import.ts';
import type { Tally } from '../outbox/import/intake.ts';
import type { Preview } from '../outbox/import/preview.ts';
import { type Estimate, estimateText } from '../outbox/send/estimate.ts';
import { DELIMITER_NAMES } from '../text/csv.ts';
import { counted, grouped } from '../text/text.ts';
import type { Context } from './context.ts';
import { stateText } from './outbox-text.ts';
import { cut, table } from './table.ts';

interface Outcome {
  batch: string;
  batches: string[];
  /** Rows of this batch. Corrected rows stay in the batch of their first import. */
  inBatch: number;
  results: string | null;
  estimate: Estimate | null;
}

const HOW = { exact: '', alias: '(recognised)', layout: '(recognised)', asked: '(--map)' } as const;
const SHOWN_REFUSALS = 20;

export function mappingText(facts: FileFacts, board: string | undefined): string {
  const { encoding, delimiter, layout, mapping, ignored } = facts;
  const forAll = board === undefined ? [] : [['board', board, '(--board, for all rows)']];
  const line = ({ field, header, how }: MappedColumn): string[] => [field, header, HOW[how]];
  const lines = [
    ...(layout === null ? [] : [`This looks like ${/^[AEIO]/.test(layout) ? 'an' : 'a'} ${layout} export.`]),
    `Read as ${encoding.toUpperCase()} with ${DELIMITER_NAMES[delimiter]}, these columns:`,
    table(['field', 'column', ''], [...forAll, ...mapping.map(line)]),
  ];
  if (ignored.length > 0) lines.push(`Not used: ${listed(ignored, 10)}.`);
  return lines.join('\n');
}

function listed(names: readonly (string | number)[], most: number): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

/** How many went where: the others always make up the first. */
function tallyTable({ rows, accepted, already, skipped, refused }: Tally, acceptedHead: string): string {
  const left = skipped > 0 ? { head: ['left out'], cells: [skipped] } : { head: [], cells: [] };
  return table(
    ['rows', acceptedHead, 'already imported', ...left.head, 'refused'],
    [[rows, accepted, already, ...left.cells, refused]],
  );
}

function tallyNotes({ refused, refusals, notes, alreadyBy }: Tally, more: string): string[] {
  const lines: string[] = [];
  if (Object.keys(alreadyBy).length > 0) lines.push(`Already imported: ${stateText(alreadyBy)}.`);
  if ((alreadyBy.cancelled ?? 0) > 0)
    lines.push(
      'Cancelled rows are sent after all by "feedback-mirror outbox retry --batch B --state cancelled".',
    );
  for (const { text, rows, lines: at } of notes)
    lines.push(
      `Note: ${text} (${counted(rows, 'row')}: line ${listed(at, 5)}${rows > at.length ? ', ...' : ''}).`,
    );
  if (refused > 0) {
    const shown = refusals.slice(0, SHOWN_REFUSALS);
    lines.push(
      '',
      'Refused:',
      table(
        ['line', 'reason'],
        shown.map(({ line, reason }) => [String(line), reason]),
      ),
    );
    if (refused > shown.length) lines.push(`and ${grouped(refused - shown.length)} more${more}`);
  }
  return lines;
}

export function printIntake(
  context: Context,
  tally: Tally,
  outcome: Outcome & { open: readonly Question[] },
  waits: boolean,
): void {
  const { batch, batches, inBatch, results, estimate, open } = outcome;
  context.print(tallyTable(tally, 'accepted'));
  const lines = tallyNotes(
    tally,
    results === null ? '; use --results to see all' : `; all are in ${results}`,
  );
  // Blocking questions have been answered by now.
  lines.push(...open.filter(({ isBlocking }) => !isBlocking).flatMap(questionLines));
  lines.push('');
  if (tally.accepted === 0) lines.push('Nothing in this file is new.');
  if (inBatch > 0) lines.push(`Batch ${batch}: ${counted(inBatch, 'row')} in the outbox.`);
  const corrected = tally.accepted - inBatch;
  const earlier = batches.filter((name) => name !== batch).join(', ');
  if (corrected > 0)
    lines.push(`Corrected in an earlier import: ${counted(corrected, 'row')} (batch ${earlier}).`);
  if (estimate) lines.push(`${estimateText(estimate)}.`);
  if (!waits && batches.length > 0)
    lines.push('They are sent by "feedback-mirror start", or now by the same command with --wait.');
  context.print(lines.join('\n'));
}

export function printStates(context: Context, { batches, results }: Outcome, states: StateCounts): void {
  context.print(`\n${batches.length > 0 ? stateText(states) : 'Nothing had to be sent.'}`);
  const lines: string[] = [];
  const asked = { rejected: 'See why', uncertain: 'Decide' } as const;
  for (const [state, what] of Object.entries(asked))
    if (states[state as keyof typeof asked] > 0)
      for (const batch of batches)
        lines.push(`${what}: feedback-mirror outbox list --batch ${batch} --state ${state}`);
  if (results !== null) lines.push(`Every row with its outcome: ${results}`);
  if (lines.length > 0) context.print(lines.join('\n'));
}

interface Open {
  estimate: Estimate;
  questions: readonly Question[];
  lost: string | null;
  mark: string | null;
}

export function printPreview(context: Context, tally: Tally, preview: Preview, open: Open): void {
  const { estimate, questions, lost, mark } = open;
  const isStopped = questions.length > 0 || preview.unknownBoards.length > 0;
  context.print(tallyTable(tally, isStopped ? 'accepted after the answers below' : 'would be accepted'));
  if (preview.first.length > 0) context.print(`\n${firstPosts(preview.first)}`);
  context.print(`\n${goesAs(preview)}`);
  const { unknownBoards, moreUnknownBoards, duplicates } = preview;
  if (unknownBoards.length > 0) context.print(`\n${boardsTable(unknownBoards, moreUnknownBoards)}`);
  if (duplicates && duplicates.found > 0) context.print(`\n${duplicatesTable(duplicates)}`);
  const lines = ['', ...tallyNotes(tally, '.')];
  if (lost !== null) lines.push(lost);
  // Boards have a table of their own.
  const asked = questions.filter(({ takes }) => takes === null || 'column' in takes);
  lines.push(...asked.flatMap(questionLines));
  if (unknownBoards.length > 0)
    lines.push('An import stops at boards that are not known: use --board-map "Old name=board" for each.');
  if (preview.mirror === 'empty')
    lines.push('There is no mirror yet to compare with: run "feedback-mirror sync" first to learn more.');
  else if (preview.mirror === 'no posts') lines.push('The service has no posts yet to compare with.');
  else if (tally.accepted > 0 && duplicates?.found === 0)
    lines.push('None of the new rows looks like a post that is there already.');
  if (tally.accepted > 0 && mark !== null) lines.push(`Posts end with a line such as "${mark}".`);
  if (tally.accepted > 0) lines.push(`${estimateText(estimate)}.`);
  lines.push(...notified(preview), 'This was a dry run: nothing was written.');
  context.print(lines.join('\n'));
}

/** A question as text, with the flag that answers it. */
function questionLines({ problem, question, answers }: Question): string[] {
  const said = answers.map(({ text, flag }) => `${text}${flag === null ? '' : `: ${flag}`}`);
  return [`${problem.charAt(0).toUpperCase()}${problem.slice(1)}. ${question} ${said.join('. ')}`];
}

const CONTENT_SHOWN = 300;

/** The beginning of a content, with its line breaks. */
function shortened(content: string): string {
  const characters = [...content.trimEnd()];
  return characters.length <= CONTENT_SHOWN
    ? characters.join('')
    : `${characters.slice(0, CONTENT_SHOWN).join('')} …`;
}

function firstPosts(posts: readonly NewRow[]): string {
  const post = ({ title, content, board, email, full_name, line }: NewRow): string => {
    const by = email === null ? 'the owner of the token' : `${full_name} (${email})`;
    const text = content === '' ? [] : shortened(content).split('\n');
    return [title, ...text, `(board ${board}, by ${by}, line ${line})`].map((part) => `  ${part}`).join('\n');
  };
  return ['The first posts, as they will look:', ...posts.map(post)].join('\n\n');
}

function goesAs({ mirror, asOwner, asKnownCustomer, asNewCustomer, ...people }: Preview): string {
  const customers: (string | number)[][] =
    mirror !== 'filled'
      ? [['a customer, new or not', asNewCustomer, people.newCustomers]]
      : [
          ['a customer the mirror knows', asKnownCustomer, people.knownCustomers],
          ['a new customer', asNewCustomer, people.newCustomers],
        ];
  return table(['goes out as', 'rows', 'people'], [['the owner of the token', asOwner, null], ...customers]);
}

function boardsTable(boards: readonly UnknownBoard[], more: number): string {
  const rows = boards.map(({ board, alsoWritten, rows, line, suggestions }) => [
    [board, ...alsoWritten].join(', '),
    rows,
    line,
    suggestions.join(', '),
  ]);
  const lines = [
    'Boards that are not known by these names:',
    table(['unknown board', 'rows', 'first in line', 'did you mean'], rows),
  ];
  if (more > 0) lines.push(`and ${counted(more, 'row')} with further unknown boards`);
  return lines.join('\n');
}

const ALIKE = { same: 'title and text', title: 'title', content: 'text' } as const;

function duplicatesTable({ found, byKind, examples }: Duplicates): string {
  const rows = examples.map(({ line, title, kind, postId, postTitle }) => [
    String(line),
    cut(title, 50),
    ALIKE[kind],
    `#${postId}`,
    cut(postTitle, 50),
  ]);
  const lines = [table(['line', 'looks like a post that exists', 'by', 'post', 'its title'], rows)];
  if (found > examples.length) lines.push(`and ${grouped(found - examples.length)} more`);
  const kinds = Object.entries(byKind).flatMap(([kind, n]) => (n > 0 ? [`${grouped(n)} by ${kind}`] : []));
  lines.push(
    `${counted(found, 'likely duplicate')}: ${kinds.join(', ')}. --skip-duplicates same (title, content, all) leaves them out.`,
  );
  return lines.join('\n');
}

/** Whom the service may write to. */
function notified({ knownCustomers, newCustomers }: Preview): string[] {
  const people = knownCustomers + newCustomers;
  if (people === 0) return [];
  return [`${counted(people, 'customer')} may be told by the service about posts made in their name.`];
}
