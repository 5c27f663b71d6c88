import { closeSync, existsSync, openSync, readSync, realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { fileId } from '../../base/files.ts';
import type { OpenOptions } from '../../db/open.ts';
import { dataFolderOf } from '../log/recovery-log.ts';

type Place = Pick<OpenOptions, 'path' | 'dataDir'>;

const SIDE_FILES = ['-wal', '-shm', '-journal'];

const IN_DATA_FOLDER = 'is a file of the data folder, where this program keeps its own';

/** A command that writes where a person says never writes over a file of this program, nor over a database of anybody. */
export function refuseOwnFile(mirror: Place, path: string, flag: string): void {
  const why = whyOwn(mirror, path) ?? (isDatabase(path) ? 'is a database' : null);
  if (why) throw new AppError('usage', `${flag} ${path} ${why}`, { hint: 'Give the file another name.' });
}

/** What a path is to this program, as a person is told; null where it is nothing. */
export function whyOwn(mirror: Place, path: string): string | null {
  const id = fileId(path);
  if (id !== null && id === fileId(mirror.path)) return 'is the mirror itself';
  if (SIDE_FILES.some((side) => path.endsWith(side) && existsSync(path.slice(0, -side.length))))
    return 'belongs to the database beside it';
  return isInDataFolder(mirror, path) && OWN_NAMES.test(basename(path)) ? IN_DATA_FOLDER : null;
}

function isInDataFolder(mirror: Place, path: string): boolean {
  const folder = dataFolderOf(mirror);
  return existsSync(folder) && realpathSync(dirname(path)) === realpathSync(folder);
}

/** What stands in the data folder or will, each of the databases with the files beside it. */
const OWN_NAMES =
  /^(mirror(-schema-\d+)?|queue|recovery|sandbox)\.db([.-].*)?$|^((service|webhooks|published|fleet)\.json|rules\.yaml|(redaction|suppression)\.key|backup|exports|uploads|cache)$/;

const DATABASE = 'SQLite format 3\0';

function isDatabase(path: string): boolean {
  if (fileId(path) === null) return false;
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(DATABASE.length);
    return readSync(file, head) === head.length && head.toString('latin1') === DATABASE;
  } finally {
    closeSync(file);
  }
}
