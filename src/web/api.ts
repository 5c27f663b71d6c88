import { mounted } from './mount.ts';

/** A refusal by the service, in its own words. */
export class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface Call {
  signal?: AbortSignal;
  /** Sent as JSON; makes the request a POST. */
  body?: unknown;
  /** Sent as it is, with its type. */
  file?: { type: string; content: Blob };
  method?: string;
}

/** One request to the service this page came from. */
export async function fetchJson<T>(path: string, call: Call = {}): Promise<T> {
  return (await (await request(path, call)).json()) as T;
}

/** The same for an answer that is a file. */
export async function fetchFile(path: string, call: Call = {}): Promise<Blob> {
  return (await request(path, call)).blob();
}

/** The same for an answer that is read as it comes. */
export async function request(path: string, { signal, body, file, method }: Call): Promise<Response> {
  const sends = body !== undefined || file !== undefined;
  const response = await fetch(mounted(path), {
    method: method ?? (sends ? 'POST' : 'GET'),
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(file ? { 'content-type': file.type } : {}),
    },
    body: file ? file.content : body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
    credentials: 'same-origin',
  });
  if (response.status === 401)
    location.assign(`/login?to=${encodeURIComponent(location.pathname + location.search)}`);
  if (!response.ok) throw await refusalOf(response);
  return response;
}

/** Has the browser save a file that the page made or was sent. */
export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // Firefox reads the file after the click: at once, the address would lead to nothing.
  setTimeout(() => URL.revokeObjectURL(link.href), KEEP_FILE_MS);
}

const KEEP_FILE_MS = 60_000;

/** Why the service refused a request, in its own words where it has any. */
async function refusalOf(response: Response): Promise<HttpError> {
  const answer = (await response.json().catch(() => null)) as { detail?: string } | null;
  return new HttpError(response.status, answer?.detail ?? `The service answered ${response.status}.`);
}

/** The path with these parameters; empty ones are left out, so that addresses stay short. */
export function withQuery(
  path: string,
  parameters: Record<string, string | number | null | undefined>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== null && value !== undefined && value !== '') query.set(name, String(value));
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
