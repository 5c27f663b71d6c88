import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, moveInPlace, removeLeftovers, replaceFile, temporaryName } from '../base/files.ts';
import { type ExportRequest, exportMirror } from './export.ts';
import type { Manifest } from './manifest.ts';
import type { ExportSource } from './store/export.ts';
import { EXPORT_TABLES } from './store/tables.ts';

/** A week of daily exports. More would fill the disk of a person who forgot the schedule. */
export const KEPT_EXPORTS = 7;

interface ScheduleRequest extends Pick<ExportRequest, 'format' | 'clock' | 'signal'> {
  /** Holds a folder for each export, named by its time, and `latest.json`. */
  root: string;
  keep?: number;
}

interface ScheduledExport {
  folder: string;
  manifest: Manifest;
  removed: string[];
}

/** Everything, into a folder that appears whole or not at all. `latest.json` is its manifest with the folder's name; then the oldest folders go. */
export async function exportOnSchedule(
  source: ExportSource,
  request: ScheduleRequest,
): Promise<ScheduledExport> {
  const { root, format, clock, signal, keep = KEPT_EXPORTS } = request;
  const name = new Date(clock.now()).toISOString().replaceAll(/[-:.]/g, '');
  const folder = join(root, name);
  const temporary = temporaryName(folder);
  makeFolder(root);
  await removeLeftovers(root, (left) => EXPORT_NAME.test(left) || left === 'latest.json');
  try {
    const whole = { since: null, live: false, raw: false, redact: null };
    const to = { folder: temporary };
    const manifest = await exportMirror(source, { what: EXPORT_TABLES, format, to, clock, signal, ...whole });
    await moveInPlace([{ temporary, path: folder }]);
    const latest = `${JSON.stringify({ folder: name, ...manifest }, null, 2)}\n`;
    await replaceFile(join(root, 'latest.json'), (file) => file.writeFile(latest));
    return { folder, manifest, removed: await removeOldest(root, name, keep) };
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** `20261115T023000000Z`: in the order of time. Whatever else lies in the folder is not ours to remove. */
export const EXPORT_NAME = /^\d{8}T\d{9}Z$/;

/** A name that comes after the newest one was given while the clock was ahead: those go first. */
async function removeOldest(root: string, newest: string, keep: number): Promise<string[]> {
  const names = (await readdir(root)).filter((name) => EXPORT_NAME.test(name)).sort();
  const byAge = [...names.filter((name) => name > newest), ...names.filter((name) => name <= newest)];
  const old = byAge.slice(0, Math.max(0, names.length - keep));
  for (const name of old) await rm(join(root, name), { recursive: true, force: true });
  return old;
}
