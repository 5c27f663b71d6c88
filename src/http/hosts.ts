import { isIP } from 'node:net';
import { isLoopback } from '../base/loopback.ts';

export interface Listening {
  /** As configured: a name or an address. */
  host: string;
  port: number;
}

/** Ways to spell this machine itself; nobody else can make a browser believe in another one. */
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

const HOST_HEADER = /^(?<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?<port>\d{1,5}))?$/;

/**
 * The names under which the service may be called. A page of a stranger can point a name of its own at our address (DNS
 * rebinding) and would then be of our origin; it cannot do so with an address or a name that is not its own. So:
 * on loopback, exactly the names of loopback with our port; elsewhere, any address, because an operator reaches 0.0.0.0 under
 * many (and the port may be mapped), but of the names only the configured one and localhost. Elsewhere there is a token too.
 */
export function isOurHost(header: string, { host, port }: Listening): boolean {
  const match = HOST_HEADER.exec(header.toLowerCase());
  const name = match?.groups?.name;
  if (name === undefined) return false;
  const isNamed = name === inUrl(host) || LOOPBACK_NAMES.includes(name);
  if (isLoopback(host)) return isNamed && Number(match?.groups?.port ?? 80) === port;
  return isNamed || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
}

/** Where a person on this machine finds the service: an address that means all of them is no place to go to. */
export function urlOf({ host, port }: Listening): string {
  const anywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' };
  const name = inUrl(host);
  return `http://${anywhere[name] ?? name}:${port}`;
}

function inUrl(host: string): string {
  const name = host.toLowerCase();
  return isIP(name) === 6 ? `[${name}]` : name;
}
