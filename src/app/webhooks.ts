import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../../config/load.ts';
import { readWebhook, readWebhookFile, readWebhookList } from '../../config/webhooks.ts';
import { systemClock } from '../base/clock.ts';
import { AppError, messageOf } from '../base/errors.ts';
import { temporaryName } from '../base/files.ts';
import { openChangeFeed, typesOf } from '../changes/feed.ts';
import type { Webhook } from '../contract/telling.ts';
import type { DeliveryDeps } from '../webhooks/deliver.ts';
import { createWebhookSender } from '../webhooks/send.ts';
import { openWebhookStore } from '../webhooks/store.ts';
import { mirrorOf } from './place.ts';

/** The endpoints of the settings and those that people added in the dashboard, and what delivering to them takes. */
export interface Webhooks {
  readonly endpoints: readonly Webhook[];
  /** One more, with the fields of WEBHOOKS_FILE; it is told of what comes from now on. Throws AppError('usage') where it makes no sense. */
  add(given: Record<string, unknown>): Webhook;
  /** Forgets one that was added here; one of the settings stays. */
  remove(id: string): void;
  /** Whether it was added here. */
  isOwn(id: string): boolean;
  deps: Omit<DeliveryDeps, 'signal'>;
  close(): Promise<void>;
}

/** Not in the mirror: SQL, exports, the copy in PostgreSQL and backups of it never hold an address or a key. */
const OWN_FILE = 'webhooks.json';

export function openWebhooks(settings: Settings, mirrorId: string): Webhooks {
  const { webhooks: ofSettings, webhookAllow, baseUrl, dataDir } = settings;
  const own = ownWebhooks(join(dataDir, OWN_FILE), dataDir);
  // A type that does not exist is told at the start, and not when it never comes.
  for (const { types } of ofSettings) typesOf(types ?? undefined);
  const feed = openChangeFeed(mirrorOf(settings), settings.source);
  const store = openWebhookStore(mirrorOf(settings));
  const sender = createWebhookSender({ allow: webhookAllow ?? [] });
  const endpoints = (): Webhook[] => [...ofSettings, ...own.all()];
  const keepOnly = (): void => store.keepOnly(endpoints().map(({ id }) => id));
  keepOnly();
  // Notes where each endpoint begins, so that it is told of changes that come before the first delivery.
  for (const { id } of endpoints()) store.state(id);
  const base = baseUrl?.href ?? null;
  return {
    get endpoints() {
      return endpoints();
    },
    add(given) {
      const added = usable(() => readWebhook(given, dataDir));
      usable(() => sender.check(added.url.reveal()));
      typesOf(added.types ?? undefined);
      if (endpoints().some(({ id }) => id === added.id))
        throw new AppError('usage', `there is a webhook "${added.id}" already`, {
          hint: 'Give it another name.',
        });
      own.write([...own.given(), given]);
      store.state(added.id);
      return added;
    },
    remove(id) {
      own.write(own.given().filter((one) => readWebhook(one, dataDir).id !== id));
      keepOnly();
    },
    isOwn: (id) => own.all().some((one) => one.id === id),
    deps: { feed, store, sender, clock: systemClock, mirrorId, base, random: Math.random },
    async close() {
      await sender.close();
      store.close();
      feed.close();
    },
  };
}

type Given = Record<string, unknown>;

/** The file of those that were added here, in the form of WEBHOOKS_FILE. */
function ownWebhooks(path: string, folder: string) {
  const read = (list: Given[]): Webhook[] => readWebhookList(list, folder, path);
  let { given, all } = startable(() => {
    const found = existsSync(path) ? readWebhookFile(path, path) : [];
    return { given: found, all: read(found) };
  });
  return {
    all: (): readonly Webhook[] => all,
    given: (): readonly Given[] => given,
    write(next: Given[]): void {
      const readNext = read(next);
      const whole = temporaryName(path);
      writeFileSync(whole, `${JSON.stringify(next, null, 2)}\n`, { mode: 0o600, flush: true });
      renameSync(whole, path);
      [given, all] = [next, readNext];
    },
  };
}

function usable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new AppError('usage', `this webhook cannot be used: ${messageOf(error)}`, { cause: error });
  }
}

/** The file may have been edited by hand, or damaged. */
function startable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new AppError('usage', messageOf(error), {
      cause: error,
      hint: 'Mend the file, or remove it and add its webhooks on the page again.',
    });
  }
}
