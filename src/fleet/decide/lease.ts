/**
 * The times of a lease. A machine asks PostgreSQL every second. It sends for `CONFIRMED_MS` after a question that was answered. PostgreSQL
 * ends a session that asks nothing for `IDLE_MS`, and the locks with it; so another machine has them no sooner. A session can end earlier,
 * as with a restart of PostgreSQL: therefore a machine that takes a source which was not handed over runs it `GRACE_MS` after the last
 * question of the machine before. A question reaches the table up to 4 s after it was asked, and is read there up to 4 s later.
 */
export const ASK_MS = 1000;
export const CONFIRMED_MS = 5000;
export const SILENT_MS = 15_000;
export const IDLE_MS = 20_000;
export const GRACE_MS = 10_000;

/**
 * A moment by two clocks that nobody can set. The monotonic clock of Linux stands still while the machine is suspended; the time since its
 * boot goes on. Only a virtual machine that is stopped from outside stops both.
 */
export interface Moment {
  monotonic: number;
  sinceBoot: number;
}

/** Whether a request may leave now. `asked` is when the last question was asked that PostgreSQL answered, with the lock still held. */
export function maySend(asked: Moment | null, now: Moment): boolean {
  if (asked === null) return false;
  const ages = [now.monotonic - asked.monotonic, now.sinceBoot - asked.sinceBoot];
  return ages.every((age) => age >= 0 && age <= CONFIRMED_MS);
}

/** What the table says of a source: which machine took it last, and for which time. */
export interface LeaseRow {
  machine: string;
  /** One more each time the source moves to another folder. */
  epoch: number;
  /** Written by a holder that stopped and published everything: how far its copy is. Null while it runs, and after a crash. */
  handedOver: string | null;
}

/** What the machine has of the source on its own disk. */
export interface OwnFolder {
  /** The epoch in which this folder was the source's; null where it never was. */
  epoch: number | null;
  hasMirror: boolean;
}

export interface Taking {
  epoch: number;
  /** `keep` the folder that is there, or put it aside and `restore` the copy. */
  folder: 'keep' | 'restore';
  /** What the copy must be for nothing to be unclear; null where every row that is not final has to be looked for. */
  whole: string | null;
  /** Whether the machine before may still believe that the source is its own. */
  waits: boolean;
}

/** What a machine that has got the lock of a source does with it. Only a folder that nobody has replaced meanwhile is gone on with. */
export function takingOf(row: LeaseRow | null, me: string, own: OwnFolder): Taking {
  if (row === null)
    return { epoch: 1, folder: own.hasMirror ? 'keep' : 'restore', whole: null, waits: false };
  const isMine = row.machine === me && own.epoch === row.epoch && own.hasMirror;
  if (isMine) return { epoch: row.epoch, folder: 'keep', whole: null, waits: false };
  return { epoch: row.epoch + 1, folder: 'restore', whole: row.handedOver, waits: row.handedOver === null };
}

/** Heartbeats as one machine has seen them move, by its own clock: no clock of another machine is compared. */
export interface Heartbeat {
  beat: number;
  movedAt: number;
  /** Whether it moved while the machine looked. */
  hasMoved: boolean;
}

export type Heartbeats = ReadonlyMap<string, Heartbeat>;

/** Notes the heartbeats just read. Where the machine could not look for a while, everybody counts as alive again until shown otherwise. */
export function noteHeartbeats(
  before: Heartbeats,
  read: ReadonlyMap<string, number>,
  now: number,
  couldLook: boolean,
): Heartbeats {
  return new Map(
    [...read].map(([name, beat]) => {
      const known = before.get(name);
      if (couldLook && known?.beat === beat) return [name, known];
      return [name, { beat, movedAt: now, hasMoved: couldLook && known !== undefined }];
    }),
  );
}

/**
 * From when on the machine before sends no more. Each of its questions moves its heartbeat. `read` is that heartbeat after its lock was taken:
 * if it has not moved since this machine saw it, no question was answered since.
 */
export function endedAt(heartbeat: Heartbeat | undefined, read: number | null, now: number): number {
  const lastSign = heartbeat && heartbeat.beat === read ? heartbeat.movedAt : now;
  return lastSign + GRACE_MS;
}

export function isSilent({ movedAt }: Heartbeat, now: number): boolean {
  return now - movedAt >= SILENT_MS;
}

/**
 * Whether each other machine was seen to move, or is silent. Before that nothing is handed over to it: on a busy server a machine that had
 * lost its session for a moment gave sources to one that was gone, and took them back after its silence.
 */
export function areKnown(heartbeats: Heartbeats, me: string, now: number): boolean {
  return [...heartbeats].every(
    ([name, heartbeat]) => name === me || heartbeat.hasMoved || isSilent(heartbeat, now),
  );
}
