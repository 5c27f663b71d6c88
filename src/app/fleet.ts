import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { Settings } from '../../config/load.ts';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { createPrivately, isThere, makeFolder } from '../base/files.ts';
import type { Logger } from '../base/log.ts';
import { versionText } from '../base/program.ts';
import type { Secret } from '../base/secret.ts';
import { within } from '../base/timeout.ts';
import type { OwnFolder } from '../fleet/decide/lease.ts';
import { Fleet, type FleetDeps, type Lease } from '../fleet/fleet.ts';
import { type FleetRows, openFleetTable, readFleet } from '../fleet/table.ts';
import { rowsMissing } from '../restore/rebuild.ts';
import { counted } from '../text/text.ts';
import { lookAtCopy, openCopySession, openPublisher, restoreIfCopied } from './publish.ts';

/** What a folder of a source says about the fleet: for which epoch it was the source's. */
interface Mark {
  epoch: number;
  /** Everything in it is in the copy. */
  isWhole: boolean;
}

const markOf = (folder: string): string => join(folder, 'fleet.json');
const keyOf = (folder: string): string => join(folder, 'suppression.key');

export function ownFolder({ dataDir, mirrorPath }: Settings): OwnFolder & { key: string | null } {
  const key = isThere(keyOf(dataDir)) ? readFileSync(keyOf(dataDir), 'utf8').trim() : null;
  return { epoch: readMark(dataDir)?.epoch ?? null, hasMirror: isThere(mirrorPath), key };
}

function readMark(folder: string): Mark | null {
  try {
    return JSON.parse(readFileSync(markOf(folder), 'utf8')) as Mark;
  } catch {
    return null;
  }
}

function writeMark(folder: string, mark: Mark): void {
  const path = markOf(folder);
  createPrivately(`${path}.new`);
  writeFileSync(`${path}.new`, JSON.stringify(mark), { flush: true });
  renameSync(`${path}.new`, path);
}

