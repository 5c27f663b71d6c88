import {
  ASK_MS,
  areKnown,
  endedAt,
  type Heartbeats,
  IDLE_MS,
  isSilent,
  type LeaseRow,
  type Moment,
  maySend,
  noteHeartbeats,
  takingOf,
} from '../../src/fleet/decide/lease.ts';
import { type Machine, shareOut, stepOf } from '../../src/fleet/decide/share.ts';

/** What was seen, by real time in milliseconds. */
export interface Told {
  sent(at: number, source: string, machine: string, epoch: number): void;
  moved(at: number, source: string, epoch: number): void;
}

const STEP_MS = 100;
const ANSWER_MS = 4000;
const WATCH_MS = 3000;

interface Session {
  askedAt: number;
  locks: Set<string>;
}

/** PostgreSQL as the fleet uses it: sessions, their locks, and two tables. */
class Server {
  isUp = true;
  readonly sessions = new Set<Session>();
  readonly rows = new Map<string, LeaseRow>();
  readonly beats = new Map<string, { beat: number; isLeaving: boolean }>();

  lock(session: Session, source: string): boolean {
    for (const other of this.sessions) if (other !== session && other.locks.has(source)) return false;
    session.locks.add(source);
    return true;
  }

  /** Ends sessions that asked nothing for too long, whatever their machine is doing. */
  pass(now: number): void {
    for (const session of this.sessions) if (now - session.askedAt >= IDLE_MS) this.sessions.delete(session);
  }

  sign(machine: string, isLeaving = this.beats.get(machine)?.isLeaving ?? false): void {
    this.beats.set(machine, { beat: (this.beats.get(machine)?.beat ?? 0) + 1, isLeaving });
  }

  restart(): void {
    this.isUp = false;
    this.sessions.clear();
  }
}

interface Held {
  epoch: number;
  asked: Moment | null;
  /** From when on it may send, by the monotonic clock: the machine before may have believed until then, and the copy was read. */
  from: number;
  /** Until when it is being stopped, to be handed over. */
  stopping: number | null;
}

interface Question {
  moment: Moment;
  serverAt: number;
  answerAt: number;
  beats: Map<string, { beat: number; isLeaving: boolean }> | null;
}

/** One machine: a thin shell around the decisions, as `src/fleet/` has one with a real session. */
export class SimulatedMachine {
  readonly name: string;
  readonly #server: Server;
  readonly #sources: readonly string[];
  readonly #random: () => number;
  readonly #told: Told;
  readonly #rate: number;
  /** On its disk: what a crash leaves. */
  readonly #folders = new Map<string, number>();
  held = new Map<string, Held>();
  upSince: number | null = null;
  isFrozen = false;
  isCut = false;
  isLeaving = false;
  /** Real time of the last moment in which it could not work. */
  troubledAt = 0;
  #monotonic = 0;
  #sinceBoot = 0;
  #session: Session | null = null;
  #question: Question | null = null;
  #askNext = 0;
  #heartbeats: Heartbeats = new Map();
  #couldLook = false;
  #watching = 0;

  constructor(name: string, server: Server, sources: readonly string[], random: () => number, told: Told) {
    this.name = name;
    this.#server = server;
    this.#sources = sources;
    this.#random = random;
    this.#told = told;
    this.#rate = 1 + (random() - 0.5) / 500;
  }

  start(now: number): void {
    this.upSince = now;
    this.isLeaving = false;
    this.#askNext = 0;
    this.#watching = this.#monotonic;
  }

