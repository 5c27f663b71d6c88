import { join, resolve } from 'node:path';
import type { LoadInput, Settings } from '../../config/load.ts';
import {
  changedRules,
  RULE_FIELDS,
  type RulesChange,
  type RulesFile,
  rulesIn,
  rulesText,
} from '../../config/rules.ts';
import { type ConfiguredSource, loadSources } from '../../config/sources.ts';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { isThere, replaceFile } from '../base/files.ts';
import { openChangeFeed } from '../changes/feed.ts';
import { type Busy, type Lock, takeLock } from '../db/lock.ts';
import { readMeta } from '../db/sql.ts';
import { openMirrorReadOnly } from '../mirror/file/open.ts';
import { statusSets } from '../reports/status-sets.ts';
import { openReportReader } from '../reports/store.ts';
import type { AllSources } from '../rules/digest.ts';
import type { EngineDeps } from '../rules/engine.ts';
import { openRuleStore } from '../rules/store.ts';
import { createWebhookSender } from '../webhooks/send.ts';
import { runsHere } from './lease.ts';
import { holder, mirrorOf } from './place.ts';

export interface Rules {
  deps: EngineDeps;
  /** Takes in what the file says by now. Throws AppError('usage') where it has mistakes, and goes on with what it said before. */
  reload(): void;
  /** What a rule of the file may say. */
  fields: readonly string[];
  /** Writes a rule or a channel into the file, or takes it out. */
  change(change: RulesChange): Promise<void>;
  /** One process of a mirror tells. */
  lock(): Lock | Busy;
  close(): Promise<void>;
}

/** RULES_FILE, or one in the data folder that the command and the dashboard make. */
function pathOf({ rulesFile, dataDir }: Settings, cwd: string): string {
  return rulesFile === null ? join(dataDir, 'rules.yaml') : resolve(cwd, rulesFile);
}

function allSources(input: LoadInput): readonly ConfiguredSource[] {
  const { source: _, ...ofAll } = input;
  return loadSources(ofAll)?.all ?? [];
}

/** The file of rules. Where sources share one, the first of them sends the messages about all sources. */
function fileOf(settings: Settings, input: LoadInput) {
  const { rulesFile, timeZone, smtpUrl, mailFrom, source } = settings;
  const { cwd } = input;
  const path = pathOf(settings, cwd);
  const isFirst = (): boolean =>
    allSources(input).find((one) => pathOf(one.settings, cwd) === path)?.name === source;
  const read = (): string => (rulesFile === null && !isThere(path) ? '' : rulesText(path));
  const parse = (text: string): RulesFile => {
    const file = rulesIn(text, cwd, timeZone);
    if (file.channels.some(({ kind }) => kind === 'mail') && (!smtpUrl || !mailFrom))
      throw new AppError('usage', 'a channel of the rules has mail, and SMTP_URL or MAIL_FROM is not set', {
        hint: `Set both, or take the channel out of ${path}.`,
      });
    if (!file.rules.some(({ sources }) => sources === 'all')) return file;
    if (source === null)
      throw new AppError('usage', 'a rule is over all sources, and there is no sources.yaml', {
        hint: `Take "sources" out of the rule in ${path}.`,
      });
    return isFirst() ? file : { ...file, rules: file.rules.filter(({ sources }) => sources !== 'all') };
  };
  return {
    read,
    parse,
    async write(text: string): Promise<void> {
      parse(text);
      await replaceFile(path, async (handle) => void (await handle.writeFile(text)));
    },
  };
}

/** Throws what is wrong with the file: a service does not start with it. */
export function checkRules(settings: Settings, input: LoadInput): void {
  const file = fileOf(settings, input);
  file.parse(file.read());
}

function rootOf({ dashboardUrl }: Settings): string | null {
  return dashboardUrl ? dashboardUrl.href.replace(/\/+$/, '') : null;
}

/** The mirrors of all sources, for one message. The message names those that cannot be read, or run on another machine. */
function openAll(settings: Settings, input: LoadInput): AllSources {
  const opened = new Map<string, ReturnType<typeof openFacts>>();
  const missing: string[] = [];
  for (const one of allSources(input)) {
    const facts = runsHere(one.settings) ? openedFacts(one.settings) : null;
    if (facts) opened.set(one.name, facts);
    else missing.push(one.name);
  }
  return {
    sources: [...opened.values()].map(({ writing }) => ({ ...writing, namesSource: true })),
    missing,
    dashboard: rootOf(settings),
    async close() {
      for (const facts of opened.values()) await facts.close();
    },
  };
}

/** Null where there is no mirror yet, or it cannot be opened: the source itself tells why. */
function openedFacts(settings: Settings): ReturnType<typeof openFacts> | null {
  try {
    return openFacts(settings);
  } catch {
    return null;
  }
}

/** What rules read of the mirror, and what their letters say about where it is. */
function openFacts(settings: Settings) {
  const { baseUrl, deliveredStatuses: usualDelivered, source } = settings;
  const mirror = mirrorOf(settings);
  const db = openMirrorReadOnly(mirror);
  const [feed, reader] = [openChangeFeed(mirror), openReportReader(mirror)];
  const statuses = db.prepare<[], { id: number; name: string; color: string }>(
    'SELECT id, name, color FROM statuses',
  );
  const finished = (): number[] =>
    statusSets(statuses.all(), { usualDelivered }).finished.map(({ id }) => id);
  const root = rootOf(settings);
  const dashboard = root === null || source === null ? root : `${root}/s/${source}`;
  const reads = { db, feed, reader };
  return {
    facts: { ...reads, finished },
    writing: {
      ...reads,
      ...{ source, dashboard, usualDelivered },
      upstream: baseUrl?.href ?? null,
      namesSource: false,
    },
    mirrorId: readMeta(db, 'mirror_id') ?? '',
    async close(): Promise<void> {
      await reader.close();
      feed.close();
      db.close();
    },
  };
}

/** The rules, and what it takes to look at them and to tell. */
export function openRules(settings: Settings, input: LoadInput): Rules {
  const { smtpUrl, mailFrom, webhookAllow } = settings;
  const file = fileOf(settings, input);
  let text = file.read();
  const { rules, channels } = file.parse(text);
  const mirror = mirrorOf(settings);
  const store = openRuleStore(mirror);
  const { close: closeFacts, ...facts } = openFacts(settings);
  const webhooks = createWebhookSender({ allow: webhookAllow ?? [] });
  const keepOnly = ({ rules: some, channels: others }: RulesFile): void =>
    store.keepOnly(
      some.map(({ name }) => name),
      others.map(({ name }) => name),
    );
  keepOnly({ rules, channels });
  const mail = smtpUrl && mailFrom ? { url: smtpUrl, from: mailFrom } : null;
  const deps: EngineDeps = {
    rules,
    channels,
    store,
    ...facts,
    openAll: async () => openAll(settings, input),
    sending: { webhooks, mail, now: () => systemClock.now() },
    clock: systemClock,
    random: Math.random,
  };
  const reload = (): void => {
    const now = file.read();
    if (now === text) return;
    text = now;
    const said = file.parse(now);
    Object.assign(deps, said);
    keepOnly(said);
  };
  return {
    deps,
    fields: Object.keys(RULE_FIELDS),
    reload,
    async change(change) {
      await file.write(changedRules(file.read(), change));
      reload();
    },
    lock: () => takeLock(`${mirror.path}.rules.lock`, holder('rules')),
    async close() {
      await webhooks.close();
      await closeFacts();
      store.close();
    },
  };
}
