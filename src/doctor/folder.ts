import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { doubt, type Finding, fault, fine, sizeText } from './check.ts';

const LITTLE_SPACE = 1_000_000_000;
const NO_SPACE = 50_000_000;
const FOR_OTHERS = 0o077;

/** The folder in which everything is written: there, ours alone, and with room. */
export function examineFolder(folder: string): Finding {
  if (!existsSync(folder)) return missing(folder);
  if (!statSync(folder).isDirectory()) return fault(`${folder} is not a folder`, 'Set DATA_DIR to a folder.');
  if (!canWrite(folder))
    return fault(
      `${folder} cannot be written to`,
      `Give the user of this program the right to write to ${folder}.`,
    );
  const free = freeSpace(folder);
  if (free < NO_SPACE)
    return fault(
      `only ${sizeText(free)} are free for ${folder}`,
      'Make room on that disk: nothing can be written.',
    );
  return othersMayRead(folder) ?? space(folder, free);
}

function missing(folder: string): Finding {
  let parent = dirname(resolve(folder));
  while (!existsSync(parent)) parent = dirname(parent);
  return canWrite(parent)
    ? fine(`${folder} is not there yet; it is made when it is needed`)
    : fault(
        `${folder} is not there and cannot be made in ${parent}`,
        'Set DATA_DIR to a folder you may write to.',
      );
}

function space(folder: string, free: number): Finding {
  return free < LITTLE_SPACE
    ? doubt(`${folder}, with ${sizeText(free)} free`, 'Make room on that disk before the mirror grows.')
    : fine(`${folder}, with ${sizeText(free)} free`);
}

/** Names, e-mails and texts of customers are in there. */
function othersMayRead(path: string): Finding | null {
  const mode = statSync(path).mode & 0o777;
  if ((mode & FOR_OTHERS) === 0) return null;
  return doubt(
    `${path} is open to other users of this machine (mode 0${mode.toString(8)})`,
    `Run: chmod go= ${path}`,
  );
}

/** A file that holds customers' data or a secret; null where there is nothing to say. */
export function examineFile(path: string): Finding | null {
  return existsSync(path) ? othersMayRead(path) : null;
}

function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function freeSpace(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
