import { randomBytes } from 'node:crypto';
import { uptime } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { within } from '../base/timeout.ts';
import {
  ASK_MS,
  areKnown,
  endedAt,
  type Heartbeats,
  isSilent,
  type Moment,
  maySend,
  noteHeartbeats,
  type OwnFolder,
  type Taking,
  takingOf,
} from './decide/lease.ts';
import { shareOut, stepOf } from './decide/share.ts';
import type { FleetRows, FleetTable, MachineRow } from './table.ts';

/** A source that this machine has taken. */
export interface Lease {
  source: string;
  taking: Taking;
  /** Of the list of erased people: the copy does not have it, and the next machine needs it. */
  suppressionKey: string;
}

export interface FleetDeps {
  machine: Pick<MachineRow, 'name' | 'address' | 'version'>;
  open(): Promise<FleetTable>;
  /** What this machine has of a source on its disk, and the key of its list of erased people. */
  own(source: string): OwnFolder & { key: string | null };
  /** Runs exactly these sources; resolves when the others have stopped. */
  run(leases: readonly Lease[]): Promise<void>;
  /** Publishes what is left of a source that has stopped. Returns how far the copy is, or null where it is not whole. */
  publishRest(source: string): Promise<string | null>;
  clock: Clock;
  log: Logger;
}

interface Held extends Lease {
  /** When the last question was asked that was answered. */
  asked: Moment | null;
  /** From when on it is run, by the monotonic clock. */
  from: number;
  isStopping: boolean;
}

/** An answer that takes longer confirms nothing in time. */
const ANSWER_MS = 4000;
/** A machine that has just come, or come back, listens for the others first. */
const LISTEN_MS = 3000;

/** This machine's part in the fleet: it asks PostgreSQL every second, takes its share of the sources, and hands over the rest. */
export class Fleet {
  readonly #deps: FleetDeps;
  readonly #held = new Map<string, Held>();
  #sources: readonly string[] = [];
  #table: FleetTable | null = null;
  #listensSince = 0;
  #heartbeats: Heartbeats = new Map();
  #couldLook = false;
  #rows: FleetRows = { machines: [], leases: [] };
  #asked: Moment | null = null;
  #trouble: string | null = 'PostgreSQL has not been asked yet';
  #isLeaving = false;
  #isClosed = false;
  #running = '';
  #changing: Promise<void> = Promise.resolve();
  readonly #loop: Promise<void>;

  constructor(deps: FleetDeps, sources: readonly string[]) {
    this.#deps = deps;
    this.#sources = sources;
    this.#loop = this.#keepAsking();
  }

  follow(sources: readonly string[]): void {
    this.#sources = sources;
  }

