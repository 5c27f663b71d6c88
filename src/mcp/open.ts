import { join } from 'node:path';
import { fileOf, openChanges, openQueries, viewOutbox } from '../app/readers.ts';
import type { App } from '../app.ts';
import { AppError } from '../base/errors.ts';
import { versionText } from '../base/program.ts';
import { redactionKey } from '../export/redaction-key.ts';
import { openReads } from '../http/dashboard/reads.ts';
import { LIMITS } from './limits.ts';
import { mcpServers } from './server.ts';
import { textRules } from './text.ts';
import type { Drafts } from './tools.ts';

/** Of each reader of the command: a search takes as long with less, as the system keeps the file at hand. */
const CACHE_KB = 2000;

export interface Agents {
  /** A server for a connection, or for one request. */
  servers: ReturnType<typeof mcpServers>;
  close(): Promise<void>;
}

/** The tools for agents with handles of their own on the mirror: in the service, or as a command that is to stay small. */
export async function openAgents({
  settings,
  clock,
  log,
  place = 'threads',
}: Pick<App, 'settings' | 'clock' | 'log'> & { place?: 'threads' | 'command' }): Promise<Agents> {
  const { timeZone, deliveredStatuses: usualDelivered, dataDir } = settings;
  const key = settings.mcpPersonal === 'on' ? null : await redactionKey(join(dataDir, 'redaction.key'));
  const query = openQueries(settings, LIMITS.lanes.sql.atOnce);
  const file = place === 'command' ? { ...fileOf(settings), cacheKb: CACHE_KB } : fileOf(settings);
  const [feed, outbox, reads] = [openChanges(settings), viewOutbox(settings), openReads(file, place)];
  if (!outbox) throw new AppError('internal', 'the mirror is gone although it was just opened');
  const { find: row } = outbox;
  const rules = textRules({ key, upstream: settings.baseUrl?.href ?? null });
  const drafts = settings.mcpWrite === 'drafts' ? await openDrafts(settings, clock) : null;
  const deps = { ask: reads.ask, feed, query, row, drafts, rules, key, clock, timeZone, usualDelivered };
  return {
    servers: mcpServers({ deps, clock, log, version: versionText() }),
    async close() {
      await reads.close();
      outbox.close();
      drafts?.close();
      feed.close();
    },
  };
}

/** Loaded only where agents may draft: it takes more than everything else here. */
async function openDrafts(
  settings: App['settings'],
  clock: App['clock'],
): Promise<Drafts & { close(): void }> {
  const [{ openOutbox }, { checkDraft, proposePost }] = await Promise.all([
    import('../app.ts'),
    import('../outbox/create.ts'),
  ]);
  const store = openOutbox(settings, 'mcp');
  return {
    propose: (draft) => proposePost({ store, clock, random: Math.random }, checkDraft(draft).post),
    close: () => store.close(),
  };
}
