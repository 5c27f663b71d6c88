import type { Command } from 'commander';
import { mirrorOf } from '../app/place.ts';
import { pastOrNull } from '../base/clock.ts';
import { clockTime, type Trouble, troubleText } from '../mirror/decide/troubles.ts';
import {
  copyText,
  type MirrorStatus,
  type OlderCopy,
  type ResourceStatus,
  type RunRow,
} from '../mirror/decide/types.ts';
import { KEY_HINT, unreadableText } from '../mirror/suppression/key-text.ts';
import type { StateCounts } from '../outbox/decide/types.ts';
import { type Estimate, estimateText, estimateWaiting } from '../outbox/send/estimate.ts';
import type { BatchRow } from '../outbox/store/batches.ts';
import type { RefusedBoard } from '../outbox/store/refused.ts';
import { counted, durationText } from '../text/text.ts';
import { type Context, closing, eachSource, openContexts, sayIfElsewhere } from './context.ts';
import { batchLines, hindranceLines, LONG_MS, stateText } from './outbox-text.ts';
import { announced, askService, type ServiceReport, serviceText } from './service.ts';
import { table } from './table.ts';

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('status')
    .description('how fresh and how whole the mirror is')
    .addHelpText('after', '\nExamples:\n  feedback-mirror status\n  feedback-mirror status --json')
    .action(() => eachSource(openContexts(program, stop), status));
}

async function status(context: Context): Promise<void> {
  const place = await sayIfElsewhere([context]);
  const { readMirrorStatus } = await import('../mirror/store/store.ts');
  const found = readMirrorStatus(mirrorOf(context.settings));
  const outbox = await outboxStatus(context);
  const service = await serviceReport(context);
  const mirror = context.settings.mirrorPath;
  context.answer({ mirror, ...found, outbox, service, ...place }, () =>
    statusText(context, { ...found, outbox, service }),
  );
}

interface OutboxStatus {
  states: StateCounts;
  paused: string | null;
  refused: RefusedBoard[];
  /** Imports that are paused or have a pace of their own, each with its own estimate. */
  batches: (BatchRow & { estimate: Estimate | null })[];
  /** The estimate for rows without a pace of their own; null if no such row waits. */
  estimate: Estimate | null;
}

async function outboxStatus({ settings }: Context): Promise<OutboxStatus | null> {
  const { openOutboxView } = await import('../outbox/store/view.ts');
  await using view = closing(openOutboxView(mirrorOf(settings)));
  if (!view) return null;
  const estimateOf = (batch: string | null): Estimate | null =>
    estimateWaiting(view, batch, settings.pushPerMinute, Date.now());
  const batches = view.batches().map((row) => ({ ...row, estimate: estimateOf(row.batch) }));
  return {
    states: view.counts(null),
    paused: view.paused(),
    refused: view.refusedBoards(),
    batches,
    estimate: estimateOf(null),
  };
}

async function serviceReport({ settings }: Context): Promise<ServiceReport | null> {
  const url = announced(settings.dataDir);
  return url === null ? null : await askService(url, settings.httpToken);
}

interface Found extends MirrorStatus {
  outbox: OutboxStatus | null;
  service: ServiceReport | null;
}

