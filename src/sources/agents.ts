import type { App } from '../app.ts';
import { systemClock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { type AgentsPart, agentsPart } from '../mcp/http.ts';
import type { SourceSet } from './set.ts';

/** `/mcp`: the tools for agents over all sources that are open. Each call names its source. */
export function agentsOfAll(set: SourceSet, log: Logger): AgentsPart {
  const apps = (): Map<string, App> => {
    const all = set.all().map((source) => [source.plan.name, source.app()] as const);
    return new Map(all.flatMap(([name, app]) => (app ? [[name, app] as const] : [])));
  };
  return agentsPart(log, async () =>
    (await import('../mcp/open.ts')).openAgentsOfAll(apps, { clock: systemClock, log }),
  );
}
