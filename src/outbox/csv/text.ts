import type { Encoding, ReadOptions } from './csv-file.ts';
import { SNIFF_BYTES, sniff } from './sniff.ts';
import { utf16Transcoder } from './utf16.ts';

/** What is handed on at once, whatever the source yields: it bounds the memory and the size of a batch of rows. */
const PIECE_BYTES = 64 * 1024;

const UTF8_BOM = Buffer.from([0xef, 0xbb, 0xbf]);

export interface Text {
  encoding: Encoding;
  bom: boolean;
  /** The text as UTF-8 without its byte order mark; validity is left to whoever knows the rows. */
  pieces: AsyncGenerator<Buffer, void, undefined>;
}

type Watch = Pick<ReadOptions, 'signal' | 'onProgress'>;

/** Decides the encoding from the first bytes and turns the source into pieces of UTF-8. */
export async function openText(source: AsyncIterable<Uint8Array>, watch: Watch): Promise<Text> {
  const chunks = watched(source, watch);
  try {
    const read = await readHead(chunks);
    const head = Buffer.concat(read);
    const { encoding, bomBytes } = sniff(head);
    const body = afterMarks(read, bomBytes + furtherMarks(head.subarray(bomBytes), encoding), chunks);
    const pieces = encoding === 'utf-8' ? body : transcoded(body, encoding);
    return { encoding, bom: bomBytes > 0, pieces };
  } catch (error) {
    await chunks.return();
    throw error;
  }
}

async function* watched(source: AsyncIterable<Uint8Array>, { signal, onProgress }: Watch) {
  let bytesRead = 0;
  signal?.throwIfAborted();
  for await (const chunk of source) {
    signal?.throwIfAborted();
    bytesRead += chunk.length;
    onProgress?.(bytesRead);
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
  }
}

async function readHead(chunks: AsyncIterator<Buffer>): Promise<Buffer[]> {
  const read: Buffer[] = [];
  for (let size = 0; size < SNIFF_BYTES; ) {
    const next = await chunks.next();
    if (next.done) break;
    read.push(next.value);
    size += next.value.length;
  }
  return read;
}

/** Tools that add a mark without looking leave two of them; a mark is no text, so all of them go. */
function furtherMarks(head: Buffer, encoding: Encoding): number {
  const mark =
    encoding === 'utf-8' ? UTF8_BOM : Buffer.from(encoding === 'utf-16le' ? [0xff, 0xfe] : [0xfe, 0xff]);
  let length = 0;
  while (head.subarray(length, length + mark.length).equals(mark)) length += mark.length;
  return length;
}

/** The chunks as they came, so that what follows meets every chunk edge there was, also the first ones. */
async function* afterMarks(read: Buffer[], markBytes: number, rest: AsyncGenerator<Buffer, void, undefined>) {
  let skip = markBytes;
  try {
    for (const chunk of read) {
      if (chunk.length > skip) yield chunk.subarray(skip);
      skip = Math.max(0, skip - chunk.length);
    }
    yield* rest;
  } finally {
    // `yield*` passes a return on only once it has been reached.
    await rest.return();
  }
}

async function* transcoded(chunks: AsyncGenerator<Buffer, void, undefined>, encoding: Encoding) {
  const transcoder = utf16Transcoder(encoding === 'utf-16be');
  for await (const chunk of chunks) yield transcoder.push(chunk);
  yield transcoder.end();
}
