import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { within } from '../base/timeout.ts';
import type { Session } from '../postgres/session.ts';
import { type CopyDeps, type CopyWriter, openCopy, refuseOtherCopy } from './publish.ts';
import type { PublishSource } from './source.ts';

/** How far the copy is, for health, metrics and the dashboard. Times are in milliseconds since the epoch. */
export interface CopyProgress {
  place: string | null;
  schema: string;
  /** Changes of the feed that are not in the copy. Null before the first comparison. */
  behind: number | null;
  /** Since when the mirror has had something that the copy has not; null while they are equal. That is what a lost disk would cost. */
  behindSince: number | null;
  publishedAt: number | null;
  /** Why nothing is published just now, in words. */
  trouble: string | null;
  /** Another service of this mirror writes the copy. */
  isElsewhere: boolean;
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

export type Publishing = Pick<Publisher, 'step' | 'progress' | 'close'>;

/** Keeps one session open for as long as it lasts. The copy itself says how far it is; what is noted on this side is only for people. */
export class Publisher {
  readonly #deps: PublisherDeps;
  readonly #state: Omit<CopyProgress, 'behind' | 'schema'>;
  #open: { session: Session; copy: CopyWriter } | null = null;
  /** The version of the mirror that was published last. */
  #seen: number | null = null;
  /** The number of the last change in the copy. */
  #published: number | null;
  #notedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
    const { source, clock } = deps;
    const kept = deps.last.read();
    const last = kept?.life === source.life ? kept : null;
    this.#published = last?.number ?? null;
    this.#state = {
      place: null,
      behindSince: Math.min(source.changedAfter(this.#published) ?? clock.now(), clock.now()),
      publishedAt: last?.at ?? null,
      trouble: null,
      isElsewhere: false,
    };
  }

  /** Publishes what is new; fails where PostgreSQL is away or refuses, and goes on when it is called again. Returns rows written. */
  step(): Promise<number> {
    const done = this.#step();
    this.#running = done.catch(() => undefined);
    return done;
  }

  progress(): CopyProgress {
    this.#noteChange();
    const { source, schema } = this.#deps;
    const behind = this.#published === null ? null : Math.max(0, source.head() - this.#published);
    return { ...this.#state, schema, behind };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const { publishedAt: at } = this.#state;
    if (this.#published !== null && at !== null)
      this.#deps.last.write({ life: this.#deps.source.life, number: this.#published, at });
    await this.#drop();
    await within(CLOSE_MS, this.#running, () => undefined);
  }

  async #step(): Promise<number> {
    this.#noteChange();
    try {
      const rows = await this.#publish();
      this.#state.trouble = null;
      return rows;
    } catch (error) {
      this.#state.trouble = messageOf(error);
      await this.#drop();
      throw error;
    }
  }

  async #publish(): Promise<number> {
    const { source, clock } = this.#deps;
    const copy = await this.#connect();
    if (!copy) return 0;
    // Before the snapshot: what is written in between is published twice rather than never.
    const version = source.version();
    if (version === this.#seen) return 0;
    this.#state.behindSince ??= clock.now();
    const began = clock.now();
    const rows = await copy.publish();
    this.#seen = version;
    this.#published = copy.number();
    this.#state.publishedAt = clock.now();
    this.#note({ life: source.life, number: this.#published, at: this.#state.publishedAt });
    this.#state.behindSince = source.version() === version ? null : began;
    return rows;
  }

  async #connect(): Promise<CopyWriter | null> {
    if (this.#open && !this.#open.session.isOver()) return this.#open.copy;
    await this.#drop();
    this.#seen = null;
    const session = await this.#deps.openSession();
    const deps = { ...this.#deps, session };
    try {
      this.#state.place = session.place;
      this.#state.isElsewhere = false;
      // Without the lock: a service that waits for it would never hear that the schema belongs to another mirror.
      await refuseOtherCopy(deps);
      this.#state.isElsewhere = this.#isClosed || !(await session.lock());
      if (!this.#state.isElsewhere) this.#open = { session, copy: await openCopy(deps) };
    } finally {
      if (!this.#open) await session.close();
    }
    return this.#open?.copy ?? null;
  }

  async #drop(): Promise<void> {
    const { session } = this.#open ?? {};
    this.#open = null;
    await session?.close();
  }

  #note(now: LastPublished): void {
    if (Math.abs(now.at - this.#notedAt) < NOTE_MS) return;
    this.#notedAt = now.at;
    this.#deps.last.write(now);
  }

  #noteChange(): void {
    if (this.#deps.source.version() !== this.#seen) this.#state.behindSince ??= this.#deps.clock.now();
  }
}
