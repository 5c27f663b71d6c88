import { join } from 'node:path';
import { fileOf, openChanges, openQueries, viewOutbox } from '../app/readers.ts';
import type { App } from '../app.ts';
import { AppError } from '../base/errors.ts';
import { fileId } from '../base/files.ts';
import { versionText } from '../base/program.ts';
import { redactionKey } from '../export/redaction-key.ts';
import { openReads } from '../http/dashboard/reads.ts';
import { LIMITS } from './limits.ts';
import { mcpServers } from './server.ts';
import { textRules } from './text.ts';
import type { Drafts, ToolDeps } from './tools.ts';

/** Of each reader of the command: a search takes as long with less, as the system keeps the file at hand. */
const CACHE_KB = 2000;

export interface Agents {
  /** A server for a connection, or for one request. */
  servers: ReturnType<typeof mcpServers>;
  close(): Promise<void>;
}

type Options = Pick<App, 'settings' | 'clock' | 'log'> & { place?: 'threads' | 'command' };

/** The tools for agents with handles of their own on the mirror: in the service, or as a command that is to stay small. */
export async function openAgents({ settings, clock, log, place = 'threads' }: Options): Promise<Agents> {
  const { timeZone, deliveredStatuses: usualDelivered, dataDir } = settings;
  const key = settings.mcpPersonal === 'on' ? null : await redactionKey(join(dataDir, 'redaction.key'));
  const rules = textRules({ key, upstream: settings.baseUrl?.href ?? null });
  const openDrafts = settings.mcpWrite === 'drafts' ? await draftsOpener(settings, clock) : null;
  const handles = keptOpen(settings, place, openDrafts);
  const facts = { rules, key, clock, timeZone, usualDelivered };
  handles.now();
  const deps = (): ToolDeps => ({ ...handles.now(), ...facts });
  const hasDrafts = openDrafts !== null;
  return {
    servers: mcpServers({ deps, rules, hasDrafts, clock, log, version: versionText() }),
    close: async () => await handles.close(),
  };
}

type Handles = Pick<ToolDeps, 'ask' | 'feed' | 'query' | 'row' | 'drafts'> & { close(): Promise<void> };
type OpenDrafts = () => Drafts & { close(): void };

/**
 * A file that is removed or replaced is read and written as before by whoever has it open: a person who restores a copy does not think of
 * the assistant that still runs. So each call asks whether it is the same, and opens what is there now.
 */
function keptOpen(settings: App['settings'], place: 'threads' | 'command', openDrafts: OpenDrafts | null) {
  const { path } = fileOf(settings);
  let opened: { file: string | null; handles: Handles } | null = null;
  return {
    now(): Handles {
      const file = fileId(path);
      if (opened?.file !== file) {
        void opened?.handles.close();
        opened = null;
        opened = { file, handles: openHandles(settings, place, openDrafts) };
      }
      return opened.handles;
    },
    close: async () => await opened?.handles.close(),
  };
}

function openHandles(
  settings: App['settings'],
  place: 'threads' | 'command',
  openDrafts: OpenDrafts | null,
): Handles {
  const query = openQueries(settings, LIMITS.lanes.sql.atOnce);
  const file = place === 'command' ? { ...fileOf(settings), cacheKb: CACHE_KB } : fileOf(settings);
  const [feed, outbox, reads] = [openChanges(settings), viewOutbox(settings), openReads(file, place)];
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
