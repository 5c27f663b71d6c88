import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../../config/load.ts';
import { systemClock } from '../base/clock.ts';
import { isThere } from '../base/files.ts';
import { missingPackage } from '../base/program.ts';
import type { Secret } from '../base/secret.ts';
import { migrations } from '../db/migrate.ts';
import { readCopyPosition } from '../postgres/schema.ts';
import type { Session, SessionOptions } from '../postgres/session.ts';
import { type LastPublished, Publisher, type PublisherDeps, type Publishing } from '../publish/publisher.ts';
import { openPublishSource, publishedState } from '../publish/source.ts';
import { PUBLIC_TABLES } from '../query/schema-words.ts';
import { rebuildMirror } from '../restore/rebuild.ts';
import { restoreMirror } from '../restore/restore.ts';
import { mirrorOf } from './place.ts';
import { type RestoredMirror, type RestoreRequest, restoreInPlace } from './restore.ts';

/** The copy in PostgreSQL. Nothing is connected before its first step. */
export function openPublisher(settings: Settings, url: Secret): Publishing {
  const { publishSchema: schema } = settings;
  const source = openPublishSource(mirrorOf(settings));
  const openSession = () => openCopySession({ url, schema, setting: 'PUBLISH_URL' });
  const publisher = new Publisher({
    source,
    schema,
    words: PUBLIC_TABLES,
    sourceName: settings.source,
    openSession,
    clock: systemClock,
    last: lastPublished(lastPublishedPath(settings)),
  });
  return {
    step: () => publisher.step(),
    progress: () => publisher.progress(),
    async close() {
      await publisher.close();
      source.close();
    },
  };
}

/** Whether a copy is written, or was. The setting alone does not tell: a command may run without the settings of the service. */
export function mayHaveCopy(settings: Settings): boolean {
  return settings.publishUrl !== null || isThere(lastPublishedPath(settings));
}

function lastPublishedPath({ dataDir }: Settings): string {
  return join(dataDir, 'published.json');
}

/** Without this file people are not told how old the copy is while PostgreSQL is away. Nothing else depends on it. */
export function lastPublished(path: string): PublisherDeps['last'] {
  return {
    read() {
      try {
        return JSON.parse(readFileSync(path, 'utf8')) as LastPublished;
      } catch {
        return null;
      }
    },
    write(last) {
      try {
        writeFileSync(path, JSON.stringify(last), { mode: 0o600 });
      } catch {
        // Told by everything else that writes to this disk.
      }
    },
  };
}

/** pg is an optional package: it is loaded when it is needed, and missed with a sentence. */
export async function openCopySession(options: SessionOptions): Promise<Session> {
  const { openSession } = await import('../postgres/session.ts').catch((error) => {
    throw missingPackage(error) ?? error;
  });
  return await openSession(options);
}

/** How far the copy is behind the mirror, for other processes than the service. Null before the first copy. */
export interface CopyState {
  /** Changes that are not in it. */
  behind: number;
  /** When its rows were read. */
  readAt: string;
  /** Another mirror writes it, or wrote it last. */
  isOther: boolean;
}

export async function lookAtCopy(settings: Settings, url: Secret): Promise<CopyState | null> {
  const { publishSchema: schema } = settings;
  const session = await openCopySession({ url, schema, setting: 'PUBLISH_URL' });
  try {
    const position = await readCopyPosition(session, schema);
    if (!position) return null;
    const { mirrorId, life, head } = publishedState(mirrorOf(settings));
    const isOther = position.mirror_id !== mirrorId || position.life !== life;
    return { behind: Math.max(0, head - position.number), readAt: position.read_at, isOther };
  } finally {
    await session.close();
  }
}

/** When the service read the rows of the copy. Null without a copy. Works without the mirror file. */
export async function copyReadAt(settings: Settings, url: Secret): Promise<string | null> {
  const { publishSchema: schema } = settings;
  const session = await openCopySession({ url, schema, setting: 'PUBLISH_URL' });
  const position = await readCopyPosition(session, schema).finally(() => session.close());
  return position?.read_at ?? null;
}

interface CopyRequest extends RestoreRequest {
  url: Secret;
  /** What the URL is called where it has to be corrected. */
  setting: string;
  isOurs?: boolean;
  whole?: string | null;
}

/** A data folder from the copy in PostgreSQL. */
export async function restoreFromCopy(settings: Settings, request: CopyRequest): Promise<RestoredMirror> {
  const { url, setting, signal, withoutKey, isOurs = false, whole = null } = request;
  const { publishSchema: schema } = settings;
  const mirror = mirrorOf(settings);
  return await restoreInPlace(mirror, request, async (part) => {
    const whenAway = `Nothing was restored. See that the server runs and that ${setting} names it, then run this again.`;
    const session = await openCopySession({ url, schema, setting, whenAway });
    const knownVersion = migrations().at(-1)?.version ?? 0;
    const begin = (version: number) => rebuildMirror(part, version, { ...mirror, withoutKey });
    const { upstream } = mirror;
    const deps = { session, schema, upstream, begin, knownVersion, signal, isOurs, whole };
    return await restoreMirror(deps).finally(() => session.close());
  });
}

/** The same, where there may be no copy yet: null then. */
export async function restoreIfCopied(
  settings: Settings,
  request: CopyRequest,
): Promise<RestoredMirror | null> {
  const readAt = await copyReadAt(settings, request.url);
  return readAt === null ? null : await restoreFromCopy(settings, request);
}
