import { join } from 'node:path';
import { fileOf, openChanges, openQueries, viewOutbox } from '../app/readers.ts';
import type { App } from '../app.ts';
import { AppError, messageOf } from '../base/errors.ts';
import { fileId } from '../base/files.ts';
import { versionText } from '../base/program.ts';
import { redactionKey } from '../export/redaction-key.ts';
import { openReads } from '../http/dashboard/reading-pool.ts';
import type { Drafts, ToolHandles } from './answers.ts';
import { LIMITS } from './limits.ts';
import { mcpServers } from './server.ts';
import { textRules } from './text.ts';

interface Agents {
  servers: ReturnType<typeof mcpServers>;
  close(): Promise<void>;
}

export async function openAgents({
  settings,
  clock,
  log,
}: Pick<App, 'settings' | 'clock' | 'log'>): Promise<Agents> {
  const { timeZone, deliveredStatuses: usualDelivered, dataDir } = settings;
  const key = settings.mcpPersonal === 'on' ? null : await redactionKey(join(dataDir, 'redaction.key'));
  const rules = textRules({ key, upstream: settings.baseUrl?.href ?? null });
  const openDrafts = settings.mcpWrite === 'drafts' ? await draftsOpener(settings, clock) : null;
  const { use, close } = keptOpen({ settings, log, openDrafts });
  const facts = { rules, key, clock, timeZone, usualDelivered };
  // A mirror that cannot be read is told of now, and not to the agent that asks first.
  await use(async () => undefined);
  const hasDrafts = openDrafts !== null;
  return { servers: mcpServers({ use, facts, hasDrafts, log, version: versionText() }), close };
}

type Handles = ToolHandles & { close(): Promise<void> };
type OpenDrafts = () => Drafts & { close(): void };

interface KeptOptions extends Pick<App, 'settings' | 'log'> {
  openDrafts: OpenDrafts | null;
}

/**
 * A file that is removed or replaced is read and written as before by whoever has it open: a person who restores a copy does not think of
 * the assistant that still runs. So each call asks whether it is the same, and opens what is there now. Calls that are under way come to
 * their end with what they began with; the last of them closes it.
 */
export function keptOpen({ settings, log, openDrafts }: KeptOptions) {
  const { path } = fileOf(settings);
  let opened: { file: string | null; handles: Handles; calls: number } | null = null;
  const closeUnused = async ({ calls, handles }: NonNullable<typeof opened>): Promise<void> => {
    if (calls > 0) return;
    await handles.close().catch((error: unknown) => {
      const facts = { event: 'mcp.close.failed' };
      log.warn(facts, `the mirror that was replaced could not be closed: ${messageOf(error)}`);
    });
  };
  const now = (): NonNullable<typeof opened> => {
    const file = fileId(path);
    if (opened?.file === file) return opened;
    if (opened) void closeUnused(opened);
    opened = null;
    opened = { file, handles: openHandles(settings, openDrafts), calls: 0 };
    return opened;
  };
  return {
    async use<T>(work: (handles: ToolHandles) => Promise<T>): Promise<T> {
      const used = now();
      used.calls += 1;
      try {
        return await work(used.handles);
      } finally {
        used.calls -= 1;
        if (used !== opened) await closeUnused(used);
      }
    },
    close: async (): Promise<void> => await opened?.handles.close(),
  };
}

function openHandles(settings: App['settings'], openDrafts: OpenDrafts | null): Handles {
  const query = openQueries(settings, LIMITS.lanes.sql.atOnce);
  const [feed, outbox] = [openChanges(settings), viewOutbox(settings)];
  const reads = openReads(fileOf(settings));
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
