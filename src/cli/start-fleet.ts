import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Settings } from '../../config/load.ts';
import { settingLines } from '../../config/load.ts';
import type { ConfiguredSource } from '../../config/sources.ts';
import { openFleet, ownFolder, prepareFolder, publishRest } from '../app/fleet.ts';
import { holdLease } from '../app/lease.ts';
import { AppError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { runbookOf } from '../base/runbook.ts';
import type { Lock } from '../db/lock.ts';
import type { Fleet, Lease } from '../fleet/fleet.ts';
import { splitMount } from '../http/server/guard.ts';
import type { Sites } from '../http/server/server.ts';
import type { Health } from '../service/health.ts';
import type { SourcePlan } from '../sources/running.ts';
import type { SourceSet } from '../sources/set.ts';
import { sitesOf } from '../sources/site.ts';
import { announce } from './service.ts';

/** This process as a machine of a fleet: it runs the sources whose leases it has, and passes reads of the others on. */
export interface FleetMember {
  knows(name: string): boolean;
  follow(all: readonly ConfiguredSource[]): Promise<void>;
  sites: Sites;
  checks(): Health['checks'];
  close(): Promise<void>;
}

interface Around {
  set: SourceSet;
  log: Logger;
  /** Where this process listens. */
  url: string;
}

/** The sources of the file. Those that it no longer has keep their settings: they are still to be handed over. */
function knownSources(first: readonly ConfiguredSource[]) {
  let sources = new Map(first.map((source) => [source.name, source]));
  const former = new Map<string, Settings>();
  return {
    find: (name: string) => sources.get(name),
    names: () => [...sources.keys()],
    settingsOf(name: string): Settings {
      const known = sources.get(name)?.settings ?? former.get(name);
      if (known) return known;
      throw new AppError('usage', `${name} is not in sources.yaml`);
    },
    replace(all: readonly ConfiguredSource[]): void {
      for (const [name, { settings }] of sources) former.set(name, settings);
      sources = new Map(all.map((source) => [source.name, source]));
    },
  };
}

export function joinFleet(
  shared: Settings,
  first: readonly ConfiguredSource[],
  { set, log, url }: Around,
): FleetMember {
  const sources = knownSources(first);
  const { names, settingsOf } = sources;
  const stop = new AbortController();
  const accepts = (name: string): boolean => fleet.maySend(name) && isCopied(set, name);
  const folders = announcer(accepts);
  let leases: readonly Lease[] = [];
  const run = async (next: readonly Lease[]): Promise<void> => {
    leases = next;
    const plans = leases.flatMap((lease) => {
      const source = sources.find(lease.source);
      return source ? [planOf(source, lease)] : [];
    });
    await set.follow(plans);
    folders.forgetOthers(plans.map(({ name }) => name));
  };
  const planOf = ({ name, settings, input }: ConfiguredSource, lease: Lease): SourcePlan => ({
    name,
    host: settings.baseUrl?.host ?? '',
    folder: settings.dataDir,
    key: JSON.stringify([lease.taking.epoch, name, settingLines(settings).map(({ value }) => value)]),
    async open(parts) {
      await prepareFolder(settings, lease, { log, signal: stop.signal });
      folders.tell(settings, `${url}/s/${name}`);
      const { openApp } = await import('../app.ts');
      const mayLeave = (): boolean => fleet.maySend(name);
      return await openApp(settings, input, 'start', { isService: true, ...parts, mayLeave });
    },
  });
  const fleet = openFleet(shared, names(), {
    log,
    run,
    own: (name) => ownFolder(settingsOf(name)),
    publishRest: (name) => publishRest(settingsOf(name)),
    address: addressOf(shared, url),
  });
  return {
    knows: (name) => sources.find(name) !== undefined,
    async follow(all) {
      sources.replace(all);
      fleet.follow(names());
      // What has changed in the file starts again; what is gone from it is given back.
      await run(leases);
    },
    sites: fleetSites({ shared, set, fleet, accepts, names }),
    checks: () => checksOf(fleet),
    async close() {
      await fleet.close();
      stop.abort(new AppError('interrupted', 'the service is stopping'));
      folders.close();
    },
  };
}

/** Rows that were accepted before the first copy would be lost with this machine. */
function isCopied(set: SourceSet, name: string): boolean {
  return set.find(name)?.app()?.publisher?.progress().publishedAt != null;
}

/** Another machine cannot call this one where it listens on every address, or on none but its own. */
function addressOf({ fleetAddress, httpHost }: Settings, url: string): string | null {
  if (fleetAddress) return fleetAddress.href.replace(/\/+$/, '');
  return ['0.0.0.0', '::'].includes(httpHost) ? null : url;
}

const LOOK_MS = 500;

/** Tells commands of this machine which folders are live: where the service listens, and whether it accepts anything for them. */
function announcer(accepts: (name: string) => boolean) {
  const running = new Map<string, { settings: Settings; forget: () => void; lock: Lock | null }>();
  const look = (): void => {
    for (const [name, entry] of running) {
      if (accepts(name)) entry.lock ??= holdLease(entry.settings);
      else release(entry);
    }
  };
  const release = (entry: { lock: Lock | null }): void => {
    entry.lock?.release();
    entry.lock = null;
  };
  const end = (name: string): void => {
    const entry = running.get(name);
    if (!entry) return;
    running.delete(name);
    release(entry);
    entry.forget();
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    tell(settings: Settings, url: string): void {
      const name = settings.source ?? '';
      end(name);
      running.set(name, { settings, forget: announce(settings.dataDir, url), lock: null });
    },
    forgetOthers(names: readonly string[]): void {
      for (const name of running.keys()) if (!names.includes(name)) end(name);
    },
    close(): void {
      clearInterval(timer);
      for (const name of running.keys()) end(name);
    },
  };
}

function checksOf(fleet: Fleet): Health['checks'] {
  const trouble = fleet.trouble();
  if (trouble === null) return [];
  const detail = `${trouble}: nothing is sent, and what this machine shows may be old`;
  return [
    { name: 'fleet', ok: fleet.hasAsked(), warning: true, detail, runbook: runbookOf('fleet-unconfirmed') },
  ];
}

interface Reading {
  shared: Settings;
  set: SourceSet;
  fleet: Fleet;
  accepts(name: string): boolean;
  names(): string[];
}

/** Set on a request that was passed on: it is not passed on again. */
const HOP = 'feedback-mirror-passed-on';

function fleetSites({ shared, set, fleet, accepts, names }: Reading): Sites {
  const own = sitesOf(set);
  return (address) => {
    const { name } = splitMount(address);
    const known = names();
    const source = name ?? (known.length === 1 ? known[0] : undefined);
    if (source === undefined || !known.includes(source)) return null;
    const open = own(address);
    // An address without a name may be one of the program itself.
    if (!open && name === null) return null;
    if (!open)
      return async () => ({
        handle: (request, response) => passOn(shared, fleet, source, request, response),
      });
    return async () => {
      const site = await open();
      return {
        handle(request, response) {
          if (!isRead(request) && !accepts(source))
            return refuse(
              response,
              `the lease of ${source} is not confirmed just now, or it has no copy yet, so nothing is accepted here`,
            );
          if (fleet.maySend(source)) return site.handle(request, response);
          response.setHeader('feedback-mirror-lease', 'unconfirmed: this copy may be old');
          return site.handle(request, response);
        },
      };
    };
  };
}

function isRead({ method = '' }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

function refuse(response: ServerResponse, detail: string): void {
  response.writeHead(503, {
    'content-type': 'application/json',
    'retry-after': '5',
    'cache-control': 'no-store',
  });
  response.end(JSON.stringify({ detail }));
}

/** Reads of a source that another machine runs. Its address comes from the table of the fleet, and from nowhere else. */
function passOn(
  shared: Settings,
  fleet: Fleet,
  source: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { machines, leases } = fleet.rows();
  const machine = leases.find((lease) => lease.source === source)?.machine;
  const address = machines.find(({ name }) => name === machine)?.address;
  const url = URL.parse(address ?? '');
  // As it came: a URL would work off the dots in it, and what was let pass as a feed here would be another page there.
  const path = `${url?.pathname.replace(/\/$/, '')}${Reflect.get(request, 'originalUrl') ?? request.url}`;
  const where = machine === undefined ? 'no machine runs it yet' : `it runs on ${machine}`;
  if (request.headers[HOP] || !isRead(request) || !url) {
    refuse(response, `${source} is not on this machine: ${where}`);
    return;
  }
  const { httpToken } = shared;
  const token: Record<string, string> = httpToken ? { authorization: `Bearer ${httpToken.reveal()}` } : {};
  const { accept = '*/*', 'if-none-match': match } = request.headers;
  const headers = { accept, ...(match ? { 'if-none-match': match } : {}), ...token, [HOP]: '1' };
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const passed = send(url, { path, method: request.method, headers });
  passed.setTimeout(PASS_MS, () => passed.destroy(new Error('it does not answer')));
  response.once('close', () => passed.destroy());
  passed.once('response', (answer) => {
    passed.setTimeout(0);
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  passed.once('error', (error) => {
    if (response.headersSent) response.destroy();
    else refuse(response, `${source}: ${where}, which cannot be reached: ${messageOf(error)}`);
  });
  passed.end();
}

const PASS_MS = 10_000;
