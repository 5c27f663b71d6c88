import { join } from 'node:path';
import { fileOf, openFeed, openQueries, viewOutbox } from '../app/readers.ts';
import type { App } from '../app.ts';
import { AppError } from '../base/errors.ts';
import { fileId } from '../base/files.ts';
import { versionText } from '../base/program.ts';
import { redactionKey } from '../export/redaction-key.ts';
import { openReads } from '../http/dashboard/reading-pool.ts';
import type { Drafts, ToolHandles } from './answers.ts';
import { AGENT_LIMITS } from './limits.ts';
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
  const check = unlessReplaced(fileOf(settings).path);
  const handles = openHandles(settings, openDrafts);
  const use = async <T>(work: (handles: ToolHandles) => Promise<T>): Promise<T> => {
    check();
    return await work(handles);
  };
  const facts = { rules, key, clock, timeZone, usualDelivered };
  const hasDrafts = openDrafts !== null;
  return {
    servers: mcpServers({ use, facts, hasDrafts, log, version: versionText() }),
    close: handles.close,
  };
}

type Handles = ToolHandles & { close(): Promise<void> };
type OpenDrafts = () => Drafts & { close(): void };

/** A mirror that was replaced stays as it was for whoever has it open. So no call is answered from it, and no draft goes into it. */
export function unlessReplaced(path: string): () => void {
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
  const [feed, outbox] = [openFeed(settings), viewOutbox(settings)];
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
