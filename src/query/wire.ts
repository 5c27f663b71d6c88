import { deserialize, serialize } from 'node:v8';
import type { ShownAs } from './shown.ts';
import type { SourceFile } from './together.ts';

/** What SQLite can answer. An integer beyond 2^53 is a bigint, so that no digit is lost; every other number is a number. */
export type SqlValue = null | string | number | bigint | Uint8Array;

export interface Task {
  /** The file of the mirror, or those of several sources. */
  mirror: string | readonly SourceFile[];
  sql: string;
  maxRows: number;
  /** Of all values together. */
  maxBytes: number;
  /** Of one text, which is cut to so many letters. */
  maxText: number;
  maxMemoryBytes: number;
  /** How customers' texts and people are shown; null leaves them as they are. */
  shown: ShownAs | null;
}

/** Which limit left rows out; null when there are no more. */
export type More = 'rows' | 'bytes' | null;

export type Frame =
  | { kind: 'started' }
  | { kind: 'columns'; columns: string[] }
  | { kind: 'rows'; rows: SqlValue[][] }
  | { kind: 'end'; more: More }
  | { kind: 'refused'; refusal: QueryRefusal };

/** Why the statement got no answer, as SQLite or the guard put it. */
export interface QueryRefusal {
  reason: 'empty' | 'several' | 'forbidden' | 'sqlite' | 'unreadable' | 'storage';
  message: string;
}

/** How the child ends itself when it takes too much: a signal nothing else sends, so that this end can be told from the others. */
export const TOO_MUCH_MEMORY: NodeJS.Signals = 'SIGUSR2';

/** The exit code of a child whose Node has no SQLite for statements of people. */
export const NO_ENGINE = 86;

/** The number of the pipe that carries frames, on both sides. */
export const FRAMES_FD = 3;

const HEADER_BYTES = 4;

/** Its length, then the value in the engine's own form: JSON knows no bigint, no bytes and no infinity. */
export function encodeFrame(value: Frame | Task): Buffer {
  const body = serialize(value);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(body.length);
  return Buffer.concat([header, body]);
}

export function bodyLength(header: Buffer): number {
  return header.readUInt32LE();
}

export function decodeTask(body: Buffer): Task {
  return deserialize(body) as Task;
}

/** The frames of a stream. What comes after the last whole one was cut off by the end of the child. */
export async function* frames(stream: AsyncIterable<Buffer>): AsyncGenerator<Frame, void, undefined> {
  let waiting: Buffer[] = [];
  let size = 0;
  let wanted = HEADER_BYTES;
  for await (const chunk of stream) {
    waiting.push(chunk);
    size += chunk.length;
    if (size < wanted) continue;
    let data = Buffer.concat(waiting, size);
    for (wanted = need(data); data.length >= wanted; wanted = need(data)) {
      yield deserialize(data.subarray(HEADER_BYTES, wanted)) as Frame;
      data = data.subarray(wanted);
    }
    waiting = [data];
    size = data.length;
  }
}

function need(data: Buffer): number {
  return data.length < HEADER_BYTES ? HEADER_BYTES : HEADER_BYTES + bodyLength(data);
}
