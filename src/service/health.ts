import { pastOrNull } from '../base/clock.ts';
import { runbookOf, type Symptom } from '../base/runbook.ts';
import type { Resource } from '../contract/endpoints.ts';
import {
  clockTime,
  isOfUpstream,
  SYMPTOM_OF_FAILURE,
  TROUBLES,
  type Trouble,
  type TroubleFacts,
  type TroubleSymptom,
  troubleClause,
  troublesOf,
  troubleText,
} from '../mirror/decide/troubles.ts';
import type { PassMode } from '../mirror/decide/types.ts';
import type { CopyProgress } from '../publish/publisher.ts';
import type { BackendKind } from '../queue/backend.ts';
import type { MirrorFileState } from '../state/state.ts';

/** How far the service has come, as plain times in milliseconds since the epoch. */
export interface Progress {
  now: number;
  startedAt: number;
  /** When the queue last carried a scheduled tick to its end: shows that queue and worker loop live. */
  lastTickAt: number | null;
  /** At most 40 s, or a loop that stopped would go unnoticed for more than two minutes. */
  tickEveryMs: number;
  mirror: MirrorFileState;
  lists: readonly ListProgress[];
  outbox: OutboxProgress;
  /** Until when nothing is asked of the upstream, by its word or because it does not answer; null when it may be called. */
  closedUntil: number | null;
  /** What is known of troubles with the upstream and the disk. */
  troubles: TroubleFacts;
  /** Endpoints that are told of changes; left out where there are none. */
  webhooks?: readonly WebhookProgress[];
  /** The copy in PostgreSQL; left out where there is none. */
  copy?: CopyProgress;
  /** In a fleet nothing is accepted before there is a copy. */
  needsCopy?: boolean;
  queue: {
    /** Null until it is open. */
    kind: BackendKind | null;
    reachable: boolean;
    depth: readonly { queue: string; state: string; jobs: number }[];
  };
}

export interface ListProgress {
  resource: Resource;
  lastSweepAt: number | null;
  /** When the sweep after that one is due. It stays where it is while sweeps fail: that is how long we are late. */
  sweepDueAt: number;
  /** Before that no sweep is begun, because the last one failed; null where none did. */
  retryAt: number | null;
  /** How long sweeps of this list take; 0 or left out before the first one. */
  usualSweepMs?: number;
  /** A pass under way; without a page so far, `lastPageAt` is `since`. */
  running: { mode: PassMode; since: number; lastPageAt: number } | null;
}

export interface OutboxProgress {
  /** Rows that could go on now: to be sent, or to be reconciled. */
  due: number;
  /** Since when the row that waits longest could have been sent; null when none waits. */
  oldestDueAt: number | null;
  lastAttemptAt: number | null;
  /** Why nothing is sent, in words for the operator. */
  paused: string | null;
  /** Boards to which nothing is sent for now, and why, each in words. */
  refused: string[];
  isSender: boolean;
}

export interface WebhookProgress {
  id: string;
  host: string;
  lag: number;
  /** Those of them that are not kept any more. */
  lost: number;
  failingSince: number | null;
  disabledWhy: string | null;
}

export interface Health {
  ready: boolean;
  /** What a person has to see to, the worst first, each with its sentence. */
  troubles: (Trouble & { text: string })[];
  checks: (HealthVerdict & { name: string })[];
}

export interface HealthVerdict {
  ok: boolean;
  detail: string;
  /** Something beside the service needs a person, which a restart would not help. The service is ready. */
  warning?: true;
  /** Where the runbook says what to do; left out where nothing is to be done. */
  runbook?: string;
}

/** Work that can go on shows a sign of life at least this often. A probe every 30 s then sees stuck work within 2 minutes. */
const STILL_MS = 90_000;
const TICK_AT_LEAST_MS = 60_000;

/**
 * Whether the service does its work, judged by what got done and not by whether it seems to run. Times are those of the clock here, unless
 * the reader shows its own.
 */
