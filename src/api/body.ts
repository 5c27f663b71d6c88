import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Failure, safeCause } from './failure.ts';
import type { Limits } from './options.ts';
import type { Header } from './retry.ts';

const unpack = promisify(gunzip) as (data: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

/** Below this a high ratio means nothing: a page of empty rows compresses very well. */
const EXPANSION_FLOOR = 1024 * 1024;

/** The whole body within the limits. Throws Failure for what the upstream did, anything else for the network. */
export async function readBody(
  body: AsyncIterable<Buffer>,
  headers: Record<string, Header>,
  limits: Limits,
  progress: () => void,
): Promise<{ text: string; bytes: number }> {
  const isPacked = isGzip(headers['content-encoding']);
  const received = await collect(body, limits.maxBytes, progress);
  const plain = isPacked ? await expand(received, limits) : received;
  return { text: decodeUtf8(plain), bytes: plain.length };
}

/** A request accepts gzip alone. */
function isGzip(header: Header): boolean {
  const encoding = String(header ?? '')
    .trim()
    .toLowerCase();
  if (encoding !== '' && encoding !== 'identity' && encoding !== 'gzip')
    throw new Failure('protocol', 'the answer has a content encoding other than gzip, or several');
  return encoding === 'gzip';
}

async function collect(body: AsyncIterable<Buffer>, maxBytes: number, progress: () => void): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    progress();
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size);
}

/** zlib itself stops at the limit, so a bomb never takes more memory than an honest page may. */
async function expand(data: Buffer, limits: Limits): Promise<Buffer> {
  const byRatio = Math.max(EXPANSION_FLOOR, data.length * limits.maxExpansion);
  const maxOutputLength = Math.min(limits.maxBytes, byRatio);
  if (data.length === 0) return data;
  try {
    return await unpack(data, { maxOutputLength });
  } catch (error) {
    if (Reflect.get(Object(error), 'code') !== 'ERR_BUFFER_TOO_LARGE') throw corrupt(error);
    if (maxOutputLength === limits.maxBytes) throw tooLarge(limits.maxBytes);
    throw new Failure('protocol', `the answer expands to more than ${limits.maxExpansion} times its size`);
  }
}

/** As likely cut on its way as wrong from the start: worth another try. */
function corrupt(error: unknown): Failure {
  return new Failure('unreachable', 'the answer is not valid gzip', {
    again: true,
    cause: safeCause(error, (text) => text),
  });
}

function tooLarge(maxBytes: number): Failure {
  return new Failure('protocol', `the answer is larger than ${Math.round(maxBytes / 1024)} KiB`);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(data: Buffer): string {
  try {
    return utf8.decode(data);
  } catch {
    throw new Failure('protocol', 'the answer is not valid UTF-8');
  }
}
