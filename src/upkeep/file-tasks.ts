import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { errorOfFailure, type PlainFailure } from '../base/errors.ts';
import { ownFile } from '../base/program.ts';
import type { OpenOptions } from '../db/open.ts';
import type { rowsOf } from '../db/sql.ts';
import type { doHousekeeping } from './housekeeping.ts';

/** What takes seconds on a large mirror, and cannot be stopped from inside the process that does it. */
export interface FileTasks {
  /**
   * Rewrites the file without the unused parts of its pages, and empties the write-ahead log. Another writer
   * waits: about a second for 100,000 posts. False when the log could not be emptied because somebody was reading.
   */
  compact(mirror: OpenOptions & { patienceMs?: number }): { isClean: boolean };
  /** Fresh statistics or a checkpoint of a million rows take longer than anybody in the service should have to wait. */
  housekeeping: typeof doHousekeeping;
  /** Writes a copy, as of one moment, and checks it. No writer waits. */
  copy(mirror: OpenOptions & { to: string }): CopyFacts;
}

export interface CopyFacts {
  bytes: number;
  rows: ReturnType<typeof rowsOf>;
}

type FileTaskName = keyof FileTasks;
export type FileTaskRequest<N extends FileTaskName = FileTaskName> = { task: N } & Parameters<
  FileTasks[N]
>[0];
export type FileTaskAnswer =
  | { ok: true; result: ReturnType<FileTasks[FileTaskName]> }
  | ({ ok: false } & PlainFailure);

const CHILD = fileURLToPath(ownFile('./file-task-child.ts', import.meta.url));

/** Does one task in a process of its own, which is killed when the signal says so; SQLite then forgets what it had begun. */
export async function runFileTask<N extends FileTaskName>(
  request: FileTaskRequest<N>,
  signal?: AbortSignal,
): Promise<ReturnType<FileTasks[N]>> {
  signal?.throwIfAborted();
  const child = spawn(process.execPath, [CHILD], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // The copy that SQLite makes on the way has no name, but it has a place: better on the mirror's own disk than on a small one.
    env: { ...process.env, SQLITE_TMPDIR: dirname(request.path) },
  });
  const stop = (): unknown => child.kill('SIGKILL');
  signal?.addEventListener('abort', stop);
  try {
    const ended = once(child, 'close');
    child.stdin.on('error', () => undefined).end(JSON.stringify(request));
    const answer = (await json(child.stdout).catch(() => null)) as FileTaskAnswer | null;
    const [code] = (await ended) as [number | null];
    signal?.throwIfAborted();
    if (answer === null) throw new Error(`the process of the task "${request.task}" ended with ${code}`);
    if (!answer.ok) throw errorOfFailure(answer);
    return answer.result as ReturnType<FileTasks[N]>;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
