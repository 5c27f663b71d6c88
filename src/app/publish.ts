import type { Settings } from '../../config/load.ts';
import { systemClock } from '../base/clock.ts';
import { missingPackage } from '../base/program.ts';
import type { Secret } from '../base/secret.ts';
import type { Session } from '../postgres/session.ts';
import { createPublisher, type Publisher } from '../publish/publisher.ts';
import { PUBLIC_TABLES } from '../query/schema-words.ts';
import { openPublishSource } from '../store/publish-source.ts';
import { mirrorOf } from './place.ts';

/** The copy in PostgreSQL; null where the settings name none. Nothing is connected before its first step. */
export function openPublisher(settings: Settings): Publisher | null {
  const { publishUrl: url, publishSchema: schema } = settings;
  if (url === null) return null;
  const source = openPublishSource(mirrorOf(settings));
  const openSession = () => openCopySession(url, schema, 'PUBLISH_URL');
  const publisher = createPublisher({
    source,
    schema,
    words: PUBLIC_TABLES,
    openSession,
    clock: systemClock,
  });
  return {
    ...publisher,
    async close() {
      await publisher.close();
      source.close();
    },
  };
}

/** pg is an optional package: it is loaded when it is needed, and missed with a sentence. */
export async function openCopySession(url: Secret, schema: string, setting: string): Promise<Session> {
  const { openSession } = await import('../postgres/session.ts').catch((error) => {
    throw missingPackage(error) ?? error;
  });
  return await openSession({ url, schema, setting });
}
