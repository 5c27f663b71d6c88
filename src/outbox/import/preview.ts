import { emailKey } from '../../text/email.ts';
import type { NewRow } from '../decide/types.ts';
import type { ImportReads, KnownRow } from '../store/imports.ts';
import type { UnknownBoards } from './boards.ts';
import { sourceKey } from './csv/source-key.ts';
import type { Duplicates } from './duplicates.ts';
import type { RowVerdict, Sink } from './intake.ts';

/** What would come of the rows that an import would accept, as far as the mirror can tell. */
export interface Preview extends UnknownBoards {
  /** Without one, or with one that was never filled, nothing is known about boards, customers and duplicates; nor where the service has no posts. */
  mirror: 'filled' | 'empty' | 'no posts';
  asOwner: number;
  asKnownCustomer: number;
  asNewCustomer: number;
  /** Different people among the rows that go as a customer: whom the service may tell about posts in their name. */
  knownCustomers: number;
  newCustomers: number;
  /** Rows that look like posts of the mirror; null where they were not compared. */
  duplicates: Duplicates | null;
  /** The first posts as they would be sent. */
  first: NewRow[];
}

const FIRST_SHOWN = 3;

export interface PreviewSink extends Sink {
  readonly people: Omit<Preview, keyof UnknownBoards | 'duplicates'>;
}

/** Judges rows as the outbox would, and writes nothing. */
export function previewSink(reads: ImportReads | null): PreviewSink {
  const filled = reads && reads.boards().length > 0 ? reads : null;
  const people: PreviewSink['people'] = {
    mirror: filled ? 'filled' : reads?.hasSwept() ? 'no posts' : 'empty',
    asOwner: 0,
    asKnownCustomer: 0,
    asNewCustomer: 0,
    knownCustomers: 0,
    newCustomers: 0,
    first: [],
  };
  const [textOfKey, met] = [new Map<string, string>(), new Set<string>()];
  return {
    people,
    async take(rows) {
      const known = reads?.known(rows) ?? [];
      const verdicts = rows.map((row, i) => judge(known[i] ?? null, sameKeyEarlier(row, textOfKey)));
      const accepted = rows.filter((_, i) => verdicts[i]?.outcome === 'accepted');
      people.first.push(...accepted.slice(0, FIRST_SHOWN - people.first.length));
      addPeople(people, accepted, filled, met);
      return verdicts;
    },
  };
}

type Earlier = 'none' | 'same' | 'other';

function judge(known: KnownRow | null, earlier: Earlier): RowVerdict {
  if (known) {
    const { id, state, same, mendable, revivable } = known;
    if (revivable || (!same && mendable)) return { outcome: 'accepted' };
    return same ? { outcome: 'already', state } : { outcome: 'conflict', with: `outbox row ${id}` };
  }
  if (earlier === 'none') return { outcome: 'accepted' };
  return earlier === 'same'
    ? { outcome: 'already', state: 'ready' }
    : { outcome: 'conflict', with: 'an earlier row of this file' };
}

/** Remembers keys of the file: without writing, a second row with the same key is not found in the outbox. */
function sameKeyEarlier(post: NewRow, textOfKey: Map<string, string>): Earlier {
  // Rows without a key of their own have one that cannot stand twice.
  if (!post.source_key.startsWith('key:')) return 'none';
  const text = sourceKey({ key: null, post }, 1);
  const first = textOfKey.get(post.source_key);
  if (first !== undefined) return first === text ? 'same' : 'other';
  textOfKey.set(post.source_key, text);
  return 'none';
}

function addPeople(
  people: PreviewSink['people'],
  rows: readonly NewRow[],
  reads: ImportReads | null,
  met: Set<string>,
): void {
  const emails = rows.flatMap(({ email }) => (email === null ? [] : [emailKey(email)]));
  people.asOwner += rows.length - emails.length;
  const known = reads?.customers([...new Set(emails)]) ?? new Set<string>();
  for (const email of emails) {
    const isNew = !known.has(email);
    people[isNew ? 'asNewCustomer' : 'asKnownCustomer']++;
    if (!met.has(email)) people[isNew ? 'newCustomers' : 'knownCustomers']++;
    met.add(email);
  }
}
