import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Announcement {
  url: string;
  pid: number;
}

/** Tells commands that run beside the service where it listens, also when it was given any port; returns how to end that. */
export function announce(dataDir: string, url: string): () => void {
  const own: Announcement = { url, pid: process.pid };
  writeFileSync(placeOf(dataDir), `${JSON.stringify(own)}\n`, { mode: 0o600 });
  return () => {
    // Another service of the same mirror may have come later.
    if (read(dataDir)?.pid === process.pid) rmSync(placeOf(dataDir), { force: true });
  };
}

/** Where a service of this folder said that it listens; it may have been killed since. */
export function announced(dataDir: string): string | null {
  return read(dataDir)?.url ?? null;
}

function placeOf(dataDir: string): string {
  return join(dataDir, 'service.json');
}

function read(dataDir: string): Announcement | null {
  try {
    return JSON.parse(readFileSync(placeOf(dataDir), 'utf8')) as Announcement;
  } catch {
    return null;
  }
}