export function assess(
  progress: Progress,
  timeOf = (iso: string): string => clockTime(iso, progress.now),
): Health {
  const troubles = troublesOf(progress.troubles, progress.now).map((trouble) => ({
    ...trouble,
    text: troubleText(trouble, timeOf),
  }));
  const clauseOf = (symptom: TroubleSymptom): HealthVerdict => {
    const known = troubles.find((trouble) => trouble.symptom === symptom);
    return bad(known ? troubleClause(known, timeOf) : TROUBLES[symptom][0], symptom);
  };
  const checks = [
    { name: 'mirror', ...judgeMirror(progress) },
    { name: 'queue', ...judgeQueue(progress) },
    { name: 'loop', ...judgeLoop(progress) },
    ...progress.lists.map((list) => ({ name: list.resource, ...judgeList(list, progress, clauseOf) })),
    { name: 'outbox', ...judgeOutbox(progress) },
    ...(troubles.some(isOfUpstream) ? [] : [{ name: 'upstream', ...describeUpstream(progress) }]),
    ...troubles.map((trouble) => ({
      name: isOfUpstream(trouble) ? 'upstream' : trouble.symptom,
      ...noted(trouble.text, trouble.symptom),
    })),
    ...(progress.webhooks ?? []).map((webhook) => ({
      name: `webhook ${webhook.id}`,
      ...describeWebhook(webhook, progress),
    })),
    ...(progress.copy ? [{ name: 'copy', ...describeCopy(progress.copy, progress) }] : []),
  ];
  // A supervisor restarts a service that is not ready, and a restart solves nothing of what a warning is about.
  return { ready: checks.every(({ ok, warning }) => ok || warning), troubles, checks };
}

/** A check that fails because of a trouble, in the words of the trouble. */
type ClauseOf = (symptom: TroubleSymptom) => HealthVerdict;

function judgeMirror({ mirror, troubles: { disk } }: Progress): HealthVerdict {
  if (mirror !== 'in place') return bad(MIRROR_LOST[mirror], 'mirror-removed');
  return disk ? bad(TROUBLES['disk-full'][0], 'disk-full') : good('its file is in place');
}

const LOST_WITH_IT =
  'put it back, or restart the service; what had not been sent is lost with the file unless it is put back';

/** In the words of the log as well. */
export const MIRROR_LOST: Record<Exclude<MirrorFileState, 'in place'>, string> = {
  removed: `its file was removed while the service writes to it: ${LOST_WITH_IT}`,
  replaced: `another file is in the place of the one that the service writes to: ${LOST_WITH_IT}`,
};

function judgeQueue({ queue: { kind, reachable }, troubles: { disk } }: Progress): HealthVerdict {
  if (kind !== null && reachable) return good(`the ${kind} queue answers`);
  if (disk !== null && (kind === null || kind === 'embedded'))
    return bad('the queue does not answer while the disk is full', 'disk-full');
  return kind === null
    ? bad('the queue is still being opened', 'queue-away')
    : bad(`the ${kind} queue does not answer`, 'queue-away');
}

function judgeLoop({ now, startedAt, lastTickAt, tickEveryMs }: Progress): HealthVerdict {
  const patience = Math.max(3 * tickEveryMs, TICK_AT_LEAST_MS);
  if (lastTickAt === null)
    return bad(`no job has come through the queue since the start ${ago(now, startedAt)}`, 'no-ticks');
  const detail = `the last job came through the queue ${ago(now, lastTickAt)}`;
  return now - lastTickAt <= patience
    ? good(detail)
    : bad(`${detail}, one is due every ${span(tickEveryMs)}`, 'no-ticks');
}

