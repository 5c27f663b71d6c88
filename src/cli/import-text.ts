import { counted, grouped } from '../base/text.ts';
import type { MappedColumn } from '../outbox/csv/csv-file.ts';
import type { FileFacts } from '../outbox/import/import.ts';
import type { Outlook, UnknownBoard } from '../outbox/import/outlook.ts';
import type { Tally } from '../outbox/import/tally.ts';
import type { StateCounts } from '../store/outbox/types.ts';
import type { Context } from './context.ts';
import { stateText } from './outbox-text.ts';
import { cut, table } from './table.ts';

export interface Outcome {
  batch: string;
  batches: string[];
  results: string | null;
}

const DELIMITERS = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' } as const;
const HOW = { exact: '', alias: '(recognised)', asked: '(--map)' } as const;
const SHOWN_REFUSALS = 20;

export function mappingText(facts: FileFacts, board: string | undefined): string {
  const { encoding, delimiter, mapping, ignored } = facts;
  const forAll = board === undefined ? [] : [['board', board, '(--board, for all rows)']];
  const line = ({ field, header, how }: MappedColumn): string[] => [field, header, HOW[how]];
  const lines = [
    `Read as ${encoding.toUpperCase()} with ${DELIMITERS[delimiter]}, these columns:`,
    table(['field', 'column', ''], [...forAll, ...mapping.map(line)]),
  ];
  if (ignored.length > 0) lines.push(`Not used: ${listed(ignored, 10)}.`);
  return lines.join('\n');
}

function listed(names: readonly (string | number)[], most: number): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

/** How many went where: the three always make up the first. */
function tallyTable({ rows, accepted, already, refused }: Tally, acceptedHead: string): string {
  return table(['rows', acceptedHead, 'already imported', 'refused'], [[rows, accepted, already, refused]]);
}

function tallyNotes({ refused, refusals, notes, alreadyBy }: Tally, more: string): string[] {
  const lines: string[] = [];
  if (Object.keys(alreadyBy).length > 0) lines.push(`Already imported: ${stateText(alreadyBy)}.`);
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

export function printIntake(context: Context, tally: Tally, outcome: Outcome, waits: boolean): void {
  const { batch, batches, results } = outcome;
  context.print(tallyTable(tally, 'accepted'));
  const lines = tallyNotes(
    tally,
    results === null ? '; use --results to see all' : `; all are in ${results}`,
  );
  if (tally.accepted > 0) lines.push('', `Batch ${batch}: ${counted(tally.accepted, 'row')} in the outbox.`);
  else lines.push('', 'Nothing in this file is new.');
  if (!waits && batches.length > 0)
    lines.push('They are sent by "feedback-mirror start", or now by the same command with --wait.');
  context.print(lines.join('\n'));
}

/** Where the rows stand after waiting, and what to do about those that did not arrive. */
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

export function printRehearsal(context: Context, tally: Tally, outlook: Outlook): void {
  context.print(tallyTable(tally, 'would be accepted'));
  context.print(`\n${goesAs(outlook)}`);
  const { unknownBoards, moreUnknownBoards, duplicates } = outlook;
  if (unknownBoards.length > 0) context.print(`\n${boardsTable(unknownBoards, moreUnknownBoards)}`);
  if (duplicates.found > 0) context.print(`\n${duplicatesTable(outlook)}`);
  const lines = ['', ...tallyNotes(tally, '.')];
  if (outlook.mirror === 'empty')
    lines.push('There is no mirror yet to compare with: run "feedback-mirror sync" first to learn more.');
  else if (duplicates.checked < tally.accepted)
    lines.push(
      `Only the first ${counted(duplicates.checked, 'row')} were compared with the mirror, to save time.`,
    );
  else if (tally.accepted > 0 && duplicates.found === 0)
    lines.push('None of the new rows looks like a post that is there already.');
  lines.push(...notified(outlook), 'This was a dry run: nothing was written.');
  context.print(lines.join('\n'));
}

function goesAs({ mirror, asOwner, asKnownCustomer, asNewCustomer, ...people }: Outlook): string {
  const customers: (string | number)[][] =
    mirror === 'empty'
      ? [['a customer, new or not', asNewCustomer, people.newCustomers]]
      : [
          ['a customer the mirror knows', asKnownCustomer, people.knownCustomers],
          ['a new customer', asNewCustomer, people.newCustomers],
        ];
  return table(['goes out as', 'rows', 'people'], [['the owner of the token', asOwner, null], ...customers]);
}

function boardsTable(boards: readonly UnknownBoard[], more: number): string {
  const rows = boards.map(({ board, rows, line, nearest }) => [board, rows, line, nearest ?? '']);
  const lines = [table(['unknown board', 'rows', 'first in line', 'did you mean'], rows)];
  if (more > 0) lines.push(`and ${counted(more, 'row')} with further unknown boards`);
  return lines.join('\n');
}

function duplicatesTable({ duplicates: { found, examples } }: Outlook): string {
  const rows = examples.map(({ line, title, postId, postTitle }) => [
    String(line ?? ''),
    cut(title, 50),
    `#${postId}`,
    cut(postTitle, 50),
  ]);
  const lines = [table(['line', 'looks like a post that exists', 'post', 'its title'], rows)];
  if (found > examples.length) lines.push(`and ${grouped(found - examples.length)} more`);
  return lines.join('\n');
}

function notified({ asKnownCustomer, asNewCustomer }: Outlook): string[] {
  if (asKnownCustomer + asNewCustomer === 0) return [];
  return ['Customers may be notified by the service about posts made in their name.'];
}
