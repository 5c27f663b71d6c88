import type { Resource } from '../../contract/endpoints.ts';
import { counted } from '../../text/text.ts';
import { worthOf } from './absence.ts';
import type { ListFacts } from './list-facts.ts';
import type { Way } from './miss.ts';

/** Rows of a list that were missed in one way, and the lowest score among them. */
export interface MissingGroup {
  way: Way;
  rows: number;
  score: number;
  since: string;
}

export interface ListState {
  resource: Resource;
  rows: number;
  facts: ListFacts;
  missing: readonly MissingGroup[];
  /** What the last sweep says that it lacks; null where it was complete. */
  lacks: string | null;
}

/** What an operator should know about a list, in sentences. The first is the worst; an ordinary list has none. */
export function listNotes(list: ListState): string[] {
  return [...lackNote(list), ...leakNote(list), ...headNote(list), ...missingNotes(list)];
}

/** What the operator of the service can do about a list that leaves out rows. */
export const UNIQUE_ORDER =
  'Ask the operator of the service to sort the list by something unique, for example date and then id.';

function lackNote({ resource, lacks, facts }: ListState): string[] {
  if (lacks !== null) return [`The last sweep of ${resource} was incomplete: ${lacks}. ${UNIQUE_ORDER}`];
  if (facts.absences.distrusted === 0) return [];
  return [
    `The order of ${resource} changed from one page to the next in one of the last 20 sweeps. ` +
      'Rows that are missing on such pages do not count as deleted.',
  ];
}

function leakNote({ resource, rows, facts }: ListState): string[] {
  // What the list has taught, and not how short it has been watched.
  const sweeps = Math.ceil(1 / worthOf({ ...facts.absences, sweeps: Number.POSITIVE_INFINITY }, rows).inside);
  if (sweeps <= 2) return [];
  const share = (100 * facts.absences.inside).toPrecision(2);
  return [
    `Sweeps of ${resource} miss up to ${share} % of the rows and show them again later. So a deletion takes ${sweeps} sweeps instead of 2.`,
  ];
}

function headNote({ resource, facts }: ListState): string[] {
  if (facts.newRows !== 'elsewhere') return [];
  return [
    `New ${resource} do not come at the start of the list. Head passes are left out, and each sweep brings them.`,
  ];
}

function missingNotes({ resource, rows, facts, missing }: ListState): string[] {
  const worth = worthOf(facts.absences, rows);
  const lost = missing.filter(({ way }) => way === 'unstable');
  const judged = missing.filter(({ way }) => way !== 'unstable');
  const sweeps = judged.map(({ way, score }) =>
    way === 'unstable' ? 0 : Math.max(1, Math.ceil((1 - score) / Math.max(worth[way], 0.01))),
  );
  const most = Math.max(...sweeps);
  const wait = most === 1 ? 'one more sweep' : `at most ${most} more sweeps`;
  return [
    ...missingNote(resource, judged, '', (them) => `after ${wait} without ${them}`),
    ...missingNote(resource, lost, ' on pages whose order changes', () => 'only once the order is stable'),
  ];
}

function missingNote(
  resource: Resource,
  groups: readonly MissingGroup[],
  where: string,
  when: (them: string) => string,
): string[] {
  const rows = groups.reduce((sum, group) => sum + group.rows, 0);
  const [first] = groups.map(({ since }) => since).sort();
  if (first === undefined) return [];
  const isOne = rows === 1;
  const since = `${first.slice(0, 10)} ${first.slice(11, 16)} UTC`;
  const what = `${counted(rows, resource.slice(0, -1))} ${isOne ? 'is' : 'are'} missing since ${since}${where}`;
  return [`${what}; ${isOne ? 'it counts' : 'they count'} as deleted ${when(isOne ? 'it' : 'them')}.`];
}
