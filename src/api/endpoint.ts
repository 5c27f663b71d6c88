import { AppError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { ENDPOINTS, type Operation } from '../contract/endpoints.ts';
import type { Auth, Context } from './options.ts';

/** The address of an operation, without query: the only place its requests ever go to. */
export function endpointOf(base: URL, operation: Operation): URL {
  const url = new URL(base);
  url.pathname = base.pathname.replace(/\/+$/, '') + ENDPOINTS[operation].path;
  return url;
}

/** What goes on the wire. It holds the token, so it is made for one exchange and never kept or shown. */
export interface WireRequest {
  path: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body: string | null;
}

export function wireRequest(
  { base, auth }: Context,
  operation: Operation,
  query: string,
  body: string | null,
  secret: Secret,
): WireRequest {
  const credentials = auth.kind === 'query' ? tokenParameter(auth.parameter, secret) : '';
  const search = [query, credentials].filter((part) => part !== '').join('&');
  return {
    path: endpointOf(base, operation).pathname + (search === '' ? '' : `?${search}`),
    method: ENDPOINTS[operation].method,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'gzip',
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...(auth.kind === 'header' ? { authorization: `Bearer ${headerToken(secret)}` } : {}),
    },
    body,
  };
}

function tokenParameter(name: string, secret: Secret): string {
  return `${encodeURIComponent(name)}=${encodeURIComponent(checked(secret).toWellFormed())}`;
}

/** Checked here because the library's own complaint about a bad header quotes nothing a person could act on. */
function headerToken(secret: Secret): string {
  const token = checked(secret);
  if (/^[\t\x20-\x7e\x80-\xff]+$/.test(token)) return token;
  throw new AppError(
    'usage',
    'The API token has characters that no HTTP header can carry, such as a line break.',
    {
      hint: 'Check FEEDBACK_API_TOKEN; a file that holds it may end with more than one line.',
    },
  );
}

function checked(secret: Secret): string {
  const token = secret.reveal();
  if (token !== '') return token;
  throw new AppError('usage', 'The API token is empty.', { hint: 'Set FEEDBACK_API_TOKEN.' });
}

export function authParameter(auth: Auth): string | null {
  return auth.kind === 'query' ? auth.parameter : null;
}
