import type { WorkContext } from '../../jobs/context.ts';
import type { DriftWatch } from '../app/drift.ts';
import type { Rules } from '../app/rules.ts';
import { codeOf, messageOf } from '../base/errors.ts';
import { unlessStopped } from '../base/timeout.ts';
import { deliverTo, lookAtRules } from '../rules/engine.ts';
import { counted } from '../text/text.ts';
import { loop } from './workers.ts';

export interface TellingPeriods {
  /** How often rules look for news, and how often another process is asked for the lock. */
  lookMs: number;
  /** How often a channel is asked for what waits. */
  deliverMs: number;
}

/** How often the rows of the lists are looked at for fields that changed. */
const DRIFT_MS = 10 * 60_000;

/** Notes fields of the API that vanished, appeared or changed their kind: for the doctor, the dashboard and rules. */
export async function keepLookingForDrift({ app, signal }: WorkContext): Promise<void> {
  const { openDriftWatch } = await import('../app/drift.ts');
  const opened: DriftWatch[] = [];
  const look = async (): Promise<void> => {
    // In the first step, so that a file that cannot be opened is tried again.
    const watch = opened[0] ?? openDriftWatch(app.settings);
    if (opened.length === 0) opened.push(watch);
    const drifts = watch.observe(app.clock.now());
    if (drifts > 0)
      app.log.warn(
        { event: 'api.drift', fields: drifts },
        `the API changed in ${counted(drifts, 'field')}; "feedback-mirror doctor" names them`,
      );
  };
  try {
    await loop({ ...app, signal, name: 'looking for fields that changed', everyMs: DRIFT_MS }, look);
  } finally {
    for (const watch of opened) watch.close();
  }
}

/** Looks at the rules and sends what they made, in the one process that has the lock. A channel that is away holds up no other. */
export async function keepTelling({ app, signal }: WorkContext, periods: TellingPeriods): Promise<void> {
  const { rules } = app;
  if (!rules) return;
  const name = 'waiting for the lock of the rules';
  await loop({ ...app, signal, name, everyMs: periods.lookMs }, async () => {
    const lock = rules.lock();
    if (!lock.ok) return;
    try {
      await tell({ app, signal }, rules, periods);
    } finally {
      lock.release();
    }
  });
}

async function tell(
  { app, signal }: Pick<WorkContext, 'app' | 'signal'>,
  { deps, reload }: Rules,
  { lookMs, deliverMs }: TellingPeriods,
): Promise<void> {
  const { log } = app;
  const interrupted = deps.store.noteInterrupted();
  if (interrupted > 0)
    log.warn(
      { event: 'rules.interrupted', messages: interrupted },
      `${counted(interrupted, 'message')} of rules may have been sent before the last stop: the next attempt says that it is repeated`,
    );
  const delivering = new Map<string, Promise<void>>();
  const deliverAll = (): void => {
    for (const { name } of deps.channels)
      if (!delivering.has(name))
        delivering.set(
          name,
          loop({ ...app, signal, name: `telling the channel ${name}`, everyMs: deliverMs }, async () => {
            const channel = deps.channels.find((one) => one.name === name);
            if (channel) await unlessStopped(signal, deliver(app, deps, channel, signal));
          }),
        );
  };
  /** What was logged of a rule that fails with every look. */
  let logged = new Map<string, string>();
  await loop({ ...app, signal, name: 'looking at the rules', everyMs: lookMs }, async () => {
    // A channel that is away holds up neither the rules nor another channel.
    deliverAll();
    reload();
    deliverAll();
    const { failures } = await lookAtRules(deps);
    for (const { rule, error } of failures) {
      const why = messageOf(error);
      if (logged.get(rule) !== why)
        log.error(
          { event: 'rules.failed', rule, code: codeOf(error) },
          `the rule ${rule} could not be looked at: ${why}`,
        );
    }
    logged = new Map(failures.map(({ rule, error }) => [rule, messageOf(error)]));
  });
  await Promise.all(delivering.values());
}

async function deliver(
  { log }: WorkContext['app'],
  deps: Rules['deps'],
  channel: Rules['deps']['channels'][number],
  signal: AbortSignal,
): Promise<void> {
  const { sent, failed } = await deliverTo(deps, channel, signal);
  const facts = { channel: channel.name, sent };
  if (sent > 0)
    log.info({ event: 'rules.sent', ...facts }, `${counted(sent, 'message')} sent to ${channel.name}`);
  if (failed)
    log.warn(
      { event: 'rules.not-sent', ...facts, rule: failed.rule, outcome: failed.kind },
      `a message of the rule ${failed.rule} did not reach ${channel.name}; it is tried again`,
    );
}
