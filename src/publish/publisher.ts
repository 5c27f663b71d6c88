import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { within } from '../base/timeout.ts';
import type { Session } from '../postgres/session.ts';
import type { PublishSource } from '../store/publish-source.ts';
import { type Copy, type CopyDeps, openCopy, refuseOtherCopy } from './publish.ts';

/** How far the copy is, for health, metrics and the dashboard. Times are in milliseconds since the epoch. */
export interface CopyProgress {
  /** Host and port of the server; null until it was reached. */
  place: string | null;
  schema: string;
  /** Changes of the feed that are not in the copy; null where nobody knows yet. */
  behind: number | null;
  /** Since when the mirror has had something that the copy has not; null while they are equal. That is what a lost disk would cost. */
  behindSince: number | null;
  publishedAt: number | null;
  /** Why nothing is published just now, in words. */
  trouble: string | null;
  /** Another service of this mirror writes the copy. */
  isElsewhere: boolean;
}

export interface Publisher {
  /** Publishes what is new; fails where PostgreSQL is away or refuses, and goes on when it is called again. Returns rows written. */
  step(): Promise<number>;
  progress(): CopyProgress;
  close(): Promise<void>;
}

/** How far the copy was when it was last written, kept on this machine for when the server cannot be asked. */
export interface LastPublished {
  /** The life of the mirror that wrote it. */
  life: string;
  number: number;
  at: number;
}

export interface PublisherDeps extends Omit<CopyDeps, 'session'> {
  source: PublishSource;
  last: { read(): LastPublished | null; write(last: LastPublished): void };
  openSession(): Promise<Session>;
  clock: Pick<Clock, 'now'>;
}

/** A step that is under way fails with its session. One that still waits for a server holds nothing. */
const CLOSE_MS = 1500;

/** How often it is noted on this side how far the copy is. */
const NOTE_MS = 5000;

/** Keeps one session open for as long as it lasts. The copy itself says how far it is; what is noted on this side is only for people. */
export function createPublisher(deps: PublisherDeps): Publisher {
  const { source, schema, clock } = deps;
  const kept = deps.last.read();
  const last = kept?.life === source.life ? kept : null;
  const state: Omit<CopyProgress, 'behind' | 'schema'> = {
    place: null,
    behindSince: Math.min(source.changedAfter(last?.number ?? null) ?? clock.now(), clock.now()),
    publishedAt: last?.at ?? null,
    trouble: null,
    isElsewhere: false,
  };
  let open: { session: Session; copy: Copy } | null = null;
  let seen: number | null = null;
  let published: number | null = last?.number ?? null;
  let notedAt = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  let running: Promise<unknown> = Promise.resolve();

  const drop = async (): Promise<void> => {
    const { session } = open ?? {};
    open = null;
    await session?.close();
  };
  const connect = async (): Promise<Copy | null> => {
    if (open && !open.session.isOver()) return open.copy;
    await drop();
    seen = null;
    const session = await deps.openSession();
    try {
      state.place = session.place;
      state.isElsewhere = false;
      // Without the lock: a service that waits for it would never hear that the schema belongs to another mirror.
      await refuseOtherCopy({ ...deps, session });
      state.isElsewhere = isClosed || !(await session.lock());
      if (!state.isElsewhere) open = { session, copy: await openCopy({ ...deps, session }) };
    } finally {
      if (!open) await session.close();
    }
    return open?.copy ?? null;
  };
  const publish = async (): Promise<number> => {
    const copy = await connect();
    if (!copy) return 0;
    // Before the snapshot: what is written in between is published twice rather than never.
    const version = source.version();
    if (version === seen) return 0;
    state.behindSince ??= clock.now();
    const began = clock.now();
    const rows = await copy.publish();
    seen = version;
    published = copy.number();
    state.publishedAt = clock.now();
    note({ life: source.life, number: published, at: state.publishedAt });
    state.behindSince = source.version() === version ? null : began;
    return rows;
  };
  const note = (now: LastPublished): void => {
    if (Math.abs(now.at - notedAt) < NOTE_MS) return;
    notedAt = now.at;
    deps.last.write(now);
  };
  const noteChange = (): void => {
    if (source.version() !== seen) state.behindSince ??= clock.now();
  };
  const step = async (): Promise<number> => {
    noteChange();
    try {
      const rows = await publish();
      state.trouble = null;
      return rows;
    } catch (error) {
      state.trouble = messageOf(error);
      await drop();
      throw error;
    }
  };
  return {
    step() {
      const done = step();
      running = done.catch(() => undefined);
      return done;
    },
    progress() {
      noteChange();
      return { ...state, schema, behind: published === null ? null : Math.max(0, source.head() - published) };
    },
    async close() {
      isClosed = true;
      if (published !== null && state.publishedAt !== null)
        deps.last.write({ life: source.life, number: published, at: state.publishedAt });
      await drop();
      await within(CLOSE_MS, running, () => undefined);
    },
  };
}
