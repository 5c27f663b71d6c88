import { openProgram, type Program } from '../program.ts';
import type { Notes } from '../report.ts';
import type { Deployment, Service, Stack } from '../stack.ts';

export interface Scenario {
  name: string;
  /** It waits more than it computes and disturbs no other: several such run at the same time. */
  isBeside?: boolean;
  run(context: Context): Promise<void>;
}

export interface Context {
  notes: Notes;
  seed: number;
  /** Fewer rows and less time, for a run of a few minutes. */
  isShort: boolean;
  /** The server of all deployments. */
  postgres: Stack['postgres'];
  /** Stopped and removed after the scenario, as are the programs. */
  deploy(deployment: Deployment): Promise<Service>;
  open(service: Service, settings?: Record<string, string>): Program;
}

/** Runs a scenario and leaves nothing of it behind, however it ends. */
export async function runScenario(
  { run }: Scenario,
  stack: Stack,
  given: Pick<Context, 'notes' | 'seed' | 'isShort'>,
): Promise<void> {
  await using after = new AsyncDisposableStack();
  await run({
    ...given,
    postgres: stack.postgres,
    async deploy(deployment) {
      const service = await stack.deploy(deployment);
      after.defer(() => service.stop());
      return service;
    },
    open(service, settings) {
      const program = openProgram(service, settings);
      after.defer(() => program.remove());
      return program;
    },
  });
}
