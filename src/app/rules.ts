import type { Settings } from '../../config/load.ts';
import { readRules } from '../../config/rules.ts';
import { systemClock } from '../base/clock.ts';
import { crashPoint } from '../base/crash.ts';
import { AppError } from '../base/errors.ts';
import { openChangeFeed } from '../changes/feed.ts';
import { type Busy, type Lock, takeLock } from '../db/lock.ts';
import { readMeta } from '../db/sql.ts';
import { openMirrorReadOnly } from '../mirror/file/open.ts';
import { statusSets } from '../reports/status-sets.ts';
import { openReportReader } from '../reports/store.ts';
import type { EngineDeps } from '../rules/engine.ts';
import { openRuleStore } from '../rules/store.ts';
import { createWebhookSender } from '../webhooks/send.ts';
import { holder, mirrorOf } from './place.ts';

export interface Rules {
  deps: EngineDeps;
  /** One process of a mirror tells. */
  lock(): Lock | Busy;
  close(): Promise<void>;
}

/** The rules of RULES_FILE, and what it takes to look at them and to tell. */
export function openRules(settings: Settings, cwd: string): Rules {
  const {
    rulesFile,
    smtpUrl,
    mailFrom,
    dashboardUrl,
    baseUrl,
    webhookAllow,
    deliveredStatuses,
    timeZone,
    source,
  } = settings;
  if (rulesFile === null)
    throw new AppError('usage', 'RULES_FILE is not set', { hint: 'docs/rules.md says what the file holds.' });
  const { rules, channels } = readRules(rulesFile, cwd, timeZone);
  if (channels.some(({ kind }) => kind === 'mail') && (!smtpUrl || !mailFrom))
    throw new AppError('usage', 'RULES_FILE has a channel with mail, and SMTP_URL or MAIL_FROM is not set');
  const mirror = mirrorOf(settings);
  const store = openRuleStore(mirror);
  const db = openMirrorReadOnly(mirror);
  const [feed, reader] = [openChangeFeed(mirror), openReportReader(mirror)];
  const webhooks = createWebhookSender({ allow: webhookAllow ?? [] });
  store.keepOnly(
    rules.map(({ name }) => name),
    channels.map(({ name }) => name),
  );
  const statuses = db.prepare<[], { id: number; name: string; color: string }>(
    'SELECT id, name, color FROM statuses',
  );
  const finished = (): number[] =>
    statusSets(statuses.all(), { usualDelivered: deliveredStatuses }).finished.map(({ id }) => id);
  const mount = source === null ? '' : `/s/${source}`;
  const dashboard = dashboardUrl ? `${dashboardUrl.href.replace(/\/+$/, '')}${mount}` : null;
  const writing = {
    db,
    feed,
    reader,
    source,
    dashboard,
    upstream: baseUrl?.href ?? null,
    usualDelivered: deliveredStatuses,
  };
  const mail = smtpUrl && mailFrom ? { url: smtpUrl, from: mailFrom } : null;
  return {
    deps: {
      rules,
      channels,
      store,
      facts: { db, feed, finished },
      writing,
      sending: { webhooks, mail, now: () => systemClock.now() },
      mirrorId: readMeta(db, 'mirror_id') ?? '',
      clock: systemClock,
      random: Math.random,
      crashPoint,
    },
    lock: () => takeLock(`${mirror.path}.rules.lock`, holder('rules')),
    async close() {
      await webhooks.close();
      await reader.close();
      for (const handle of [feed, db, store]) handle.close();
    },
  };
}
