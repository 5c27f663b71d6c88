import { AppError } from '../base/errors.ts';
import { identifier, tableName } from '../postgres/schema.ts';
import type { Session } from '../postgres/session.ts';
import { IDLE_MS, type LeaseRow } from './decide/lease.ts';

export interface MachineRow {
  name: string;
  /** Grows with each question that the machine asks. */
  beat: number;
  isLeaving: boolean;
  address: string | null;
  since: string;
  /** For people, by the clock of PostgreSQL. */
  seenAt: string;
  version: string;
}

export interface LeaseLine extends LeaseRow {
  source: string;
  since: string;
}

export interface FleetRows {
  machines: MachineRow[];
  leases: LeaseLine[];
}

/** The fleet in PostgreSQL, through one session: its locks are the leases, and all end with it. */
export interface FleetTable {
  /** Takes the name of this machine; false while another session has it. */
  enter(machine: string): Promise<boolean>;
  /** One heartbeat, and everything that the tables say. */
  ask(machine: Pick<MachineRow, 'name' | 'address' | 'isLeaving' | 'version'>): Promise<FleetRows>;
  lock(source: string): Promise<boolean>;
  /** Whether this session has the lock. */
  holds(source: string): boolean;
  unlock(source: string): Promise<void>;
  /** With the heartbeat of its machine, where the table still knows that machine. */
  lease(source: string): Promise<(LeaseRow & { beat: number | null }) | null>;
  /** The caller holds the lock. It counts as a heartbeat: a third machine waits for this one from here on. */
  take(source: string, machine: string, epoch: number): Promise<void>;
  handOver(source: string, whole: string): Promise<void>;
  /** The key of the list of erased people, which a machine needs that has never run the source. */
  key(source: string, own: string | null): Promise<string | null>;
  isOver(): boolean;
  close(): Promise<void>;
}

/** 'FBML': the first half of the key of a lease, so that no other program means the same lock. */
const LEASE_CLASS = 0x46424d4c;
const OLDEST_VERSION = 140_000;

/** How long PostgreSQL keeps what a dead machine wrote about itself. */
const FORGET = '1 day';

const time = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Makes the tables where they are missing. From here on PostgreSQL ends the session when it asks nothing for `IDLE_MS`: a frozen process
 * keeps its connection acknowledged, so no keep-alive notices it (measured with PostgreSQL 15: neither keep-alive, tcp_user_timeout nor
 * client_connection_check_interval within a minute, idle_session_timeout after 19.6 s of 20).
 */
export async function openFleetTable(session: Session, schema: string): Promise<FleetTable> {
  const [version] = await session.query<{ n: string }>("SELECT current_setting('server_version_num') AS n");
  if (Number(version?.n) < OLDEST_VERSION)
    throw new AppError('usage', `a fleet needs PostgreSQL 14 or newer, and ${session.place} is older`);
  await session.query(`SET statement_timeout = '5s'; SET idle_session_timeout = ${IDLE_MS}`);
  await makeTables(session, schema);
  return {
    ...fleetLocks(session, schema),
    ...fleetRows(session, schema),
    isOver: () => session.isOver(),
    close: () => session.close(),
  };
}

function fleetLocks(
  session: Session,
  schema: string,
): Pick<FleetTable, 'enter' | 'holds' | 'lock' | 'unlock'> {
  const keyed = (call: string, key: string): Promise<boolean> => onKey(session, call, `${schema} ${key}`);
  const locked = new Set<string>();
  return {
    enter: (machine) => keyed('pg_try_advisory_lock', `machine ${machine}`),
    holds: (source) => locked.has(source),
    // Locks of a session are counted: taken twice, one would have to be given back twice.
    async lock(source) {
      if (!locked.has(source) && (await keyed('pg_try_advisory_lock', source))) locked.add(source);
      return locked.has(source);
    },
    async unlock(source) {
      if (locked.delete(source)) await keyed('pg_advisory_unlock', source);
    },
  };
}

