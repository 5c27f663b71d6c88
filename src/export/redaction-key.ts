import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../base/errors.ts';
import { isThere, makeFolder, temporaryName } from '../base/files.ts';
import { createRedactor, type Redactor } from '../text/redact.ts';

const BYTES = 32;

/** Pseudonyms with the key of a data folder. */
export async function openRedactor(dataDir: string): Promise<Redactor> {
  return createRedactor(await redactionKey(keyPath(dataDir)));
}

/** The pseudonyms of redacted exports of this data folder, for addresses and for names of people without one. */
export async function pseudonymsOf(
  dataDir: string,
  { email, names }: { email: string | null; names: readonly string[] },
): Promise<string[]> {
  if (!isThere(keyPath(dataDir))) return [];
  const redactor = await openRedactor(dataDir);
  return email === null
    ? names.map((name) => redactor.name(name, null))
    : [redactor.email(email), redactor.name('', email)];
}

function keyPath(dataDir: string): string {
  return join(dataDir, 'redaction.key');
}

/**
 * What pseudonyms are made with: made once, then always the same, or people would change between two exports. Whoever has the file
 * can test whether a pseudonym is somebody's; without the file that is not possible. Deleting it cuts the link for good.
 */
export async function redactionKey(path: string): Promise<Uint8Array> {
  const text = (await read(path)) ?? (await make(path));
  const key = Buffer.from(text.trim(), 'hex');
  if (key.length === BYTES) return key;
  const wanted = `it must hold ${BYTES} bytes as hex digits`;
  throw new AppError('usage', `${path} is not a key for pseudonyms: ${wanted}`, {
    hint: 'Restore it from a backup; or delete it, and people get new pseudonyms from now on.',
  });
}

async function read(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Whole from the first moment on, and never over another's: of two that begin together, both use the first one's. */
async function make(path: string): Promise<string> {
  makeFolder(dirname(path));
  const temporary = temporaryName(path);
  try {
    await writeFile(temporary, `${randomBytes(BYTES).toString('hex')}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    });
    await link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  return readFile(path, 'utf8');
}
