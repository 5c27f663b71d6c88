/**
 * Every failure this program can name. One code per thing a caller would do differently;
 * each edge (exit code, HTTP status, job verdict) answers all of them in a typed table.
 */
export const ERROR_CODES = [
  'usage', // a flag, setting or input file is wrong; the person can fix it
  'unauthorised', // the upstream refused the token
  'unreachable', // the upstream could not be reached or kept failing
  'throttled', // the upstream asked us to slow down for longer than we may wait
  'refused', // the upstream understood and said no
  'protocol', // the upstream answered something its contract does not allow
  'partial', // done, but some rows were rejected, quarantined or held back
  'gone', // what was asked for is not kept any more; the caller starts again
  'busy', // another process holds what this one needs
  'storage', // the disk is full or fails, or a file on it is damaged
  'interrupted', // a person or the system asked us to stop
  'internal', // a defect of ours
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

interface AppErrorOptions {
  cause?: unknown;
  /** What the person can do about it, as a sentence. */
  hint?: string;
}

export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
  }
}

/** The first of several errors. On a full disk, closing a file fails after the write did, and that error wraps the first one. */
export function firstError(error: unknown): unknown {
  const isWrapped = error instanceof Error && error.name === 'SuppressedError';
  return isWrapped ? firstError(Reflect.get(error, 'suppressed')) : error;
}

/** The code of anything thrown: ours, an abort (which says why in its cause), the disk's, or a defect. */
export function codeOf(error: unknown): ErrorCode {
  if (error instanceof AppError) return error.code;
  if (error instanceof Error && error.name === 'AbortError')
    return error.cause instanceof AppError ? error.cause.code : 'interrupted';
  return storageError(error)?.code ?? 'internal';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface StorageTrouble {
  code: 'usage' | 'storage' | 'busy';
  what: string;
  hint: string;
}

const PERMISSION: StorageTrouble = {
  code: 'usage',
  what: 'this user may not read or write there',
  hint: 'Let the user who runs this program read and write there, or choose another place (DATA_DIR, MIRROR_PATH, the path you gave).',
};
const NO_FOLDER: StorageTrouble = {
  code: 'usage',
  what: 'a part of the path is no folder, or no folder can be made there',
  hint: 'Choose another place (DATA_DIR, MIRROR_PATH, the path you gave).',
};
const FULL: StorageTrouble = {
  code: 'storage',
  what: 'the disk is full',
  hint: 'Make room on the disk of DATA_DIR, and run this again: what was confirmed before is safe.',
};
const FAILING: StorageTrouble = {
  code: 'storage',
  what: 'the disk cannot be read or written',
  hint: 'See whether the disk is full or failing ("feedback-mirror doctor", the log of the system), then run this again.',
};
const DAMAGED: StorageTrouble = {
  code: 'storage',
  what: 'a database in DATA_DIR is damaged',
  hint: 'Run "feedback-mirror doctor": it names the file and says what to do.',
};

const NO_WORKING_FOLDER: StorageTrouble = {
  code: 'usage',
  what: 'the working folder does not exist any more',
  hint: 'Change to a folder that exists, and run this again.',
};

/** Troubles by the code of Node or SQLite, or by the beginning of it. Nobody acts on most of SQLite's extended codes. */
const STORAGE_TROUBLES: Record<string, StorageTrouble> = {
  EACCES: PERMISSION,
  EPERM: PERMISSION,
  EROFS: { ...PERMISSION, what: 'the disk can only be read' },
  ENOTDIR: NO_FOLDER,
  ENAMETOOLONG: { ...NO_FOLDER, what: 'the path is too long' },
  EEXIST: { ...NO_FOLDER, what: 'there is a file of that name' },
  EISDIR: { ...NO_FOLDER, what: 'there is a folder of that name' },
  ENOTEMPTY: { ...NO_FOLDER, what: 'there is a folder of that name' },
  ENOSPC: FULL,
  EDQUOT: { ...FULL, what: 'the disk quota is used up' },
  EFBIG: { ...FULL, what: 'the file would be larger than this disk or user may have' },
  EIO: FAILING,
  SQLITE_BUSY: {
    code: 'busy',
    what: 'another program has locked a database in DATA_DIR',
    hint: 'Close it there (a database browser with an open edit, for example), then run this again.',
  },
  SQLITE_FULL: FULL,
  SQLITE_IOERR: FAILING,
  // The file beside a database that its readers share could not grow.
  SQLITE_IOERR_SHMSIZE: FULL,
  SQLITE_CORRUPT: DAMAGED,
  SQLITE_NOTADB: DAMAGED,
  SQLITE_CANTOPEN: PERMISSION,
  SQLITE_READONLY: PERMISSION,
  SQLITE_PERM: PERMISSION,
};

/** Node gives sockets and child processes the same codes as files. */
const NOT_FILES = /^(listen|bind|connect|accept|spawn|kill|getaddrinfo)/;

function troubleOf(name: string, syscall: string): StorageTrouble | undefined {
  // A missing file is ours to explain where it is looked for; a folder that takes no other, as /proc, says the same.
  if (name === 'ENOENT' && syscall === 'mkdir') return NO_FOLDER;
  if (name === 'ENOENT' && syscall === 'uv_cwd') return NO_WORKING_FOLDER;
  return STORAGE_TROUBLES[name] ?? STORAGE_TROUBLES[/^SQLITE_[A-Z]+/.exec(name)?.[0] ?? ''];
}

/** A failure of the disk as a sentence with advice; null for other errors. */
export function storageError(error: unknown, file?: string): AppError | null {
  if (!(error instanceof Error)) return null;
  const { code, syscall = '', path = file } = error as NodeJS.ErrnoException;
  const name = /^SQLITE_[A-Z]+(_[A-Z]+)*|^E[A-Z]+$/.exec(typeof code === 'string' ? code : '')?.[0] ?? '';
  const trouble = troubleOf(name, syscall);
  if (!trouble || NOT_FILES.test(syscall)) return null;
  const place = path === undefined ? '' : `${path}: `;
  const { what } = trouble;
  // Errors without a path are of the data folder. Other files may be on another disk.
  const hint =
    path === undefined ? trouble.hint : trouble.hint.replace('disk of DATA_DIR', `disk of ${path}`);
  return new AppError(trouble.code, `${place}${what} (${error.message})`, { cause: error, hint });
}

/** An error as plain data for another thread or process. An Error would arrive without its code. */
export interface PlainFailure {
  code: ErrorCode;
  message: string;
  hint: string | undefined;
}

export function plainFailure(error: unknown): PlainFailure {
  const known = error instanceof AppError ? error : storageError(error);
  return { code: codeOf(error), message: messageOf(known ?? error), hint: known?.hint };
}

export function errorOfFailure({ code, message, hint }: PlainFailure): AppError {
  return new AppError(code, message, hint === undefined ? {} : { hint });
}
