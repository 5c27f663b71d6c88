import { lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Agent, request } from 'undici';
import { waitAsked } from '../api/retry.ts';
import { messageOf } from '../base/errors.ts';

export interface ReceiverAnswer {
  status: number | null;
  ms: number;
  /** Null where the endpoint took it. */
  error: string | null;
  /** How long it asked us to wait; null where it did not. */
  waitMs: number | null;
}

export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface WebhookSender {
  /** Throws where no message will ever be sent to this address, whatever its name turns out to mean. */
  check(url: string): void;
  post(post: WebhookRequest, signal: AbortSignal): Promise<ReceiverAnswer>;
  close(): Promise<void>;
}

export interface WebhookSenderOptions {
  /** Hosts, addresses and networks (`10.1.0.0/16`) in private ranges that may be called all the same. */
  allow: readonly string[];
  timeoutMs?: number;
  lookup?: typeof systemLookup;
}

/** Until the last byte of the answer; what receivers have to do they do afterwards. */
const TIMEOUT_MS = 15_000;
/** Nothing of an answer is kept: it is read so far that the connection can be used again. */
const ANSWER_BYTES = 64 * 1024;

/**
 * Sends messages to addresses that somebody set, and that may lie: no redirect is followed, and no address inside this network is
 * called unless it is listed. The connection goes to the very address that was checked, because the check is the connection's own
 * lookup: a name that changes its address afterwards changes nothing.
 */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { timeoutMs = TIMEOUT_MS, lookup = systemLookup } = options;
  const isAllowed = allowList(options.allow);
  const agent = new Agent({
    connect: { lookup: checkedLookup(lookup, isAllowed) },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxHeaderSize: 16 * 1024,
    connections: 4,
  });
  return {
    check: (url) => refuseAddress(new URL(url), isAllowed),
    async post({ url, headers, body }, signal) {
      const begun = performance.now();
      const took = (): number => Math.round(performance.now() - begun);
      const limit = AbortSignal.timeout(timeoutMs);
      try {
        refuseAddress(new URL(url), isAllowed);
        const both = AbortSignal.any([signal, limit]);
        const answer = await request(url, { dispatcher: agent, method: 'POST', headers, body, signal: both });
        await answer.body.dump({ limit: ANSWER_BYTES, signal: both });
        const { statusCode: status } = answer;
        const waitMs = waitAsked(status, answer.headers, Date.now());
        return { status, ms: took(), error: status >= 200 && status < 300 ? null : refusal(status), waitMs };
      } catch (error) {
        signal.throwIfAborted();
        const why = limit.aborted ? `no answer within ${timeoutMs / 1000} s` : messageOf(error);
        return { status: null, ms: took(), error: why, waitMs: null };
      }
    },
    close: () => agent.destroy(),
  };
}

function refusal(status: number): string {
  if (status >= 300 && status < 400) return `it answered ${status}, and redirects are not followed`;
  return `it answered ${status}`;
}

type IsAllowed = (host: string, address: string) => boolean;

function refuseAddress({ hostname, protocol }: URL, isAllowed: IsAllowed): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) check(host, host, isAllowed);
  if (protocol !== 'https:' && !isAllowed(host, host))
    throw new Error(`${host} is called without encryption: use https, or list it in WEBHOOK_ALLOW`);
}

function check(host: string, address: string, isAllowed: IsAllowed): void {
  if (!isPrivate(address) || isAllowed(host, address)) return;
  const is = host === address ? `${host} is` : `${host} is ${address},`;
  throw new Error(`${is} an address of a private network that WEBHOOK_ALLOW does not list`);
}

function checkedLookup(lookup: typeof systemLookup, isAllowed: IsAllowed): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      try {
        for (const { address } of addresses) check(hostname, address, isAllowed);
      } catch (refused) {
        return callback(refused as Error, '', 0);
      }
      const [first] = addresses;
      if (options.all) return callback(null, addresses);
      return first
        ? callback(null, first.address, first.family)
        : callback(new Error(`${hostname} has no address`), '', 0);
    });
  };
}

/** Networks that are not the public internet (IANA's special-purpose registries), and those that carry an IPv4 address inside. */
const PRIVATE: Record<'ipv4' | 'ipv6', string> = {
  ipv4: `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24
         192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`,
  ipv6: `::/96 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16
         fc00::/7 fe80::/10 fec0::/10 ff00::/8`,
};

const isInPrivate = inNetworks(Object.values(PRIVATE).flatMap((list) => list.split(/\s+/)));

/** Of an IPv6 address with a zone, what stands before the zone. */
export function isPrivate(address: string): boolean {
  return isInPrivate(address.split('%', 1)[0] ?? '');
}

/** Two lists: one for both would take every IPv4 address for a part of the mapped range of IPv6. */
function inNetworks(entries: readonly string[]): (address: string) => boolean {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    if (isIP(address) === 0) continue;
    const family = familyOf(address);
    if (prefix === undefined) lists[family].addAddress(address, family);
    else lists[family].addSubnet(address, Number(prefix), family);
  }
  return (address) => isIP(address) !== 0 && lists[familyOf(address)].check(address, familyOf(address));
}

function allowList(allow: readonly string[]): IsAllowed {
  const hosts = new Set(allow.map((entry) => entry.toLowerCase()));
  const isInside = inNetworks(allow);
  return (host, address) => hosts.has(host.toLowerCase()) || isInside(address);
}
