import { chmodSync, existsSync, globSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export function prepareFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
}

/** PGlite makes its files for everybody, whatever the umask says. The folder itself keeps others out; this is for copies of it. */
export function restrictFiles(folder: string): void {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600);
}

/** Keeps the newest broken folder for whoever wants to know, and no more: each takes 40 MB and up. */
export function moveAside(folder: string): string {
  for (const old of globSync(`${folder}.broken-*`)) rmSync(old, { recursive: true, force: true });
  const aside = `${folder}.broken-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  renameSync(folder, aside);
  return aside;
}
