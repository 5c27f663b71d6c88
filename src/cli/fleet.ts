import type { Command } from 'commander';
import type { Settings } from '../../config/load.ts';
import { AppError } from '../base/errors.ts';
import { SILENT_MS } from '../fleet/decide/lease.ts';
import { durationText } from '../text/text.ts';
import { type Context, openContexts, openSources } from './context.ts';
import { table } from './table.ts';

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('fleet')
    .description('several machines that share the sources of sources.yaml')
    .addHelpText('after', '\nExample:\n  feedback-mirror fleet status')
    .command('status', { isDefault: true })
    .description('each machine, and each source: where it runs, since when, how far its copy is behind')
    .addHelpText('after', '\nExample:\n  feedback-mirror fleet status --json')
    .action(async () => {
      const sources = openSources(program);
      if (!sources) throw new AppError('usage', 'there is no sources.yaml here, so there is no fleet');
      await status(sources.shared, openContexts(program, stop));
    });
}

/** How old the copy of each source is, by the clock of this machine; null where there is none. */
async function ageOf({ settings }: Context): Promise<number | null> {
  const { copyReadAt } = await import('../app/publish.ts');
  const at = settings.publishUrl && (await copyReadAt(settings, settings.publishUrl));
  return at === null ? null : Math.max(0, Math.round((Date.now() - Date.parse(at)) / 1000));
}

async function status(shared: Settings, contexts: Context[]): Promise<void> {
  const [first] = contexts;
  if (!first) return;
  const { lookAtFleet, machineName } = await import('../app/fleet.ts');
  const { machines, leases } = await lookAtFleet(shared);
  const now = Date.now();
  const seen = machines.map(({ name, address, since, seenAt, isLeaving, version }) => {
    const silentMs = Math.max(0, now - Date.parse(seenAt));
    const state = silentMs >= SILENT_MS ? 'silent' : isLeaving ? 'leaving' : 'there';
    const own = leases.filter(({ machine, handedOver }) => machine === name && handedOver === null);
    return { name, state, sources: own.length, since, seenAt, address, version };
  });
  const sources = await Promise.all(
    contexts.map(async (context) => {
      const source = context.settings.source ?? '';
      const lease = leases.find((one) => one.source === source);
      const machine = lease?.handedOver === null ? lease.machine : null;
      const copyAgeSeconds = await ageOf(context);
      return { source, machine, since: lease?.since ?? null, epoch: lease?.epoch ?? 0, copyAgeSeconds };
    }),
  );
  const isRun = sources.every(({ machine }) =>
    seen.some(({ name, state }) => name === machine && state !== 'silent'),
  );
  const here = machineName(shared);
  first.answer({ machine: here, machines: seen, sources }, () =>
    [
      table(
        ['machine', 'state', 'sources', 'since', 'last seen', 'address'],
        seen.map((row) => [row.name, row.state, row.sources, row.since, row.seenAt, row.address ?? '']),
      ),
      table(
        ['source', 'machine', 'since', 'moves', 'copy read'],
        sources.map(({ source, machine, since, epoch, copyAgeSeconds }) => [
          source,
          machine ?? 'none',
          since ?? '',
          Math.max(0, epoch - 1),
          copyAgeSeconds === null ? 'no copy' : `${durationText(copyAgeSeconds * 1000)} ago`,
        ]),
      ),
    ].join('\n'),
  );
  if (!isRun) process.exitCode = 5;
}
