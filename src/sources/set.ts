import { Sweeps } from '../app/sweeps.ts';
import type { Logger } from '../base/log.ts';
import { type RunningSource, runSource, type SourcePlan } from './running.ts';

export interface SourceSet {
  all(): readonly RunningSource[];
  find(name: string): RunningSource | null;
  /** Starts what is new, stops what is gone and starts again what has changed. The others are left as they are. */
  follow(plans: readonly SourcePlan[]): Promise<void>;
  close(): Promise<void>;
}

/** `isKnown`: in a fleet a source that stops here runs elsewhere. */
export function createSourceSet(log: Logger, isKnown: (name: string) => boolean = () => false): SourceSet {
  const running = new Map<string, RunningSource>();
  const sweeps = new Sweeps();
  let turn: Promise<void> = Promise.resolve();
  const step = async (plans: readonly SourcePlan[]): Promise<void> => {
    const ends = [...running.values()].filter(({ plan }) => !plans.some((next) => next.key === plan.key));
    for (const { plan } of ends) running.delete(plan.name);
    await Promise.all(ends.map((source) => source.close()));
    for (const { plan } of ends) if (!isKnown(plan.name)) tellEnd(log, plan, plans);
    sweeps.shareAmong(plans.length);
    for (const plan of plans)
      if (!running.has(plan.name)) {
        running.set(plan.name, runSource(plan, log, sweeps));
        const facts = { event: 'source.started', source: plan.name };
        log.info(facts, `${plan.name}: mirroring ${plan.host} into ${plan.folder}`);
      }
  };
  const next = (plans: readonly SourcePlan[]): Promise<void> => {
    turn = turn.then(() => step(plans));
    return turn;
  };
  return {
    all: () => [...running.values()],
    find: (name) => running.get(name) ?? null,
    follow: next,
    async close() {
      await turn;
      await Promise.all([...running.values()].map((source) => source.close()));
      running.clear();
      await sweeps.close();
    },
  };
}

function tellEnd(log: Logger, { name, folder }: SourcePlan, plans: readonly SourcePlan[]): void {
  const isChanged = plans.some((plan) => plan.name === name);
  if (isChanged)
    log.info(
      { event: 'source.changed', source: name },
      `${name}: its settings have changed; it starts again`,
    );
  else
    log.warn(
      { event: 'source.removed', source: name },
      `${name} is no longer in sources.yaml: it has stopped, and its data stays in ${folder}`,
    );
}
