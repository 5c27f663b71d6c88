import type { ErrorCode } from '../../base/errors.ts';
import { runbookOf, type Symptom } from '../../base/runbook.ts';
import type { Resource } from '../../contract/endpoints.ts';

/** Passes over a list that fail, until one of them does not. */
export interface PassFailure {
  code: ErrorCode;
  /** When the first of them failed in this way; ISO 8601, as every time here. */
  since: string;
  /** When the last one failed. */
  at: string;
  error: string;
}

export interface TroubleFacts {
  failures: readonly (PassFailure & { resource: Resource })[];
  /** Why nothing is sent. */
  paused: string | null;
  /** For how long the upstream wants no calls, by its own word. */
  closed: { since: string; until: string } | null;
  lists: readonly {
    resource: Resource;
    lastSweepAt: string | null;
    /** What the last sweep lacks, where the list leaves out rows. */
    lacks: string | null;
    held: number;
    heldSince: string | null;
  }[];
  /** What the disk did not take; null while it takes everything, and where only the service can know. */
  disk: { since: string; error: string } | null;
  /** A token that was written into the settings later; null where none was, and where only the service can know. */
  newToken: { since: string; problem: string | null } | null;
}

/** What a person has to see to, in the words that every place uses. */
export interface Trouble {
  symptom: TroubleSymptom;
  /** What is wrong, as a clause. */
  what: string;
  since: string | null;
  /** Until when it is said to last. */
  until: string | null;
  /** How it shows, where that says more. */
  detail: string | null;
  advice: string;
  runbook: string;
}

/** The worst first. The alerts in `deploy/alerts.yml` have the same words, which a test compares. */
export const TROUBLES = {
  'disk-full': ['nothing can be written to the disk', 'make room on it; everything continues by itself'],
  'token-refused': [
    'the feedback service refused the token',
    'put a new one in .env or sources.yaml, no restart needed',
  ],
  'upstream-away': [
    'the feedback service is down or out of reach',
    'check the feedback service or FEEDBACK_BASE_URL; a service that runs tries again by itself',
  ],
  throttled: [
    'the feedback service asks for no calls',
    'nothing is lost, and everything continues by itself',
  ],
  'bad-answers': [
    'the feedback service answers something unexpected',
    'check FEEDBACK_BASE_URL; nothing is deleted meanwhile',
  ],
  'sweeps-fail': ['a list cannot be read', 'the log of the service says more; the mirror keeps what it has'],
  'deletions-held': [
    'many rows vanished at once, so their deletions are held',
    'look at the feedback service; if they are gone, accept them on the page Sync or with "feedback-mirror sync --accept-deletes"',
  ],
  'list-incomplete': [
    'the feedback service leaves rows out of a list',
    'ask its operator to sort the list by date and id; rows that were seen once stay',
  ],
} as const satisfies Partial<Record<Symptom, readonly [what: string, advice: string]>>;

export type TroubleSymptom = keyof typeof TROUBLES;

/** Those that are about reaching the upstream: one request that it answers ends them. */
const OF_UPSTREAM: readonly TroubleSymptom[] = ['token-refused', 'upstream-away', 'throttled', 'bad-answers'];

/**
 * Which earlier troubles are over once the first one shows. An answer of any kind ends an outage. A service that lets calls through no
 * longer asks for none. 429 says nothing about a token. While the service is away, nothing newer is known of its token.
 */
const ENDS: Partial<Record<TroubleSymptom, readonly TroubleSymptom[]>> = {
  'token-refused': ['upstream-away', 'throttled'],
  'upstream-away': ['token-refused', 'throttled'],
  throttled: ['upstream-away'],
  'bad-answers': ['token-refused', 'upstream-away', 'throttled'],
};

export function isOfUpstream({ symptom }: Trouble): boolean {
  return OF_UPSTREAM.includes(symptom);
}

export const SYMPTOM_OF_FAILURE: Record<ErrorCode, TroubleSymptom> = {
  unauthorised: 'token-refused',
  unreachable: 'upstream-away',
  throttled: 'throttled',
  refused: 'bad-answers',
  protocol: 'bad-answers',
  storage: 'disk-full',
  usage: 'sweeps-fail',
  partial: 'sweeps-fail',
  gone: 'sweeps-fail',
  busy: 'sweeps-fail',
  interrupted: 'sweeps-fail',
  internal: 'sweeps-fail',
};

/** A service that asks for a few seconds of patience is no trouble. */
const PATIENCE_MS = 10_000;

/** Everything that is wrong with reaching, reading and keeping the upstream's rows, each kind once, the worst first. */
export function troublesOf(facts: TroubleFacts, now: number): Trouble[] {
  const ofReaching = [
    ...facts.failures.map((failure) => ofFailure(failure, facts.newToken)),
    ...ofPause(facts),
    ...ofClosing(facts),
  ];
  const found = [
    ...ofDisk(facts),
    ...ofReaching
      .filter((shown) => isPresent(shown, ofReaching))
      .map((shown) => shown.trouble)
      .filter((each) => isWorthTelling(each, now)),
  ];
  const lists = facts.lists.flatMap((list) => [...ofHeld(list), ...ofLacking(list)]);
  return (Object.keys(TROUBLES) as TroubleSymptom[]).flatMap((symptom) => {
    const same = [...found, ...lists].filter((trouble) => trouble.symptom === symptom);
    return same.length === 0 ? [] : [together(same)];
  });
}

