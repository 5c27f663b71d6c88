import { chmodSync, globSync, mkdirSync, renameSync, rmSync } from 'node:fs';

export function prepareFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
}

/** Keeps the newest broken folder for whoever wants to know, and no more: each takes 40 MB and up. */
export function moveAside(folder: string): string {
  for (const old of globSync(`${folder}.broken-*`)) rmSync(old, { recursive: true, force: true });
  const aside = `${folder}.broken-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  renameSync(folder, aside);
  return aside;
}