  /** The kernel closes its connections: PostgreSQL ends the session at once. */
  crash(): void {
    if (this.#session && !this.isCut) this.#server.sessions.delete(this.#session);
    this.upSince = null;
    this.#session = null;
    this.#question = null;
    this.held = new Map();
  }

  get isIdle(): boolean {
    return this.held.size === 0;
  }

  /** Whether it has been able to work since then. */
  isWell(since: number): boolean {
    return this.upSince !== null && this.upSince <= since && this.troubledAt < since && !this.isLeaving;
  }

  pass(now: number, isSuspended: boolean): void {
    this.#sinceBoot += STEP_MS * this.#rate;
    if (!isSuspended) this.#monotonic += STEP_MS * this.#rate;
    if (this.upSince === null || this.isFrozen || isSuspended || this.isCut) this.troubledAt = now;
    if (this.#question) this.#serve(this.#question, now);
    if (this.upSince === null || this.isFrozen || isSuspended) return;
    // What it sends may come before the news that it must not.
    this.#send(now);
    this.#ask(now);
    this.#finishStops(now);
  }

  runs(source: string): boolean {
    const lease = this.held.get(source);
    return lease !== undefined && lease.stopping === null && this.#monotonic >= lease.from;
  }

  #moment(): Moment {
    return { monotonic: this.#monotonic, sinceBoot: this.#sinceBoot };
  }

  #send(now: number): void {
    for (const [source, { asked, epoch }] of this.held)
      if (this.runs(source) && maySend(asked, this.#moment())) this.#told.sent(now, source, this.name, epoch);
  }

  #serve(question: Question, now: number): void {
    const session = this.#session;
    if (question.beats || now < question.serverAt || this.isCut || !session) return;
    if (!this.#server.sessions.has(session)) return;
    session.askedAt = now;
    this.#server.sign(this.name, this.isLeaving);
    question.beats = new Map(this.#server.beats);
  }

  #ask(now: number): void {
    const question = this.#question;
    if (question?.beats && now >= question.answerAt && !this.isCut) {
      this.#question = null;
      this.#answered(question, now);
    } else if (question && this.#monotonic - question.moment.monotonic > ANSWER_MS) this.#drop();
    if (this.#question || this.#monotonic < this.#askNext) return;
    this.#askNext = this.#monotonic + ASK_MS;
    if (!this.#connected(now)) return;
    const slow = this.#random() < 0.02 ? 3500 : 300;
    const serverAt = now + this.#random() * slow;
    this.#question = {
      moment: this.#moment(),
      serverAt,
      answerAt: serverAt + this.#random() * slow,
      beats: null,
    };
  }

  /** An answer never comes: the connection is given up, and with it what this machine knows of its locks. */
  #drop(): void {
    this.#session = null;
    this.#question = null;
  }

  #connected(now: number): boolean {
    if (this.#session) return true;
    if (this.isCut || !this.#server.isUp) return false;
    this.#session = { askedAt: now, locks: new Set() };
    this.#server.sessions.add(this.#session);
    this.#couldLook = false;
    this.#watching = this.#monotonic;
    return true;
  }

  #answered({ moment, beats }: Question, now: number): void {
    const session = this.#session;
    if (!session || !beats) return;
    if (!this.#server.sessions.has(session)) {
      this.#drop();
      return;
    }
    const read = new Map([...beats].map(([name, { beat }]) => [name, beat]));
    this.#heartbeats = noteHeartbeats(this.#heartbeats, read, moment.monotonic, this.#couldLook);
    this.#couldLook = true;
    for (const [source, lease] of this.held) this.#confirm(session, source, lease, moment);
    if (this.#monotonic - this.#watching < WATCH_MS) return;
    const machines: Machine[] = [...this.#heartbeats].map(([name, heartbeat]) => ({
      name,
      isAlive: name === this.name || !isSilent(heartbeat, this.#monotonic),
      isLeaving: beats.get(name)?.isLeaving ?? false,
    }));
    const holders = new Map(
      [...this.#server.rows].flatMap(([source, row]) =>
        row.handedOver === null ? [[source, row.machine] as const] : [],
      ),
    );
    const share = shareOut(this.#sources, machines, holders);
    const { take, handOver } = stepOf(this.name, share, new Set(this.held.keys()));
    for (const source of take) this.#take(session, source, moment, now);
    const due = areKnown(this.#heartbeats, this.name, this.#monotonic) ? handOver : [];
    for (const source of this.isLeaving ? this.held.keys() : due) this.#stop(source);
  }

  #confirm(session: Session, source: string, lease: Held, moment: Moment): void {
    const isLocked = session.locks.has(source) || this.#server.lock(session, source);
    const row = this.#server.rows.get(source);
    if (row?.epoch !== lease.epoch) {
      session.locks.delete(source);
      this.held.delete(source);
    } else if (isLocked) lease.asked = moment;
  }

  #take(session: Session, source: string, moment: Moment, now: number): void {
    if (!this.#server.lock(session, source)) return;
    const epoch = this.#folders.get(source) ?? null;
    const row = this.#server.rows.get(source) ?? null;
    const taking = takingOf(row, this.name, { epoch, hasMirror: epoch !== null });
    const beat = row && (this.#server.beats.get(row.machine)?.beat ?? null);
    const before = row ? this.#heartbeats.get(row.machine) : undefined;
    this.#server.sign(this.name);
    this.#server.rows.set(source, { machine: this.name, epoch: taking.epoch, handedOver: null });
    if (taking.folder === 'restore') this.#told.moved(now, source, taking.epoch);
    const reading = taking.folder === 'restore' ? this.#random() * 4000 : 0;
    const ended = taking.waits ? endedAt(before, beat, this.#monotonic) : 0;
    const from = Math.max(this.#monotonic, ended) + reading;
    this.#folders.set(source, taking.epoch);
    this.held.set(source, { epoch: taking.epoch, asked: moment, from, stopping: null });
  }

  #stop(source: string): void {
    const lease = this.held.get(source);
    if (lease) lease.stopping ??= this.#monotonic + this.#random() * 9000;
  }

  #finishStops(now: number): void {
    for (const [source, { stopping, epoch }] of this.held) {
      if (stopping === null || this.#monotonic < stopping) continue;
      this.held.delete(source);
      const session = this.#session;
      if (this.isCut || !session || !this.#server.sessions.has(session)) continue;
      session.askedAt = now;
      const row = this.#server.rows.get(source);
      const isOurs = session.locks.has(source) && row?.epoch === epoch;
      if (isOurs && this.#random() < 0.8) this.#server.rows.set(source, { ...row, handedOver: 'all of it' });
      session.locks.delete(source);
    }
  }
}

export function openServer(): Server {
  return new Server();
}

export { STEP_MS };
