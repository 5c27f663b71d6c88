import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { mirrorOf } from '../app/place.ts';
import { openQueries } from '../app/queries.ts';
import type { App } from '../app.ts';
import { AppError } from '../base/errors.ts';
import { fileId } from '../base/files.ts';
import { versionText } from '../base/program.ts';
import { openChangeFeed } from '../changes/feed.ts';
import { redactionKey } from '../export/redaction-key.ts';
import { openReads } from '../http/dashboard/reading-pool.ts';
import { openOutboxView } from '../outbox/store/view.ts';
import type { Drafts, ToolHandles } from './answers.ts';
import { AGENT_LIMITS } from './limits.ts';
import { mcpServers } from './server.ts';
import { textRules } from './text.ts';

export interface Agents {
  servers: ReturnType<typeof mcpServers>;
  close(): Promise<void>;
}

export async function openAgents(app: AgentsApp): Promise<Agents> {
  const { use, facts, hasDrafts, close } = await openWork(app);
  return { servers: mcpServers({ use, facts, hasDrafts, log: app.log, version: versionText() }), close };
}

/** The same tools for several sources: each call names its source. `apps` are those that are open now, by their names. */
export function openAgentsOfAll(
  apps: () => ReadonlyMap<string, AgentsApp>,
  { clock, log }: Omit<AgentsApp, 'settings'>,
): Agents {
  const opened = new Map<AgentsApp, Promise<Work>>();
  /** A source that stopped, or began anew, is let go of. */
  const closeOthers = (now: readonly AgentsApp[]): void => {
    for (const [app, work] of opened)
      if (!now.includes(app) && opened.delete(app))
        void work.then(({ close }) => close()).catch(() => undefined);
  };
  const workOf = async (name: string): Promise<Work> => {
    closeOthers([...apps().values()]);
    const app = apps().get(name);
    if (!app) throw new AppError('usage', `there is no source ${name}, or it is not open just now`);
    const work = opened.get(app) ?? openWork(app);
    opened.set(app, work);
    return await work.catch((error: unknown) => {
      opened.delete(app);
      throw error;
    });
  };
  // What a refusal quotes is shown as strictly as in any source.
  const rules = textRules({ key: randomBytes(32), upstream: null });
  const facts = { rules, key: null, clock, timeZone: 'UTC', usualDelivered: null };
  const refused = async (): Promise<never> => {
    throw new AppError('usage', `say which source: ${[...apps().keys()].join(', ')}`);
  };
  const hasDrafts = (): boolean =>
    [...apps().values()].some(({ settings }) => settings.mcpWrite === 'drafts');
  const sources = { names: () => [...apps().keys()], workOf };
  return {
    servers: mcpServers({
      use: refused,
      facts,
      hasDrafts: hasDrafts(),
      log,
      version: versionText(),
      sources,
    }),
    close: async () => closeOthers([]),
  };
}

type AgentsApp = Pick<App, 'settings' | 'clock' | 'log'>;
type Work = Awaited<ReturnType<typeof openWork>>;

async function openWork({ settings, clock }: Omit<AgentsApp, 'log'>) {
  const { timeZone, deliveredStatuses: usualDelivered, dataDir } = settings;
  const key = settings.mcpPersonal === 'on' ? null : await redactionKey(join(dataDir, 'redaction.key'));
  const rules = textRules({ key, upstream: settings.baseUrl?.href ?? null });
  const openDrafts = settings.mcpWrite === 'drafts' ? await draftsOpener(settings, clock) : null;
  const check = refuseIfReplaced(mirrorOf(settings).path);
  const handles = openHandles(settings, openDrafts);
  const use = async <T>(work: (handles: ToolHandles) => Promise<T>): Promise<T> => {
    check();
    return await work(handles);
  };
  const facts = { rules, key, clock, timeZone, usualDelivered };
  return { use, facts, hasDrafts: openDrafts !== null, close: handles.close };
}

type Handles = ToolHandles & { close(): Promise<void> };
type OpenDrafts = () => Drafts & { close(): void };

/** A mirror that was replaced stays as it was for whoever has it open. So no call is answered from it, and no draft goes into it. */
export function refuseIfReplaced(path: string): () => void {
  const opened = fileId(path);
  return () => {
    if (fileId(path) === opened) return;
    throw new AppError('gone', 'the mirror was replaced by another file', {
      hint: 'Start the tools again; they then read the file that is there.',
    });
  };
}

function openHandles(settings: App['settings'], openDrafts: OpenDrafts | null): Handles {
  const query = openQueries(settings, AGENT_LIMITS.lanes.sql.atOnce);
  const mirror = mirrorOf(settings);
  const [feed, outbox] = [openChangeFeed(mirror, settings.source), openOutboxView(mirror)];
  const reads = openReads(mirror);
  if (!outbox) throw new AppError('internal', 'the mirror is gone although it was just opened');
  // Last: it would make a mirror where there is none.
  const drafts = openDrafts?.() ?? null;
  return {
    ...{ ask: reads.ask, feed, query, row: outbox.find, drafts },
    async close() {
      await reads.close();
      outbox.close();
      drafts?.close();
      feed.close();
    },
  };
}

/** Loaded only where agents may draft: it takes more than everything else here. */
async function draftsOpener(settings: App['settings'], clock: App['clock']): Promise<OpenDrafts> {
  const [{ openOutbox }, { checkDraft, proposePost }] = await Promise.all([
    import('../app.ts'),
    import('../outbox/create.ts'),
  ]);
  return () => {
    const store = openOutbox(settings, 'mcp');
    return {
      propose: (draft) => proposePost({ store, clock, random: Math.random }, checkDraft(draft).post),
      close: () => store.close(),
    };
  };
}