function judgeList(list: ListProgress, progress: Progress, clauseOf: ClauseOf): HealthVerdict {
  const { now } = progress;
  const stuck = stuckPass(list, progress);
  const failure = progress.troubles.failures.find(({ resource }) => resource === list.resource);
  const isLate = !list.running && (list.lastSweepAt === null || isStill(list.sweepDueAt, progress));
  if (failure && (stuck || isLate)) return clauseOf(SYMPTOM_OF_FAILURE[failure.code]);
  if (stuck) return bad(stuck, 'sweep-stuck');
  if (isMissed(list, progress)) return bad(missedText(list, now), 'sweep-stuck');
  const { lastSweepAt, running } = list;
  const under = running ? `, a ${passName(running.mode)} has run for ${span(now - running.since)}` : '';
  if (lastSweepAt === null) return bad(firstSweep(list, now), 'first-sweep');
  if (pastOrNull(lastSweepAt, now) === null)
    return judgeUndated(`${datedAhead(now, lastSweepAt)}${under}`, list, now);
  const isWhole = progress.troubles.lists.every(
    ({ resource, lacks }) => resource !== list.resource || lacks === null,
  );
  const detail = `the last ${isWhole ? 'complete ' : ''}sweep ended ${ago(now, lastSweepAt)}${under}`;
  return now > staleAt(list, lastSweepAt)
    ? bad(`${detail}; that is too long ago`, 'mirror-old')
    : good(detail);
}

/** The age of the mirror is not known: the next sweep is due since that was noticed, and may take its usual time. */
function judgeUndated(detail: string, list: ListProgress, now: number): HealthVerdict {
  return now <= staleAt(list, list.sweepDueAt)
    ? good(detail)
    : bad(`${detail}; the next one takes too long`, 'mirror-old');
}

function datedAhead(now: number, time: number): string {
  return `the last complete sweep is dated ${span(time - now)} ahead of the clock, which was set since; another is due`;
}

function firstSweep({ running, sweepDueAt }: ListProgress, now: number): string {
  if (running?.mode === 'sweep')
    return `the first sweep has run for ${span(now - running.since)}, its last page came ${ago(now, running.lastPageAt)}`;
  return `there was no complete sweep yet; one is due ${sweepDueAt > now ? `in ${span(sweepDueAt - now)}` : 'now'}`;
}

/**
 * Two intervals and the time a sweep takes: a long sweep that gets on is no reason to call the mirror old. Under a cron pattern
 * the last sweep may have ended just before the next one was due; that leaves room for a second sweep at least.
 */
function staleAt({ sweepDueAt, usualSweepMs = 0 }: ListProgress, lastSweepAt: number): number {
  return sweepDueAt + Math.max(sweepDueAt - lastSweepAt, usualSweepMs, STILL_MS) + usualSweepMs;
}

function passName(mode: PassMode): string {
  return mode === 'head' ? 'head pass' : mode;
}

function stuckPass({ running }: ListProgress, progress: Progress): string | null {
  if (!running || !isStill(running.lastPageAt, progress)) return null;
  return `a ${passName(running.mode)} is stuck: its last page came ${ago(progress.now, running.lastPageAt)}`;
}

function isMissed({ running, sweepDueAt, retryAt }: ListProgress, progress: Progress): boolean {
  return !running && isStill(Math.max(sweepDueAt, retryAt ?? 0), progress);
}

function missedText({ sweepDueAt }: ListProgress, now: number): string {
  return `a sweep has been due for ${span(now - sweepDueAt)}, and none runs`;
}

function judgeOutbox(progress: Progress): HealthVerdict {
  const { now, outbox } = progress;
  const { due, oldestDueAt, lastAttemptAt, paused, refused, isSender } = outbox;
  if (!isSender) return good('another process sends');
  if (paused !== null) {
    const symptom = paused.includes('token') ? 'token-refused' : 'bad-answers';
    return bad(`sending is paused: ${TROUBLES[symptom][0]}`, symptom);
  }
  // A restart, which is what a service that is not ready gets, brings no permission.
  const boards = refused.map((why) => `; ${why}`).join('');
  const calm = (detail: string): HealthVerdict =>
    refused.length > 0 ? { ...good(detail), runbook: runbookOf('board-refused') } : good(detail);
  if (oldestDueAt === null) return calm(`nothing is due to be sent or looked for${boards}`);
  const detail = `${due} ${due === 1 ? 'row is' : 'rows are'} due, the oldest for ${span(now - oldestDueAt)}${boards}`;
  if (!isStill(Math.max(oldestDueAt, lastAttemptAt ?? 0), progress)) return calm(detail);
  return bad(
    `${detail}, and ${lastAttemptAt === null ? 'nothing was sent yet' : `the last attempt began ${ago(now, lastAttemptAt)}`}`,
    'outbox-stuck',
  );
}

