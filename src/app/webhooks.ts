import type { Settings } from '../../config/load.ts';
import { systemClock } from '../base/clock.ts';
import { openChangeFeed, typesOf } from '../changes/feed.ts';
import type { DeliveryDeps, Endpoint } from '../webhooks/deliver.ts';
import { createWebhookSender } from '../webhooks/send.ts';
import { openWebhookStore } from '../webhooks/store.ts';
import { mirrorOf } from './place.ts';

/** The endpoints of the settings, and what delivering to them takes. */
export interface Webhooks {
  endpoints: readonly Endpoint[];
  deps: Omit<DeliveryDeps, 'signal'>;
  close(): Promise<void>;
}

export function openWebhooks(settings: Settings, mirrorId: string): Webhooks {
  const { webhooks: endpoints, webhookAllow, baseUrl } = settings;
  // A type that does not exist is told at the start, and not when it never comes.
  for (const { types } of endpoints) typesOf(types ?? undefined);
  const feed = openChangeFeed(mirrorOf(settings), settings.source);
  const store = openWebhookStore(mirrorOf(settings));
  const sender = createWebhookSender({ allow: webhookAllow ?? [] });
  store.keepOnly(endpoints.map(({ id }) => id));
  // From here on, also where the first change comes before the first look.
  for (const { id } of endpoints) store.state(id);
  const base = baseUrl?.href ?? null;
  return {
    endpoints,
    deps: { feed, store, sender, clock: systemClock, mirrorId, base, random: Math.random },
    async close() {
      await sender.close();
      store.close();
      feed.close();
    },
  };
}