function statusText(
  { settings }: Context,
  { upstream, troubles, olderCopy, unreadableList, people, resources, runs, outbox, service }: Found,
): string {
  const lists = table(
    ['list', 'live', 'deleted', 'last sweep', 'last head', 'suspects', 'held', 'quarantined'],
    resources.map((r) => [
      r.resource,
      r.live,
      r.deleted,
      ago(r.lastSweepAt),
      ago(r.lastHeadAt),
      r.suspects,
      r.held,
      r.quarantined,
    ]),
  );
  const recent = table(
    ['run', 'list', 'pass', 'started', 'outcome', 'pages', 'rows', 'new', 'changed', 'deleted'],
    runs.map((r) => [
      `#${r.id}`,
      r.resource,
      r.mode,
      ago(r.started_at),
      outcome(r),
      r.pages,
      r.rows,
      r.inserted,
      r.updated,
      r.deleted,
    ]),
  );
  return [
    `mirror of ${upstream}`,
    `in ${settings.mirrorPath}: ${counted(people.users, 'user')}, ${counted(people.boards, 'board')}, ${counted(people.statuses, 'status', 'statuses')}`,
    ...(service?.troubles ?? troubles).map(troubleLine),
    ...(olderCopy ? olderCopyText(olderCopy) : []),
    ...(unreadableList ? [`${unreadableText(unreadableList)}. ${KEY_HINT}`] : []),
    '',
    lists,
    ...resources.flatMap(advice),
    '',
    `outbox: ${outbox ? stateText(outbox.states) : 'empty'}`,
    ...(outbox ? outboxLines(outbox) : []),
    ...(outbox ? hindranceLines({ paused: null, refused: outbox.refused }) : []),
    ...serviceText(service),
    '',
    runs.length > 0 ? recent : 'No pass has run yet: start with "feedback-mirror sync".',
    ...failures(runs),
  ].join('\n');
}

/** What a person has to see to; a service that runs knows more than the file. */
function troubleLine(trouble: Trouble): string {
  return `! ${troubleText(trouble, (time) => clockTime(time, Date.now()))} (${trouble.runbook})`;
}

/** An import with a pace of its own may end long after the others, so it has a line of its own. */
function outboxLines({ estimate, batches }: OutboxStatus): string[] {
  const own = batches.flatMap((row) => {
    const lines = row.estimate ? [`${estimateText(row.estimate)}.`] : batchLines(row);
    return lines.map((line) => `${row.batch}: ${line}`);
  });
  if (!estimate || estimate.ms < LONG_MS) return own;
  const others = batches.some((row) => row.estimate) ? 'Others: ' : '';
  return [`${others}${estimateText(estimate)}.`, ...own];
}

/** Shown until a sweep is complete and every row was looked for. */
function olderCopyText({ since, noticedAt, checking, erasures, isCovered }: OlderCopy): string[] {
  const rows = counted(checking, 'outbox row');
  const lines = [
    `This mirror is ${copyText({ since })}. What it may have sent since is looked for before anything is sent: ${rows}.`,
  ];
  if (noticedAt === null)
    lines.push('It was only read so far: that begins with the next command that writes.');
  if (erasures > 0)
    lines.push(
      `${counted(erasures, 'person', 'people')} erased since ${erasures === 1 ? 'was' : 'were'} erased again.`,
    );
  if (!isCovered)
    lines.push(
      'This data folder does not know who was erased since: erase them again. Rows imported, or called for under a key, in the next 30 days are looked for first.',
    );
  return lines;
}

/** Below the runs, not beside them: a column as wide as a sentence would break every line. */
function failures(runs: RunRow[]): string[] {
  const failed = runs.filter(({ error }) => error !== null);
  if (failed.length === 0) return [];
  return [
    '',
    table(
      ['run', 'what went wrong'],
      failed.map(({ id, error }) => [`#${id}`, error]),
    ),
  ];
}

function outcome({ outcome, finished_at }: RunRow): string {
  return outcome === 'running' && finished_at === null ? 'running, or killed' : outcome;
}

function advice({ resource, quarantined, notes, unfinished }: ResourceStatus): string[] {
  const thing = resource.slice(0, -1);
  const lines: string[] = [];
  if (quarantined > 0)
    lines.push(
      `${counted(quarantined, thing)} could not be read: the table quarantine has each with its reason.`,
    );
  lines.push(...notes);
  if (unfinished)
    lines.push(
      `A sweep of ${resource} is not finished: it is under way, or was interrupted and the next one continues from there.`,
    );
  return lines;
}

/** `3 min ago`; the exact time is in --json. */
function ago(time: string | null): string {
  if (time === null) return 'never';
  const at = pastOrNull(Date.parse(time), Date.now());
  if (at === null) return 'at a time that has not come yet: the clock was set back';
  return `${durationText(Math.round((Date.now() - at) / 1000) * 1000)} ago`;
}