/** A rate limit of the upstream is no fault of this service. The checks of the lists say what becomes old by it. */
function describeUpstream({ now, closedUntil }: Progress): HealthVerdict {
  if (closedUntil === null || closedUntil <= now) return good('may be called');
  return good(`is not called for another ${span(closedUntil - now)}`);
}

/** A receiver that is away is no reason to restart this service, which is what a service that is not ready gets. */
function describeWebhook(
  { host, lag, lost, failingSince, disabledWhy }: WebhookProgress,
  { now }: Progress,
): HealthVerdict {
  const gone = lost === 0 ? '' : ` (${lost} of them not kept any more)`;
  const behind = `${lag} ${lag === 1 ? 'change' : 'changes'} behind${gone}`;
  if (disabledWhy !== null)
    return noted(`${host} is disabled, ${behind}: ${disabledWhy}`, 'webhook-disabled');
  if (failingSince !== null)
    return noted(`${host} has failed for ${span(now - failingSince)}, ${behind}`, 'webhook-failing');
  return good(lag === 0 ? `${host} was told of every change` : `${host} is ${behind}`);
}

/** Longer behind than this is worth a word; the copy is usually a second behind. */
const COPY_LATE_MS = 60_000;

/** A PostgreSQL that is away is no reason to restart this service either; what is at stake is what a lost disk would cost. */
function describeCopy(
  copy: CopyProgress,
  { now, webhooks = [], needsCopy = false }: Progress,
): HealthVerdict {
  const { place, schema, behind, behindSince, publishedAt, trouble, isElsewhere } = copy;
  if (needsCopy && publishedAt === null)
    return bad(
      `${trouble ?? 'the first copy is being written'}: nothing is accepted before it is there`,
      'copy-behind',
    );
  if (isElsewhere) return good(`another service writes the copy in ${schema}`);
  const lag = behindSince === null ? 0 : now - behindSince;
  const cost =
    publishedAt === null
      ? 'no copy is known yet, and a lost disk would cost everything'
      : `a lost disk would cost the last ${span(lag)}${behind === null ? '' : `, ${behind} ${behind === 1 ? 'change' : 'changes'}`}`;
  if (trouble !== null) return noted(`${trouble}; ${cost}`, 'copy-behind');
  if (lag > COPY_LATE_MS) return noted(`the copy in ${schema} is late: ${cost}`, 'copy-behind');
  const where = `the copy in ${schema} at ${place ?? 'its server'}`;
  if (lag > 0) return good(`${where}: ${cost}`);
  const untold = Math.max(0, ...webhooks.map((webhook) => webhook.lag));
  return good(
    untold === 0
      ? `${where} has everything: a lost disk would cost nothing`
      : `${where} has every row: a lost disk would cost only the ${untold === 1 ? 'change' : `${untold} changes`} that webhooks were not told yet`,
  );
}

/** Whether nothing has moved for too long. Time before our start, and time in which we may not call, does not count. */
function isStill(since: number, { now, startedAt, closedUntil }: Progress): boolean {
  return now - Math.max(since, startedAt, closedUntil ?? 0) > STILL_MS;
}

function good(detail: string): HealthVerdict {
  return { ok: true, detail };
}

function bad(detail: string, symptom: Symptom): HealthVerdict {
  return { ok: false, detail, runbook: runbookOf(symptom) };
}

function noted(detail: string, symptom: Symptom): HealthVerdict {
  return { ...bad(detail, symptom), warning: true };
}

function ago(now: number, time: number): string {
  return `${span(now - time)} ago`;
}

/** `40 s`, `3 min`, `5 h`, `4 days`. A clock that was set back does not make it negative. */
function span(ms: number): string {
  const seconds = Math.max(Math.round(ms / 1000), 0);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}