/** The clause without its time, as alerts and other sentences need it. */
function trouble(
  symptom: TroubleSymptom,
  { since = null, until = null, detail = null }: Partial<Pick<Trouble, 'since' | 'until' | 'detail'>>,
): Trouble {
  const [what, advice] = TROUBLES[symptom];
  return { symptom, what, since, until, detail, advice, runbook: runbookOf(symptom) };
}

/** A trouble, and when it last showed; empty where that is not known. */
interface Shown {
  trouble: Trouble;
  at: string;
}

function isPresent({ trouble, at }: Shown, all: readonly Shown[]): boolean {
  return !all.some((other) => other.at > at && ENDS[other.trouble.symptom]?.includes(trouble.symptom));
}

/** A closing that is over, or short, is told to nobody. It still shows that the service answered. */
function isWorthTelling({ since, until }: Trouble, now: number): boolean {
  if (since === null || until === null) return true;
  return Date.parse(until) > now && Date.parse(until) - Date.parse(since) >= PATIENCE_MS;
}

function ofDisk({ disk }: TroubleFacts): Trouble[] {
  return disk ? [trouble('disk-full', { since: disk.since, detail: withoutStop(disk.error) })] : [];
}

function ofFailure(failure: PassFailure, newToken: TroubleFacts['newToken']): Shown {
  const { code, since, at, error } = failure;
  const symptom = SYMPTOM_OF_FAILURE[code];
  const detail =
    symptom === 'token-refused'
      ? ofNewToken(failure, newToken)
      : symptom === 'throttled'
        ? null
        : causeIn(error);
  return { trouble: trouble(symptom, { since, detail }), at };
}

/** Nothing of a token that was written before the first refusal. */
function ofNewToken({ since, at }: PassFailure, newToken: TroubleFacts['newToken']): string | null {
  if (newToken === null || newToken.since <= since) return null;
  if (newToken.problem !== null) return `the one of ${newToken.since} cannot be used: ${newToken.problem}`;
  return newToken.since > at
    ? `the one of ${newToken.since} is tried now`
    : `the one of ${newToken.since} was refused too`;
}

/** `Listing posts, page 1, at HOST failed: WHY.`: what was asked for differs between the lists, and the cause is the same. */
function causeIn(error: string): string {
  return withoutStop(error.replace(/^.*? failed(?: \(\d+ attempts\))?: /, ''));
}

function ofPause({ paused }: TroubleFacts): Shown[] {
  if (paused === null) return [];
  if (!paused.includes('token')) return [{ trouble: trouble('bad-answers', { detail: paused }), at: '' }];
  const [since = null] = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(paused) ?? [];
  return [{ trouble: trouble('token-refused', { since, detail: 'sending is paused' }), at: since ?? '' }];
}

function ofClosing({ closed }: TroubleFacts): Shown[] {
  return closed === null ? [] : [{ trouble: trouble('throttled', closed), at: closed.since }];
}

type ListFact = TroubleFacts['lists'][number];

function ofHeld({ resource, held, heldSince }: ListFact): Trouble[] {
  const rows = held === 1 ? resource.slice(0, -1) : resource;
  return held === 0 ? [] : [trouble('deletions-held', { since: heldSince, detail: `${held} ${rows}` })];
}

function ofLacking({ resource, lacks, lastSweepAt }: ListFact): Trouble[] {
  return lacks === null
    ? []
    : [trouble('list-incomplete', { since: lastSweepAt, detail: `${resource}: ${withoutStop(lacks)}` })];
}

/** Of one kind: since the first, as each of them shows. */
function together(same: readonly Trouble[]): Trouble {
  const [first, ...others] = same;
  if (!first) throw new Error('there is at least one trouble of this kind');
  const times = same.flatMap(({ since }) => since ?? []).sort();
  const details = [...new Set(same.flatMap(({ detail }) => detail ?? []))];
  const until = others.reduce(
    (last, { until }) => (until !== null && until > (last ?? '') ? until : last),
    first.until,
  );
  return { ...first, since: times[0] ?? null, until, detail: details.join('; ') || null };
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

/** What is wrong and since when, without what to do about it. */
export function troubleClause(
  { what, since, until, detail }: Pick<Trouble, 'what' | 'since' | 'until' | 'detail'>,
  timeOf: (iso: string) => string,
): string {
  const from = since === null ? '' : ` since ${since}`;
  const to = until === null ? '' : `, until ${until}`;
  return withTimes(`${what}${from}${to}${detail === null ? '' : ` (${detail})`}`, timeOf);
}

function withTimes(text: string, timeOf: (iso: string) => string): string {
  return text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, timeOf);
}

/** The sentence about it: `the feedback service refused the token since 10:02: put a new one in .env or sources.yaml, no restart needed`. */
export function troubleText(trouble: Trouble, timeOf: (iso: string) => string): string {
  return `${troubleClause(trouble, timeOf)}: ${trouble.advice}`;
}

/** `10:02 UTC`, in the zone of this process; with its day where that is another one. */
export function clockTime(time: string, now: number): string {
  const at = new Date(time);
  const isToday = at.toDateString() === new Date(now).toDateString();
  const day = isToday ? '' : `${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}, `;
  return day + at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' });
}
