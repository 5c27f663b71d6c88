import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { explained } from './sink.ts';

/** Of this process alone: in a container the next one has the same number. */
const PROCESS = randomBytes(4).toString('hex');

/** A name beside the final one, for as long as this process works on it: `.posts.csv.4711-1f2e3d4c-5a6b.part`. */
export function temporaryName(path: string): string {
  const mark = `${process.pid}-${PROCESS}-${randomBytes(2).toString('hex')}`;
  return join(dirname(path), `.${basename(path)}.${mark}.part`);
}

/** Step by step: Node's own `recursive` never returns where a folder that exists takes no new one, as /proc. */
export async function makeFolder(path: string): Promise<void> {
  const present = await stat(path).catch(() => null);
  if (present?.isDirectory()) return;
  if (!present && dirname(path) !== path) await makeFolder(dirname(path));
  await explained(path, mkdir(path, { mode: 0o700 }));
}

/** From its temporary name to its own, in place of an older file. */
export async function moveInPlace(from: string, to: string): Promise<void> {
  await explained(to, rename(from, to));
}

/** A small file, whole or not at all. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = temporaryName(path);
  const handle = await explained(path, open(temporary, 'wx', 0o600));
  try {
    await explained(path, handle.writeFile(text));
    await explained(path, handle.sync());
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  await moveInPlace(temporary, path);
}

/** What a killed run left of these names. A process that still lives is still at it. */
export async function removeLeftovers(folder: string, isOurs: (name: string) => boolean): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, final = '', pid = '', mark = ''] = LEFTOVER.exec(name) ?? [];
    if (isOurs(final) && !isAtIt(Number(pid), mark))
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

const LEFTOVER = /^\.(.+)\.(\d+)-([0-9a-f]{8})-[0-9a-f]{4}\.part$/;

function isAtIt(pid: number, mark: string): boolean {
  if (pid === process.pid) return mark === PROCESS;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