function fleetRows(
  session: Session,
  schema: string,
): Pick<FleetTable, 'ask' | 'lease' | 'take' | 'handOver' | 'key'> {
  const { machines, leases } = tablesOf(schema);
  return {
    async ask({ name, address, isLeaving, version }) {
      await session.query(
        `INSERT INTO ${machines} AS m (name, address, is_leaving, version) VALUES ($1, $2, $3, $4)
             ON CONFLICT (name) DO UPDATE SET beat = m.beat + 1, seen_at = now(), address = $2, is_leaving = $3, version = $4`,
        [name, address, isLeaving, version],
      );
      return await readFleet(session, schema);
    },
    async lease(source) {
      const [row] = await session.query<LeaseRow & { epoch: string; beat: string | null }>(
        `SELECT machine, epoch, handed_over AS "handedOver", beat FROM ${leases} LEFT JOIN ${machines} ON name = machine WHERE source = $1`,
        [source],
      );
      return row
        ? { ...row, epoch: Number(row.epoch), beat: row.beat === null ? null : Number(row.beat) }
        : null;
    },
    async take(source, machine, epoch) {
      await session.query(
        `WITH sign AS (UPDATE ${machines} SET beat = beat + 1 WHERE name = $2)
           INSERT INTO ${leases} (source, machine, epoch) VALUES ($1, $2, $3)
             ON CONFLICT (source) DO UPDATE SET machine = $2, epoch = $3, since = now(), handed_over = NULL`,
        [source, machine, epoch],
      );
    },
    handOver: async (source, whole) =>
      void (await session.query(`UPDATE ${leases} SET handed_over = $2 WHERE source = $1`, [source, whole])),
    async key(source, own) {
      if (own !== null)
        await session.query(`UPDATE ${leases} SET suppression_key = $2 WHERE source = $1`, [source, own]);
      const [row] = await session.query<{ key: string | null }>(
        `SELECT suppression_key AS key FROM ${leases} WHERE source = $1`,
        [source],
      );
      return row?.key ?? null;
    },
  };
}

function tablesOf(schema: string): { machines: string; leases: string } {
  return { machines: tableName(schema, 'machines'), leases: tableName(schema, 'leases') };
}

async function onKey(session: Session, call: string, key: string): Promise<boolean> {
  const sql = `SELECT ${call}($1, hashtext($2)) AS ok`;
  const [row] = await session.query<{ ok: boolean }>(sql, [LEASE_CLASS, key]);
  return row?.ok === true;
}

async function makeTables(session: Session, schema: string): Promise<void> {
  const { machines, leases } = tablesOf(schema);
  await session.transaction(async () => {
    await session.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [LEASE_CLASS, schema]);
    await session.query(`
      CREATE SCHEMA IF NOT EXISTS ${identifier(schema)};
      CREATE TABLE IF NOT EXISTS ${machines} (
        name text PRIMARY KEY, beat bigint NOT NULL DEFAULT 0, address text, is_leaving boolean NOT NULL, version text NOT NULL,
        since timestamptz NOT NULL DEFAULT now(), seen_at timestamptz NOT NULL DEFAULT now());
      CREATE TABLE IF NOT EXISTS ${leases} (
        source text PRIMARY KEY, machine text NOT NULL, epoch bigint NOT NULL, since timestamptz NOT NULL DEFAULT now(),
        handed_over text, suppression_key text);
      DELETE FROM ${machines} WHERE seen_at < now() - interval '${FORGET}'`);
  });
}

/** Also for somebody who looks from outside of the fleet. */
export async function readFleet(session: Session, schema: string): Promise<FleetRows> {
  const tables = tablesOf(schema);
  const machines = await session.query<MachineRow & { beat: string }>(`
    SELECT name, beat, is_leaving AS "isLeaving", address, ${time('since')} AS since, ${time('seen_at')} AS "seenAt", version
      FROM ${tables.machines} ORDER BY name`);
  const leases = await session.query<LeaseLine & { epoch: string }>(`
    SELECT source, machine, epoch, handed_over AS "handedOver", ${time('since')} AS since
      FROM ${tables.leases} ORDER BY source`);
  return {
    machines: machines.map((row) => ({ ...row, beat: Number(row.beat) })),
    leases: leases.map((row) => ({ ...row, epoch: Number(row.epoch) })),
  };
}
