import type { JobContext } from '../../jobs/context.ts';
import { isOverdue, rhythmOf } from '../../jobs/freshness.ts';
import { HOUSEKEEPING_RING, type Ring, type Schedule, sweepRing } from '../../jobs/schedules.ts';
import { pastOrNull } from '../base/clock.ts';
import type { LastPass } from '../store/service-state.ts';
import { keepSchedules, ring } from './schedules.ts';

const DAY_MS = 86_400_000;

/**
 * Puts back whatever the queue should hold and does not: schedules, sweeps that are due, rows of the outbox. A queue that has lost
 * everything is as it was after one round of this, and one that has not is left as it is.
 */
export async function heal(context: JobContext, schedules: readonly Schedule[]): Promise<void> {
  const { app, backend, dispatcher } = context;
  const { set, removed, startedOver } = await keepSchedules(backend, schedules, app.clock.now());
  if (startedOver) app.log.warn('the queue was filled while the clock was ahead: it starts over');
  if (set.length + removed.length > 0)
    app.log.info({ set, removed }, 'the schedules of the queue follow the settings');
  for (const one of missing(context)) await ring(backend, one);
  await dispatcher.look();
}

function missing(context: JobContext): Ring[] {
  const { app } = context;
  const now = app.clock.now();
  const last = app.state.lastHousekeepingAt();
  // A new mirror has nothing to keep in order, and better things to do.
  if (last === null) app.state.noteHousekeeping(now);
  const isOld = last !== null && (pastOrNull(last, now) ?? 0) < now - DAY_MS;
  return [
    ...overdueSweeps(context).map(({ resource }) => sweepRing(resource)),
    ...(isOld ? [HOUSEKEEPING_RING] : []),
  ];
}

/** Lists that should be read as a whole by now, and are not just being read by this process. */
export function overdueSweeps({ app, activity }: Pick<JobContext, 'app' | 'activity'>): LastPass[] {
  const rhythm = rhythmOf(app.settings);
  return app.state
    .lastPasses()
    .filter((last) => last.mode === 'sweep' && isOverdue(last, rhythm, app.clock.now()))
    .filter(({ resource }) => activity.passes.get(resource)?.mode !== 'sweep');
}