  /** Asked immediately before a request that creates a post leaves. */
  maySend(source: string): boolean {
    const held = this.#held.get(source);
    return held !== undefined && !held.isStopping && maySend(held.asked, this.#moment());
  }

  /** Before it, this machine knows of no other one. */
  hasAsked(): boolean {
    return this.#asked !== null;
  }

  /** Why nothing is confirmed; null while PostgreSQL answers. */
  trouble(): string | null {
    return maySend(this.#asked, this.#moment()) ? null : this.#trouble;
  }

  rows(): FleetRows {
    return this.#rows;
  }

  /** Hands everything over and leaves. Sources that cannot be handed over whole are taken as after a crash. */
  async close(): Promise<void> {
    this.#isLeaving = true;
    await this.#handOver([...this.#held.keys()]);
    this.#isClosed = true;
    await within(ANSWER_MS, this.#loop, () => undefined);
    await this.#drop();
  }

  #moment(): Moment {
    return { monotonic: this.#deps.clock.monotonic(), sinceBoot: uptime() * 1000 };
  }

  async #keepAsking(): Promise<void> {
    const { clock, log } = this.#deps;
    while (!this.#isClosed) {
      try {
        await this.#step();
      } catch (error) {
        await this.#drop();
        const said = messageOf(error);
        if (said !== this.#trouble)
          log.warn({ event: 'fleet.unconfirmed' }, `${said}: nothing is sent meanwhile`);
        this.#trouble = said;
      }
      await clock.sleep(ASK_MS);
    }
  }

  async #step(): Promise<void> {
    const { machine, log } = this.#deps;
    const table = await this.#connected();
    const asked = this.#moment();
    this.#rows = await inTime(table.ask({ ...machine, isLeaving: this.#isLeaving }));
    if (this.#trouble !== null)
      log.info({ event: 'fleet.confirmed' }, 'PostgreSQL confirms the leases of this machine');
    this.#asked = asked;
    this.#trouble = null;
    for (const held of [...this.#held.values()]) await this.#confirm(table, held, asked);
    const beats = new Map(this.#rows.machines.map(({ name, beat }) => [name, beat]));
    this.#heartbeats = noteHeartbeats(this.#heartbeats, beats, asked.monotonic, this.#couldLook);
    this.#couldLook = true;
    if (!this.#isLeaving && asked.monotonic - this.#listensSince >= LISTEN_MS) await this.#share(table);
    this.#apply();
  }

  async #connected(): Promise<FleetTable> {
    if (this.#table?.isOver()) await this.#drop();
    if (this.#table) return this.#table;
    const table = await this.#deps.open();
    this.#table = table;
    this.#couldLook = false;
    this.#listensSince = this.#moment().monotonic;
    const { name } = this.#deps.machine;
    if (!(await inTime(table.enter(name))))
      throw new Error(
        `a session of the machine ${name} is still there: it is waited for, up to half a minute`,
      );
    return table;
  }

  async #drop(): Promise<void> {
    const table = this.#table;
    this.#table = null;
    await table?.close();
  }

  /** The lock goes with the session. In a new one it is taken again, unless somebody has run the source meanwhile. */
  async #confirm(table: FleetTable, held: Held, asked: Moment): Promise<void> {
    const { source, taking } = held;
    const isNew = !table.holds(source);
    const isLocked = await inTime(table.lock(source));
    const known = this.#rows.leases.find((lease) => lease.source === source);
    const row = isNew ? await inTime(table.lease(source)) : known;
    if (row?.epoch === taking.epoch) {
      if (isLocked) held.asked = asked;
      return;
    }
    await table.unlock(source);
    this.#held.delete(source);
    const facts = { event: 'fleet.lost', source, machine: row?.machine };
    this.#deps.log.warn(facts, `${source} runs on ${row?.machine ?? 'no machine'} now: it stops here`);
  }

  async #share(table: FleetTable): Promise<void> {
    const now = this.#moment().monotonic;
    const { name } = this.#deps.machine;
    const machines = this.#rows.machines.map((machine) => {
      const heartbeat = this.#heartbeats.get(machine.name);
      const isAlive = machine.name === name || (heartbeat !== undefined && !isSilent(heartbeat, now));
      return { ...machine, isAlive };
    });
    const taken = this.#rows.leases.filter(({ handedOver }) => handedOver === null);
    const holders = new Map(taken.map(({ source, machine }) => [source, machine]));
    const share = shareOut(this.#sources, machines, holders);
    const { take, handOver } = stepOf(name, share, new Set(this.#held.keys()));
    for (const source of take) await this.#take(table, source);
    const gone = [...this.#held.keys()].filter((source) => !this.#sources.includes(source));
    void this.#handOver([...(areKnown(this.#heartbeats, name, now) ? handOver : []), ...gone]);
  }

  async #take(table: FleetTable, source: string): Promise<void> {
    const { machine, own, log } = this.#deps;
    const asked = this.#moment();
    if (!(await inTime(table.lock(source)))) return;
    const { key, ...folder } = own(source);
    const row = await inTime(table.lease(source));
    const taking = takingOf(row, machine.name, folder);
    await inTime(table.take(source, machine.name, taking.epoch));
    const known = await inTime(table.key(source, taking.folder === 'keep' ? key : null));
    const suppressionKey = known ?? randomBytes(32).toString('base64url');
    if (known === null) await inTime(table.key(source, suppressionKey));
    const now = this.#moment().monotonic;
    const before = row && this.#heartbeats.get(row.machine);
    const from = row && taking.waits ? endedAt(before ?? undefined, row.beat, now) : now;
    this.#held.set(source, { source, taking, suppressionKey, asked, from, isStopping: false });
    const how = taking.folder === 'keep' ? 'continues with its folder' : 'restores it from the copy';
    const facts = { event: 'fleet.taken', source, epoch: taking.epoch, folder: taking.folder };
    log.info(facts, `${source}: this machine has the lease and ${how}`);
  }

  /** Stops sending at once; then the copy is brought to its end, and the lease is given back. */
  async #handOver(sources: readonly string[]): Promise<void> {
    const ours = sources.flatMap((source) => this.#held.get(source) ?? []).filter((held) => !held.isStopping);
    for (const held of ours) held.isStopping = true;
    if (ours.length === 0) return;
    this.#apply();
    await this.#changing;
    await Promise.all(ours.map((held) => this.#giveBack(held)));
  }

  async #giveBack(held: Held): Promise<void> {
    const { source } = held;
    const { publishRest, log } = this.#deps;
    try {
      const whole = await publishRest(source);
      const table = this.#table;
      // Another machine may have the source by now: then there is nothing to give back.
      if (!table?.holds(source) || this.#held.get(source) !== held) return;
      if (whole !== null) await inTime(table.handOver(source, whole));
      const facts = { event: 'fleet.handed-over', source, whole: whole !== null };
      log.info(facts, `${source}: handed over${whole === null ? ', and its copy is not whole' : ''}`);
    } catch (error) {
      log.warn({ event: 'fleet.not-handed-over', source }, `${source}: ${messageOf(error)}`);
    } finally {
      if (this.#held.get(source) === held) this.#held.delete(source);
      await inTime(this.#table?.unlock(source) ?? Promise.resolve()).catch(() => this.#drop());
    }
  }

  #apply(): void {
    const { clock, run, log } = this.#deps;
    const now = clock.monotonic();
    const leases = [...this.#held.values()].filter(({ isStopping, from }) => !isStopping && now >= from);
    const key = leases.map(({ source, taking }) => `${source} ${taking.epoch}`).join();
    if (key === this.#running) return;
    this.#running = key;
    this.#changing = this.#changing
      .then(() => run(leases))
      .catch((error) =>
        log.error({ event: 'fleet.failed' }, `the sources of this machine: ${messageOf(error)}`),
      );
  }
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  return await within(ANSWER_MS, work, () => new Error('PostgreSQL does not answer'));
}