/** Makes the folder that of the epoch, before the source is opened. Called again after a failure, it goes on where it stopped. */
export async function prepareFolder(
  settings: Settings,
  { source, taking, suppressionKey }: Lease,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<void> {
  const { dataDir, publishUrl: url } = settings;
  const { epoch, hasMirror } = ownFolder(settings);
  const isDone = hasMirror && epoch === taking.epoch;
  const aside = !isDone && taking.folder === 'restore' && hasMirror ? putAside(settings) : null;
  makeFolder(dataDir);
  if (!isThere(keyOf(dataDir))) {
    createPrivately(keyOf(dataDir));
    writeFileSync(keyOf(dataDir), `${suppressionKey}\n`, { flush: true });
  }
  if (!isDone && taking.folder === 'restore' && url) {
    const request = { url, setting: 'PUBLISH_URL', replace: true, withoutKey: false, signal };
    const restored = await restoreIfCopied(settings, { ...request, isOurs: true, whole: taking.whole });
    if (restored) {
      const { checking, readAt } = restored;
      const facts = { event: 'fleet.restored', source, epoch: taking.epoch, checking, readAt };
      const rows = `${counted(checking, 'outbox row')} will be looked for upstream before anything is sent`;
      log.info(facts, `${source}: restored from the copy of ${readAt ?? 'an unknown moment'}; ${rows}`);
    }
    tellAside(aside, settings.mirrorPath, { source, log });
  }
  writeMark(dataDir, { epoch: taking.epoch, isWhole: false });
}

/** Renames the folder. One whose rows are all in the copy replaces the last such folder, to save space. Others stay until a person removes them. */
function putAside({ dataDir, mirrorPath }: Settings): { folder: string; mirror: string; isWhole: boolean } {
  const isWhole = readMark(dataDir)?.isWhole === true;
  const at = new Date().toISOString().replaceAll(/[:.]/g, '-');
  const folder = isWhole ? `${dataDir}.handed-over` : `${dataDir}.aside-${at}`;
  if (isWhole) rmSync(folder, { recursive: true, force: true });
  renameSync(dataDir, folder);
  return { folder, mirror: join(folder, mirrorPath.slice(dirname(mirrorPath).length + 1)), isWhole };
}

/** What was accepted here within the lag of the copy is in no other place: a person is told where. */
function tellAside(
  aside: ReturnType<typeof putAside> | null,
  path: string,
  { source, log }: { source: string; log: Logger },
): void {
  if (!aside || aside.isWhole) return;
  const { folder, mirror } = aside;
  const rows = rowsMissing(mirror, path);
  const facts = { event: 'fleet.aside', source, folder, rows };
  const lost =
    rows === 0 ? '' : `; ${counted(rows, 'row')} of its outbox are not in the copy: import them again`;
  log[rows === 0 ? 'info' : 'warn'](facts, `${source}: the old folder is kept as ${folder}${lost}`);
}

/** The source has stopped. Brings its copy to the end; returns how far that is, or null where the copy is not whole. */
export async function publishRest(settings: Settings): Promise<string | null> {
  const { publishUrl: url, dataDir } = settings;
  if (!url || !isThere(settings.mirrorPath)) return null;
  const publisher = openPublisher(settings, url);
  try {
    for (const end = systemClock.monotonic() + REST_MS; ; await systemClock.sleep(200)) {
      await publisher.step();
      const { behind, isElsewhere } = publisher.progress();
      if (!isElsewhere && behind === 0) break;
      if (systemClock.monotonic() > end) return null;
    }
  } finally {
    await publisher.close();
  }
  const copy = await lookAtCopy(settings, url);
  if (!copy || copy.isOther || copy.behind !== 0) return null;
  writeMark(dataDir, { epoch: readMark(dataDir)?.epoch ?? 0, isWhole: true });
  return copy.readAt;
}

const REST_MS = 5000;

/** Not among the schemas of the copies, which begin with the name itself. */
function fleetSchema({ publishSchema }: Settings): string {
  return `fleet_of_${publishSchema}`;
}

function fleetUrlOf({ fleetUrl }: Settings): Secret {
  if (fleetUrl) return fleetUrl;
  throw new AppError('usage', 'FLEET_URL is not set, so this machine is in no fleet', {
    hint: 'Set it to the PostgreSQL that the machines of the fleet share: see docs/fleet.md.',
  });
}

type FleetParts = Pick<FleetDeps, 'run' | 'publishRest' | 'own' | 'log'> & { address: string | null };

export function openFleet(shared: Settings, sources: readonly string[], parts: FleetParts): Fleet {
  const { address, ...rest } = parts;
  const name = machineName(shared);
  return new Fleet(
    {
      ...rest,
      machine: { name, address, version: versionText() },
      open: () => openTable(shared),
      clock: systemClock,
    },
    sources,
  );
}

export function machineName({ fleetMachine }: Settings): string {
  return fleetMachine ?? hostname();
}

async function openTable(shared: Settings) {
  const schema = fleetSchema(shared);
  const session = await openCopySession({ url: fleetUrlOf(shared), schema, setting: 'FLEET_URL' });
  try {
    return await openFleetTable(session, schema);
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** The fleet as a machine outside of it sees it. */
export async function lookAtFleet(shared: Settings): Promise<FleetRows> {
  const schema = fleetSchema(shared);
  const session = await openCopySession({ url: fleetUrlOf(shared), schema, setting: 'FLEET_URL' });
  try {
    const [there] = await session.query<{ ok: boolean }>('SELECT to_regclass($1) IS NOT NULL AS ok', [
      `${schema}.leases`,
    ]);
    return there?.ok ? await readFleet(session, schema) : { machines: [], leases: [] };
  } finally {
    await session.close();
  }
}

const LOOK_MS = 2000;

/** The machine that runs each source. Empty where PostgreSQL does not answer soon: a question is answered without it. */
export async function whoRuns(shared: Settings): Promise<Map<string, string>> {
  const nothing = { machines: [], leases: [] };
  const { leases } = await within(LOOK_MS, lookAtFleet(shared), () => nothing).catch(() => nothing);
  const taken = leases.filter(({ handedOver }) => handedOver === null);
  return new Map(taken.map(({ source, machine }) => [source, machine]));
}
