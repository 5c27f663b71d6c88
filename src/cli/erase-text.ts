import type { Erased } from '../erasure/erase.ts';
import type { UntouchedFiles } from '../erasure/files.ts';
import { table } from './table.ts';

export interface Receipt extends Erased, UntouchedFiles {
  email: string;
  backupRenewed: boolean;
}

/** For whoever asked to be erased, and for whoever has to show that it was done. */
export function receiptText(receipt: Receipt): string {
  const { email, receipt: id, erasedAt, counts, isNew } = receipt;
  const total = Object.values(counts).reduce((sum, n) => sum + n, 0);
  const found =
    total === 0 ? `Nothing ${isNew ? '' : 'more '}of this address was in the mirror.` : countsText(receipt);
  const parts = [
    `${email} erased at ${erasedAt}, receipt ${id}`,
    found,
    `Kept from coming back: ${email} stands on the suppression list, as a keyed hash.`,
    notReachedText(receipt),
  ];
  const unfinished = unfinishedText(receipt);
  if (unfinished.length > 0)
    parts.push(['Not finished:', ...unfinished.map((line) => `- ${line}`)].join('\n'));
  return parts.join('\n\n');
}

function countsText({ counts }: Receipt): string {
  const rows: [string, number][] = [
    ['people: address, name, alias', counts.users],
    ['posts: title, text, link, history, index', counts.posts],
    ['comments: text, history', counts.comments],
    ['quarantined rows', counts.quarantine],
    ['outbox rows: text, address, name', counts.outbox],
    ['- of them cancelled before they were sent', counts.cancelled],
    ['- of them unclear: the upstream may have a post of it', counts.unclear],
    ["other people's rows: the address in them", counts.mentions],
  ];
  return table(
    ['erased', 'rows'],
    rows.filter(([, n]) => n > 0),
  );
}

/** What a person would otherwise believe to be gone as well. */
function notReachedText({ exports, naming, backupRenewed }: Receipt): string {
  return [
    'Not reached:',
    '- the feedback service itself: erase the person there too',
    "- the person's name in other people's texts: nobody can tell whose it is",
    '- copies and exports outside the data folder',
    ...exports.map((path) => `- the export ${path}, made before`),
    ...naming.map((path) => `- the file ${path}: the address stands in it`),
    ...(backupRenewed ? ['The copy kept in the data folder was made anew.'] : []),
  ].join('\n');
}

/** What is left to do, and how; empty when the mirror is clean. */
export function unfinishedText({ underWay, unsettled, isClean }: Erased): string[] {
  const again = 'then run this again';
  return [
    ...(underWay.length > 0
      ? [`outbox ${rowsText(underWay)} being sent just now: wait until that is over, ${again}`]
      : []),
    ...(unsettled.length > 0
      ? [
          `outbox ${rowsText(unsettled)} not settled and names the address for somebody else: cancel it or let it be sent, ${again}`,
        ]
      : []),
    ...(isClean
      ? []
      : [
          `another process was reading or writing all the time, so old bytes may be left in the file: stop it, ${again}`,
        ]),
  ];
}

function rowsText(ids: number[]): string {
  return ids.length === 1 ? `row ${ids[0]} is` : `rows ${ids.join(', ')} are`;
}
